// SPDX-License-Identifier: GPL-2.0-or-later
#include "world.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define SMALL_SIM "sim:vram=64K"
#define STRANGER  1 /* a pid that exists */

static void must(bool is_done, const char *what, int die)
{
	if (is_done)
		return;
	printf("law: cannot arrange: %s of die %d\n", what, die);
	exit(1);
}

static void run_hook(const struct world *w, const char *word, int die)
{
	char number[16];
	int status;
	pid_t pid;

	snprintf(number, sizeof(number), "%d", die);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		execl(w->hook, w->hook, word, number, (char *)NULL);
		_exit(127);
	}
	must(pid > 0, "a process for the hook", die);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (status)
		printf("law: the hook's status is 0x%x\n", (unsigned int)status);
	must(!status, word, die);
}

/* @order: of the simulator, or NULL; @word: of the hook */
static void bring_about(const struct world *w, const char *order,
			const char *word, int die)
{
	char text[64];

	if (!w->is_sim) {
		run_hook(w, word, die);
		return;
	}
	snprintf(text, sizeof(text), order, die);
	must(bs_sim_order(w->me, text) == 0, text, die);
}

static void map(struct world *w, int which, int die)
{
	size_t len;

	must(bs_vram(w->me, die, &w->vram[which], &len) == 0, "mapping", die);
}

static void end_leases(struct world *w)
{
	const int dies[] = { w->asked, w->another };

	for (int i = 0; i < 2; i++) {
		bs_unlease(w->me, dies[i]);
		if (w->is_sim)
			bring_about(w, "unlease %d", NULL, dies[i]);
		else
			bs_unlease(w->other, dies[i]);
	}
}

static void vacate(struct world *w)
{
	int active;

	end_leases(w);
	active = bs_active_die(w->me);
	if (active >= 0)
		must(!bs_release_flags(w->me, active, BS_FORCE), "release",
		     active);
}

static void bring_in(struct world *w, int die, unsigned int flags)
{
	must(!bs_acquire_flags(w->me, die, BS_FORCE | BS_NOWAIT | flags, NULL),
	     "acquire", die);
}

void world_open(struct world *w, const char *hook, bool is_stranded)
{
	const char *device = getenv("BARSWAP_DEVICE");

	*w = (struct world){
		.hook = hook, .asked = 0, .another = 2, .is_stranded = is_stranded
	};
	w->me = bs_init_device(device && *device ? device : SMALL_SIM);
	if (!w->me) {
		perror("law: device");
		exit(1);
	}
	w->is_sim = !strcmp(bs_device_name(w->me), "sim");
	if (!w->is_sim)
		w->other = bs_init_device(device);
	must(w->is_sim || (w->other && hook), "a second file and a hook", 0);
	world_set_cap(w, true);
	map(w, 0, w->asked);
	map(w, 1, w->another);
	/* BAR1's mode of both is on record */
	if (!is_stranded)
		bring_in(w, w->asked, 0);
	bring_in(w, w->another, 0);
	vacate(w);
}

void world_close(struct world *w)
{
	bs_free(w->me);
	bs_free(w->other);
}

void world_set_cap(struct world *w, bool has_cap)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
	__u32 bit = CAP_TO_MASK(CAP_SYS_RAWIO);

	if (w->is_sim) {
		bs_sim_order(w->me, has_cap ? "cap 1" : "cap 0");
		return;
	}
	must(!syscall(SYS_capget, &head, data), "capget", 0);
	if (has_cap)
		data[CAP_TO_INDEX(CAP_SYS_RAWIO)].effective |= bit;
	else
		data[CAP_TO_INDEX(CAP_SYS_RAWIO)].effective &= ~bit;
	must(!syscall(SYS_capset, &head, data), "capset", 0);
}

