// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * randops: what happens to dies and to the daemon meanwhile. One thing at a
 * time; whoever uses a die can see from its trouble what may have come of it.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pattern.h"
#include "randops.h"

#define SEC_NS      ((uint64_t)1000000000)
#define PATIENCE_NS (120 * SEC_NS)

struct trouble troubles[MAX_DIES];
_Atomic unsigned int n_ends, n_kills;
_Atomic bool faults_are_over;

static pid_t daemon_pid;
/* what was written behind may be lost at its end, and it says so */
static bool may_end_badly;
static uint64_t random_state;

static unsigned int draw(unsigned int below)
{
	random_state = pattern_mix(random_state);
	return (unsigned int)((random_state >> 11) % below);
}

static void doze(unsigned int most_ms)
{
	usleep(draw(most_ms * 1000));
}

/* ---- the daemon -------------------------------------------------------- */

/* Whether it has ended, within the patience; *status as from waitpid() */
static bool await_end(int *status)
{
	uint64_t start = now_ns();

	while (waitpid(daemon_pid, status, WNOHANG) != daemon_pid) {
		if (now_ns() - start > PATIENCE_NS)
			return false;
		usleep(2000);
	}
	return true;
}

int faults_mount(const struct faults *f)
{
	uint64_t start = now_ns();
	char path[4096];
	struct stat st;
	int status;

	daemon_pid = fork();
	if (!daemon_pid) {
		execl("/bin/sh", "sh", "-c", f->daemon, NULL);
		_exit(127);
	}
	snprintf(path, sizeof(path), "%s/status", f->root);
	while (stat(path, &st)) {
		if (waitpid(daemon_pid, &status, WNOHANG) == daemon_pid) {
			fprintf(stderr, "randops: '%s': status 0x%x\n",
				f->daemon, status);
			return -1;
		}
		if (now_ns() - start > PATIENCE_NS) {
			fprintf(stderr, "randops: '%s' mounts nothing\n",
				f->daemon);
			return -1;
		}
		usleep(2000);
	}
	may_end_badly = false;
	return 0;
}

int faults_unmount(const struct faults *f)
{
	int status;

	(void)f;
	kill(daemon_pid, SIGTERM);
	if (!await_end(&status)) {
		fprintf(stderr, "randops: the daemon, process %d, does not end\n",
			(int)daemon_pid);
		return -1;
	}
	if (status &&
	    !(may_end_badly && WIFEXITED(status) && WEXITSTATUS(status) == 1)) {
		fprintf(stderr, "randops: the daemon ended with status 0x%x\n",
			status);
		return -1;
	}
	return 0;
}

/* A byte that nobody writes changes behind everybody's back */
static void flip_byte(const struct faults *f)
{
	unsigned char byte;
	int fd = open(f->flip, O_RDWR | O_CLOEXEC);

	if (fd < 0 || pread(fd, &byte, 1, REGION - 100) != 1)
		give_up("%s: %s", f->flip, strerror(errno));
	byte ^= 0x10;
	if (pwrite(fd, &byte, 1, REGION - 100) != 1)
		give_up("%s: %s", f->flip, strerror(errno));
	close(fd);
}

/* Every thread closes its files and sees another daemon when it is told */
static void end_daemon(const struct faults *f, bool is_last)
{
	atomic_fetch_add(&n_ends, 1);
	if (faults_unmount(f))
		give_up("told to end");
	if (f->flip && is_last)
		flip_byte(f);
	if (faults_mount(f))
		give_up("mounted again after an end");
	atomic_fetch_add(&n_ends, 1);
}

static void kill_daemon(const struct faults *f)
{
	int status;

	atomic_fetch_add(&n_kills, 1);
	kill(daemon_pid, SIGKILL);
	if (!await_end(&status))
		give_up("SIGKILL does not end the daemon");
	if (umount2(f->root, MNT_DETACH))
		give_up("umount %s: %s", f->root, strerror(errno));
	if (faults_mount(f))
		give_up("mounted again after a kill");
	atomic_fetch_add(&n_kills, 1);
}

/* ---- dies -------------------------------------------------------------- */

