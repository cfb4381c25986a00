// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * law - is the law for simulator and module the same
 *
 *	law [-p] [-u] [-k HOOK] [-g CONDITION] TABLE
 *
 * Makes every call of the table in every situation, on $BARSWAP_DEVICE or a
 * small simulator, and compares what comes out, errno and the state after it,
 * with TABLE; -p prints the table instead. -k: the program that brings about
 * conditions for the module. -u: the first card carries a stranger, so only
 * the cases of an unusable die are run; without it the module has none. -g:
 * only cases of a die asked for in that condition.
 *
 * Ends with "N cases, N dropped, N differ".
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "axes.h"
#include "world.h"

#define LINE_LEN    256
#define MAX_REASONS 16
#define SIGNAL_US   20000

static sigjmp_buf touch_jump;

static void on_sigbus(int sig)
{
	(void)sig;
	siglongjmp(touch_jump, 1);
}

static void on_alarm(int sig)
{
	(void)sig;
}

static const char *touch(const volatile char *addr)
{
	if (sigsetjmp(touch_jump, 1))
		return "BUS";
	(void)*addr;
	return "mem";
}

static const char *errno_name(int error)
{
	static char other[16];

	switch (error) {
	case 0:
		return "0";
	case EBUSY:
		return "EBUSY";
	case EIO:
		return "EIO";
	case EPERM:
		return "EPERM";
	case ENODEV:
		return "ENODEV";
	case EINTR:
		/* it would wait: a signal ended that */
		return "waits";
	}
	snprintf(other, sizeof(other), "E%d", error);
	return other;
}

static const char *const states[] = { "idle", "active", "dead", "no_vram",
				      "unusable" };
static const char *const modes[] = { "unknown", "physical", "virtual" };

/* What is told of a die: state, alive, BAR1's mode, driver, lease, memory. */
static void tell_die(const struct world *w, int which, enum law_cond cond,
		     char *text)
{
	int die = which ? w->another : w->asked;
	struct bs_info i;

	bs_die_info(w->me, die, &i);
	snprintf(text, LINE_LEN, "%s,%s,%s,%s,%s,%s", states[i.state],
		 i.alive ? "alive" : "-", modes[i.bar1_mode],
		 *i.driver ? "driver" : "-",
		 i.leased_here ? "me"
		 : i.leased    ? "other"
			       : "-",
		 /* all-ones with the module, SIGBUS in the simulator */
		 cond == COND_DEAD ? "?" : touch(w->vram[which]));
}

static void tell_state(const struct world *w, const struct law_case *c, char *text)
{
	char asked[LINE_LEN], another[LINE_LEN];
	int active = bs_active_die(w->me);

	tell_die(w, 0, c->asked, asked);
	tell_die(w, 1, c->another, another);
	snprintf(text, 3 * LINE_LEN, "%s %s %s",
		 active < 0           ? "vacant"
		 : active == w->asked ? "asked"
				      : "another",
		 asked, another);
}

static const unsigned int acquire_flags[] = {
	[CALL_ACQUIRE] = 0,
	[CALL_ACQUIRE_NOWAIT] = BS_NOWAIT,
	[CALL_ACQUIRE_LEASE] = BS_LEASE,
	[CALL_ACQUIRE_FORCE] = BS_FORCE,
	[CALL_ACQUIRE_SBR] = BS_FORCE_SBR,
};

/* A signal ends what would wait for another's lease. */
static int acquire(const struct world *w, const struct law_case *c)
{
	const struct itimerval on = { { 0, SIGNAL_US }, { 0, SIGNAL_US } };
	const struct itimerval off = { { 0, 0 }, { 0, 0 } };
	bool waits = c->holder == HOLDER_OTHER;
	int ret;

	if (waits)
		setitimer(ITIMER_REAL, &on, NULL);
	ret = bs_acquire_flags(w->me, w->asked, acquire_flags[c->call], NULL);
	if (waits)
		setitimer(ITIMER_REAL, &off, NULL);
	return ret;
}