static void lease_by_other(struct world *w, int die)
{
	if (w->is_sim) {
		char text[32];

		snprintf(text, sizeof(text), "lease %d %d", die, STRANGER);
		must(!bs_sim_order(w->me, text), text, die);
		return;
	}
	must(!bs_acquire_flags(w->other, die, BS_FORCE | BS_NOWAIT | BS_LEASE,
			       NULL),
	     "another's lease", die);
}

/* It does not answer, and an acquire has found out. */
static void kill_outside(struct world *w, int die)
{
	bring_about(w, "dead %d", "dead", die);
	must(bs_acquire_flags(w->me, die, BS_NOWAIT, NULL) == -EIO,
	     "noticed death", die);
}

static void begin(struct world *w, enum law_cond cond, int die)
{
	switch (cond) {
	case COND_DRIVER_VIRTUAL:
	case COND_DRIVER:
		bring_in(w, die, 0);
		bring_about(w, "driver %d nvidia", "bind", die);
		if (cond == COND_DRIVER)
			break;
		bring_about(w, "virtual %d", "virtual", die);
		vacate(w);
		/* and it is on record */
		bring_in(w, die, 0);
		break;
	case COND_NO_VRAM:
		bring_about(w, "novram %d", "novram", die);
		bring_in(w, die, 0);
		break;
	case COND_REMOVED:
		bring_about(w, "remove %d", "remove", die);
		break;
	case COND_UNUSABLE:
		if (!w->is_stranded)
			bring_about(w, "unusable %d", "unusable", die);
		break;
	default:
		break;
	}
	vacate(w);
}

void world_begin(struct world *w, const struct law_case *c)
{
	vacate(w);
	begin(w, c->asked, w->asked);
	begin(w, c->another, w->another);
	/* one that is in dies after it came in, each time */
	if (c->asked == COND_DEAD && c->slot != SLOT_ASKED)
		kill_outside(w, w->asked);
}

static void end(struct world *w, enum law_cond cond, int die)
{
	switch (cond) {
	case COND_DRIVER:
	case COND_DRIVER_VIRTUAL:
		/* a driver leaves while its die is in */
		bring_in(w, die, 0);
		bring_about(w, "physical %d", "physical", die);
		bring_about(w, "driver %d none", "unbind", die);
		break;
	case COND_NO_VRAM:
		bring_about(w, "vram %d", "heal", die);
		break;
	case COND_REMOVED:
		bring_about(w, "return %d", "return", die);
		break;
	case COND_UNUSABLE:
		if (w->is_stranded)
			return;
		bring_about(w, "usable %d", "usable", die);
		break;
	case COND_DEAD:
		bring_about(w, "revive %d", "heal", die);
		break;
	case COND_VIRTUAL:
		bring_about(w, "physical %d", "physical", die);
		break;
	case COND_OK:
	default:
		break;
	}
	/* what is on record is that all is well */
	bring_in(w, die, 0);
	vacate(w);
}

void world_end(struct world *w, const struct law_case *c)
{
	world_set_cap(w, true);
	end_leases(w);
	end(w, c->asked, w->asked);
	end(w, c->another, w->another);
}

void world_arrange(struct world *w, const struct law_case *c)
{
	int in = c->slot == SLOT_ASKED ? w->asked : w->another;

	world_set_cap(w, true);
	end_leases(w);
	if (law_is_in(c, COND_DEAD))
		bring_about(w, "revive %d", "heal", in);
	if (c->slot == SLOT_VACANT) {
		vacate(w);
	} else {
		bring_in(w, in, c->holder == HOLDER_ME ? BS_LEASE : 0);
		if (c->holder == HOLDER_OTHER)
			lease_by_other(w, in);
	}
	if (law_is_in(c, COND_DEAD)) {
		struct bs_health health;

		bring_about(w, "dead %d", "dead", in);
		bs_check(w->me, in, &health);
	}
	if (c->asked == COND_VIRTUAL)
		bring_about(w, "virtual %d", "virtual", w->asked);
	if (c->another == COND_VIRTUAL)
		bring_about(w, "virtual %d", "virtual", w->another);
}