static void begin_one(struct trouble *t, enum risk risk)
{
	atomic_store(&t->risks[t->epoch / 2 % N_RISKS], risk);
	atomic_fetch_add(&t->losses, risk >= RISK_LOST);
	atomic_fetch_add(&t->wipes, risk >= RISK_WIPED);
	atomic_fetch_add(&t->epoch, 1);
}

static void end_one(struct trouble *t)
{
	int risk = t->risks[t->epoch / 2 % N_RISKS];

	atomic_fetch_add(&t->losses, risk >= RISK_LOST);
	atomic_fetch_add(&t->wipes, risk >= RISK_WIPED);
	atomic_fetch_add(&t->epoch, 1);
}

/* die < 0: all of them, as the slot cannot be had */
static void begin(const struct faults *f, int die, enum risk risk)
{
	unsigned int i;

	may_end_badly |= risk >= RISK_LOST;
	for (i = 0; i < f->n_dies; i++)
		if (die < 0 || (unsigned int)die == i)
			begin_one(&troubles[i], risk);
}

static void end(const struct faults *f, int die)
{
	unsigned int i;

	for (i = 0; i < f->n_dies; i++)
		if (die < 0 || (unsigned int)die == i)
			end_one(&troubles[i]);
}

/* One line to the simulator; whether it did it */
static bool order(const struct faults *f, const char *format, int die,
		  const char *word)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	char line[128], answer[256] = "";
	int len = snprintf(line, sizeof(line), format, die, word);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	line[len++] = '\n';
	strncpy(addr.sun_path, f->sock, sizeof(addr.sun_path) - 1);
	if (fd < 0 || connect(fd, (struct sockaddr *)&addr, sizeof(addr)) ||
	    write(fd, line, (size_t)len) != len ||
	    read(fd, answer, sizeof(answer) - 1) <= 0)
		give_up("%s, order '%.*s': %s", f->sock, len - 1, line,
			strerror(errno));
	close(fd);
	return !strcmp(answer, "ok\n");
}

/* A line of ctl, whatever comes of it; die < 0: the root's */
static bool command(const struct faults *f, int die, const char *line)
{
	char path[4096];
	bool done;
	int fd;

	if (die < 0)
		snprintf(path, sizeof(path), "%s/ctl", f->root);
	else
		snprintf(path, sizeof(path), "%s/die%d/ctl", f->root, die);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		give_up("%s: %s", path, strerror(errno));
	done = write(fd, line, strlen(line)) > 0;
	close(fd);
	return done;
}

/* It is put in again, and looked at. What was under way when it was well again
 * may fail all who wait for the die. */
static void acquire(const struct faults *f, int die)
{
	uint64_t start = now_ns();

	while (!command(f, die, "acquire\n")) {
		if (now_ns() - start > PATIENCE_NS)
			give_up("die %d does not come in again", die);
		usleep(1000);
	}
}

static void driver_ordered(const struct faults *f, int die)
{
	begin(f, -1, RISK_REFUSED);
	order(f, "driver %d %s", die, "nvidia");
	doze(30);
	order(f, "driver %d %s", die, "none");
	acquire(f, die);
	end(f, -1);
}

static void dead(const struct faults *f, int die)
{
	begin(f, die, RISK_LOST);
	order(f, "dead %d", die, NULL);
	doze(30);
	order(f, "revive %d", die, NULL);
	acquire(f, die);
	end(f, die);
}

static void reset_ordered(const struct faults *f, int die)
{
	begin(f, die, RISK_WIPED);
	order(f, "reset %d", die, NULL);
	end(f, die);
}

static void reset_by_ctl(const struct faults *f, int die)
{
	begin(f, die, RISK_WIPED);
	command(f, die, "reset\n");
	end(f, die);
}

static void removed(const struct faults *f, int die)
{
	begin(f, die, RISK_WIPED);
	order(f, "remove %d", die, NULL);
	doze(30);
	order(f, "return %d", die, NULL);
	acquire(f, die);
	end(f, die);
}

static void no_vram(const struct faults *f, int die)
{
	begin(f, die, RISK_WIPED);
	order(f, "novram %d", die, NULL);
	doze(30);
	order(f, "vram %d", die, NULL);
	command(f, die, "release\n");
	acquire(f, die);
	end(f, die);
}