/* What the call itself gives; the state after it comes later. */
static void make_call(const struct world *w, const struct law_case *c, char *text)
{
	struct bs_health h;
	char told[LINE_LEN];
	int ret;

	switch (c->call) {
	case CALL_RELEASE:
		ret = bs_release_flags(w->me, w->asked, 0);
		break;
	case CALL_RELEASE_FORCE:
		ret = bs_release_flags(w->me, w->asked, BS_FORCE);
		break;
	case CALL_UNLEASE:
		ret = bs_unlease(w->me, w->asked);
		break;
	case CALL_CHECK:
		ret = bs_check(w->me, w->asked, &h);
		if (ret)
			break;
		snprintf(text, LINE_LEN, "0:%s,%s,%s,%s",
			 h.in_slot ? "in" : "out", h.alive ? "alive" : "-",
			 h.driver ? "driver" : "-",
			 c->asked == COND_UNUSABLE ? "?" : modes[h.bar1_mode]);
		return;
	case CALL_INFO:
		tell_die(w, 0, c->asked, told);
		snprintf(text, LINE_LEN, "0:%.200s", told);
		return;
	case CALL_TOUCH:
		snprintf(text, LINE_LEN, "%s",
			 c->asked == COND_DEAD ? "?" : touch(w->vram[0]));
		return;
	default:
		ret = acquire(w, c);
	}
	snprintf(text, LINE_LEN, "%s", errno_name(-ret));
}

/* All but the capability, which most cases do not ask for. */
static void name_case(const struct law_case *c, char *text)
{
	snprintf(text, LINE_LEN, "%s %s %s %s %s ", law_cond_names[c->asked],
		 c->slot == SLOT_ANOTHER ? law_cond_names[c->another] : "-",
		 law_slot_names[c->slot], law_holder_names[c->holder],
		 law_call_names[c->call]);
}

static const char *cap_word(const struct law_case *c)
{
	return c->has_cap ? "cap" : "-";
}

/* Why this device cannot show this case here, or NULL. */
static const char *why_not_here(const struct world *w, const struct law_case *c)
{
	if (w->is_sim)
		return NULL;
	if (w->is_stranded != (c->asked == COND_UNUSABLE))
		return "unusable: another machine, see -u";
	if (c->asked == COND_DEAD && c->call == CALL_ACQUIRE_SBR && c->has_cap)
		return "module: 70 s for the reset of a die that does not return";
	return NULL;
}

/* Reasons, each with its count. */
static struct {
	const char *why;
	unsigned int n;
} reasons[MAX_REASONS];

static void count_reason(const char *why)
{
	size_t i = 0;

	while (reasons[i].why && strcmp(reasons[i].why, why))
		i++;
	reasons[i].why = why;
	reasons[i].n++;
}

/* "NAME CAP = REST": the rest, if it is for this case; "any": for both. */
static const char *rest_of(const char *line, const char *name, const char *cap)
{
	size_t len = strlen(name);
	const char *is;

	if (strncmp(line, name, len))
		return NULL;
	line += len;
	is = strstr(line, " = ");
	if (!is)
		return NULL;
	len = (size_t)(is - line);
	if ((len == 3 && !strncmp(line, "any", len)) ||
	    (len == strlen(cap) && !strncmp(line, cap, len)))
		return is + 3;
	return NULL;
}

/* What the table, which is read once and in order, says of a case, or NULL. */
static const char *find(FILE *table, const char *name, const char *cap)
{
	static char line[5 * LINE_LEN];
	const char *rest = rest_of(line, name, cap);

	while (!rest && fgets(line, sizeof(line), table)) {
		line[strcspn(line, "\n")] = '\0';
		rest = rest_of(line, name, cap);
	}
	return rest;
}

/* Both cases of a capability in one line, if they are the same. */
static void print_case(const char *name, const struct law_case *c, const char *got)
{
	static char without[5 * LINE_LEN];

	if (!c->has_cap) {
		snprintf(without, sizeof(without), "%s", got);
	} else if (!strcmp(without, got)) {
		printf("%sany = %s\n", name, got);
	} else {
		printf("%s- = %s\n", name, without);
		printf("%scap = %s\n", name, got);
	}
}

static bool is_same_place(const struct law_case *a, const struct law_case *b)
{
	return a->slot == b->slot && a->holder == b->holder &&
	       a->asked == b->asked && a->another == b->another;
}

static bool is_same_world(const struct law_case *a, const struct law_case *b)
{
	return a->asked == b->asked && a->another == b->another &&
	       (a->asked != COND_DEAD ||
		(a->slot == SLOT_ASKED) == (b->slot == SLOT_ASKED));
}

struct run {
	struct world w;
	FILE *table; /* NULL: print it */
	bool has_world;
	bool is_arranged;
	struct law_case last;
	char before[3 * LINE_LEN];
	unsigned int n_cases, n_differ;
};

/* Bring about the situation of @c, as far as it is not there already. */
static void arrange(struct run *r, const struct law_case *c)
{
	bool has_bit = c->asked == COND_VIRTUAL || c->another == COND_VIRTUAL;

	if (r->has_world && !is_same_world(&r->last, c)) {
		world_end(&r->w, &r->last);
		r->has_world = false;
	}
	if (!r->has_world) {
		world_begin(&r->w, c);
		r->is_arranged = false;
	}
	r->has_world = true;
	if (r->is_arranged && is_same_place(&r->last, c) && !has_bit)
		return;
	world_arrange(&r->w, c);
	tell_state(&r->w, c, r->before);
}

static void run_case(struct run *r, const struct law_case *c)
{
	char name[LINE_LEN], result[LINE_LEN], after[3 * LINE_LEN];
	char got[5 * LINE_LEN];
	const char *wanted;

	arrange(r, c);
	world_set_cap(&r->w, c->has_cap);
	make_call(&r->w, c, result);
	tell_state(&r->w, c, after);
	r->is_arranged = !strcmp(r->before, after);
	r->last = *c;
	r->n_cases++;

	name_case(c, name);
	snprintf(got, sizeof(got), "%s %s", result, after);
	if (!r->table) {
		print_case(name, c, got);
		return;
	}
	wanted = find(r->table, name, cap_word(c));
	if (wanted && !strcmp(wanted, got))
		return;
	r->n_differ++;
	printf("differs: %s%s\n  wanted %s\n  got    %s\n", name, cap_word(c),
	       wanted ? wanted : "nothing", got);
}

/* Of the table. */
static const char head[] =
	"# SPDX-License-Identifier: GPL-2.0-or-later\n"
	"# What every call gives in every situation, see law.c; made by law -p.\n"
	"# ASKED ANOTHER SLOT HOLDER CALL CAPABILITY = RESULT IN STATE STATE\n"
	"# ASKED: condition of the die that the call is about; ANOTHER: of the\n"
	"# one that is in, if that is another. STATE, of the first and of the\n"
	"# second: state, alive, mode of BAR1, driver, lease, touched memory (? of\n"
	"# a dead die: all-ones with the module, SIGBUS in the simulator).\n"
	"# \"waits\": until the other's lease ends; a signal ended that here.\n";

static void usage(void)
{
	fprintf(stderr, "usage: law [-p] [-u] [-k HOOK] [-g CONDITION] TABLE\n");
	exit(2);
}

int main(int argc, char **argv)
{
	const struct sigaction bus = { .sa_handler = on_sigbus };
	const struct sigaction tick = { .sa_handler = on_alarm };
	struct run r = { 0 };
	const char *hook = NULL, *only = NULL;
	bool prints = false, is_stranded = false;
	unsigned int n_dropped = 0;
	int opt;

	while ((opt = getopt(argc, argv, "puk:g:")) != -1) {
		switch (opt) {
		case 'p':
			prints = true;
			break;
		case 'u':
			is_stranded = true;
			break;
		case 'g':
			only = optarg;
			break;
		case 'k':
			hook = optarg;
			break;
		default:
			usage();
		}
	}
	if (prints == (optind < argc))
		usage();
	if (prints)
		fputs(head, stdout);
	if (!prints) {
		r.table = fopen(argv[optind], "r");
		if (!r.table) {
			perror(argv[optind]);
			return 1;
		}
	}
	sigaction(SIGBUS, &bus, NULL);
	sigaction(SIGALRM, &tick, NULL);
	setvbuf(stdout, NULL, _IOLBF, 0);
	world_open(&r.w, hook, is_stranded);
	for (unsigned int i = 0; i < LAW_PRODUCT; i++) {
		struct law_case c = law_case_at(i);
		const char *why = law_why_dropped(&c);

		if (only && strcmp(only, law_cond_names[c.asked]))
			continue;
		n_dropped += why != NULL;
		if (!why)
			why = why_not_here(&r.w, &c);
		if (why)
			count_reason(why);
		else
			run_case(&r, &c);
	}
	if (r.has_world)
		world_end(&r.w, &r.last);
	world_close(&r.w);
	if (prints)
		return 0;
	for (size_t i = 0; reasons[i].why; i++)
		printf("left out: %u: %s\n", reasons[i].n, reasons[i].why);
	printf("%u cases, %u dropped, %u differ\n", r.n_cases, n_dropped,
	       r.n_differ);
	return r.n_differ != 0;
}