static void bar1_virtual(const struct faults *f, int die)
{
	begin(f, die, RISK_REFUSED);
	order(f, "virtual %d", die, NULL);
	doze(30);
	order(f, "physical %d", die, NULL);
	acquire(f, die);
	end(f, die);
}

static void failed_acquire(const struct faults *f, int die)
{
	static const char *const passing[] = { "EAGAIN", "ENOMEM", "EINTR" };
	bool passes = draw(4);

	begin(f, die, passes ? RISK_REFUSED : RISK_LOST);
	order(f, "fail %d 1 %s", die, passes ? passing[draw(3)] : "EIO");
	doze(10);
	command(f, -1, "release\n");
	acquire(f, die);
	/* it may have been put in without: then not for a long time */
	order(f, "fail %d 1000000000 %s", die, "EIO");
	acquire(f, die);
	end(f, die);
}

static void lease_of_another(const struct faults *f, int die)
{
	begin(f, die, RISK_REFUSED);
	if (order(f, "lease %d 1", die, NULL)) {
		doze(60);
		order(f, "unlease %d", die, NULL);
	}
	end(f, die);
}

static void swap_cost(const struct faults *f, int die)
{
	static const int cost_us[] = { 0, 0, 100, 3000 };

	(void)die;
	order(f, "swap_us %d", cost_us[draw(4)], NULL);
}

static bool write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool done = fd >= 0 && write(fd, text, strlen(text)) > 0;

	if (fd >= 0)
		close(fd);
	return done;
}

/* The address of a die, as its status says it */
static void read_bdf(const struct faults *f, int die, char bdf[16])
{
	char path[4096], text[4096] = "", *at;
	int fd;

	snprintf(path, sizeof(path), "%s/die%d/status", f->root, die);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
		give_up("%s: %s", path, strerror(errno));
	close(fd);
	at = strstr(text, "\nbdf ");
	if (!at || sscanf(at, "\nbdf %15s", bdf) != 1)
		give_up("%s names no address", path);
}

/* As it is done with a card: it leaves while its die is pinned and in */
static void driver_bound(const struct faults *f, int die)
{
	char bdf[16], override[128], bind[128], unbind[128];

	read_bdf(f, die, bdf);
	snprintf(override, sizeof(override),
		 "/sys/bus/pci/devices/%s/driver_override", bdf);
	snprintf(bind, sizeof(bind), "/sys/bus/pci/drivers/%s/bind", f->driver);
	snprintf(unbind, sizeof(unbind), "/sys/bus/pci/drivers/%s/unbind",
		 f->driver);
	begin(f, -1, RISK_REFUSED);
	if (command(f, die, "pin\n")) {
		if (!write_file(override, f->driver))
			give_up("%s: %s", override, strerror(errno));
		if (write_file(bind, bdf)) {
			doze(100);
			if (!write_file(unbind, bdf))
				give_up("%s: %s", unbind, strerror(errno));
		}
		write_file(override, "\n");
		command(f, die, "unpin\n");
	}
	end(f, -1);
}

typedef void fault_fn(const struct faults *f, int die);

static fault_fn *const simulated[] = {
	driver_ordered,   driver_ordered, dead,           dead,
	reset_ordered,    reset_by_ctl,   removed,        no_vram,
	bar1_virtual,     failed_acquire, failed_acquire, lease_of_another,
	lease_of_another, swap_cost,      swap_cost,
};

static void do_one(const struct faults *f)
{
	unsigned int what = draw(20);
	int die = (int)draw(f->n_dies);

	if (what < 2)
		kill_daemon(f);
	else if (what < 4)
		end_daemon(f, false);
	else if (f->sock)
		simulated[draw(sizeof(simulated) / sizeof(*simulated))](f, die);
	else if (f->driver)
		driver_bound(f, die);
}

void *faults_run(void *arg)
{
	const struct faults *f = arg;
	uint64_t stop_ns = now_ns() + f->run_ns;
	unsigned int n = 0;

	random_state = f->seed ^ 0x5eed;
	while (now_ns() < stop_ns) {
		doze(200);
		do_one(f);
		n++;
	}
	end_daemon(f, true);
	atomic_store(&faults_are_over, true);
	printf("randops: %u faults, %u ends, %u kills\n", n, n_ends / 2,
	       n_kills / 2);
	return NULL;
}
