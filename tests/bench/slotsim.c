/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slotsim: the daemon's slot policy on a simulated clock. Clients ask, copies
 * take time on one bus, swaps cost what the table says; prints how much of the
 * bus is left, and how long a small reader waits.
 *
 * Links fusefs/sched/policy.c as it is: to compare another policy, link that one.
 */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "base/util.h"
#include "sched/policy.h"

#define CLIENTS_MAX 64
#define STREAM_LEN  MIB
#define SMALL_LEN   (4 * KIB)
#define NEVER       POLICY_NEVER

enum state {
	THINKING,
	PARKED,
	RUNNING,
};

/**
 * struct client - asks, waits for the answer, thinks, asks again
 * @at:    when its state ends; not for PARKED
 * @asked: when the request that is under way was made
 * @waits: latency of each request, ns
 */
struct client {
	unsigned int die;
	uint64_t len;
	uint64_t think_ns;
	enum state state;
	uint64_t at;
	uint64_t asked;
	uint64_t bytes;
	uint64_t *waits;
	size_t n_waits;
};

/* what every run shares, from the command line */
static struct {
	double bus_mib_s;
	uint64_t gap_ns;
	uint64_t run_ns;
	uint64_t small_think_ns;
	uint64_t hiccup_ns;
	unsigned int hiccup_every;
	unsigned int late_every;
	unsigned int dies;
} cfg = {
	/* a 1 MiB reader alone gets 3.4 GB/s, as measured over /dev/fuse */
	.bus_mib_s = 7000,
	.gap_ns = 150 * NSEC_PER_USEC,
	.run_ns = 60 * NSEC_PER_SEC,
	.small_think_ns = 2 * NSEC_PER_MSEC,
	.dies = 6,
};

struct sim {
	struct policy policy;
	struct client clients[CLIENTS_MAX];
	size_t n_clients;
	uint64_t now;
	uint64_t bus_free;
	uint64_t swap_ns;
	uint64_t swap_cost;
	uint64_t swap_end;
	uint64_t wake;
	uint64_t n_swaps;
	uint64_t rng;
};

static uint64_t next_random(struct sim *s)
{
	s->rng ^= s->rng << 13;
	s->rng ^= s->rng >> 7;
	s->rng ^= s->rng << 17;
	return s->rng;
}

static uint64_t copy_ns(uint64_t len)
{
	return (uint64_t)((double)len / MIB / cfg.bus_mib_s * NSEC_PER_SEC);
}

static void add_client(struct sim *s, unsigned int die, uint64_t len,
		       uint64_t think_ns)
{
	struct client *c = &s->clients[s->n_clients++];

	*c = (struct client){ .die = die, .len = len, .think_ns = think_ns };
	/* they do not start in step */
	c->at = next_random(s) % NSEC_PER_MSEC;
}

static void run_copy(struct sim *s, struct client *c)
{
	if (c->state == PARKED)
		policy_start(&s->policy, c->die);
	else
		policy_run(&s->policy, c->die, s->now);
	s->bus_free =
		(s->bus_free > s->now ? s->bus_free : s->now) + copy_ns(c->len);
	c->state = RUNNING;
	c->at = s->bus_free;
}

static void ask(struct sim *s, struct client *c)
{
	c->asked = s->now;
	if (policy_may_run(&s->policy, c->die)) {
		run_copy(s, c);
		return;
	}
	policy_wait(&s->policy, c->die, s->now, policy_is_small(c->len));
	c->state = PARKED;
	c->at = NEVER;
}

static void answer(struct sim *s, struct client *c)
{
	policy_done(&s->policy, c->die, s->now);
	c->bytes += c->len;
	if (!(c->n_waits & (c->n_waits - 1))) {
		c->waits = realloc(c->waits,
				   (2 * c->n_waits + 1) * sizeof(*c->waits));
		if (!c->waits)
			abort();
	}
	c->waits[c->n_waits++] = s->now - c->asked;
	c->state = THINKING;
	c->at = s->now + cfg.gap_ns;
	if (cfg.late_every && c->die == 0 && c->n_waits % cfg.late_every == 0)
		c->at += 2 * policy_grace_ns(&s->policy);
	if (c->think_ns)
		c->at = s->now + c->think_ns / 2 + next_random(s) % c->think_ns;
}

static void resume_parked(struct sim *s, int die)
{
	size_t i;

	for (i = 0; i < s->n_clients; i++) {
		if (s->clients[i].state != PARKED || (int)s->clients[i].die != die)
			continue;
		policy_unwait(&s->policy, (unsigned int)die,
			      policy_is_small(s->clients[i].len));
		run_copy(s, &s->clients[i]);
	}
}

static void start_swap(struct sim *s)
{
	s->n_swaps++;
	s->swap_cost = s->swap_ns;
	if (cfg.hiccup_every && s->n_swaps % cfg.hiccup_every == 0)
		s->swap_cost += cfg.hiccup_ns;
	s->swap_end = s->now + s->swap_cost;
}

/* what the scheduler's thread does after each event */
static void decide(struct sim *s)
{
	struct policy *p = &s->policy;
	struct policy_step step = policy_next(p, s->now);

	s->wake = step.wake;
	if (step.action == POLICY_SWAP)
		start_swap(s);
	else if (p->active >= 0 && policy_may_run(p, (unsigned int)p->active))
		resume_parked(s, p->active);
}

static uint64_t next_event(const struct sim *s)
{
	uint64_t at = MIN(s->wake, s->swap_end);
	size_t i;

	for (i = 0; i < s->n_clients; i++)
		at = MIN(at, s->clients[i].at);
	return at;
}

static void run(struct sim *s)
{
	size_t i;

	s->swap_end = NEVER;
	s->wake = NEVER;
	for (;;) {
		s->now = next_event(s);
		if (s->now >= cfg.run_ns)
			return;
		if (s->swap_end == s->now) {
			s->swap_end = NEVER;
			policy_swapped(&s->policy, s->policy.swapping_to,
				       s->now, s->swap_cost);
			resume_parked(s, s->policy.active);
		}
		for (i = 0; i < s->n_clients; i++) {
			struct client *c = &s->clients[i];

			if (c->at != s->now)
				continue;
			if (c->state == RUNNING)
				answer(s, c);
			else if (c->state == THINKING)
				ask(s, c);
		}
		decide(s);
	}
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static double wait_ms(const struct client *c, double p)
{
	size_t i = (size_t)((double)c->n_waits * p);

	if (!c->n_waits)
		return 0;
	return (double)c->waits[MIN(i, c->n_waits - 1)] / NSEC_PER_MSEC;
}

/* sorts the waits of all readers; the one with the worst p99 */
static struct client *slowest_reader(struct sim *s, size_t first)
{
	struct client *worst = &s->clients[first];
	size_t i;

	for (i = first; i < s->n_clients; i++) {
		struct client *c = &s->clients[i];

		if (c->n_waits)
			qsort(c->waits, c->n_waits, sizeof(*c->waits), by_value);
		if (wait_ms(c, 0.99) > wait_ms(worst, 0.99))
			worst = c;
	}
	return worst;
}

/* the longest wait the policy promises to a client whose die is out */
static double bound_ms(const struct sim *s, uint64_t slice)
{
	return (double)((cfg.dies - 1) *
				(slice + s->swap_ns + copy_ns(STREAM_LEN)) +
			(cfg.late_every ? slice : 0) + s->swap_ns) /
	       NSEC_PER_MSEC;
}

static void print_row(struct sim *s, size_t n_streams)
{
	double alone, share, low = (double)s->clients[0].bytes, high = 0;
	uint64_t slice = policy_slice_ns(&s->policy), bytes = 0;
	size_t i;

	alone = (double)STREAM_LEN / (double)(copy_ns(STREAM_LEN) + cfg.gap_ns);
	for (i = 0; i < n_streams; i++) {
		double part = (double)s->clients[i].bytes;

		bytes += s->clients[i].bytes;
		low = part < low ? part : low;
		high = part > high ? part : high;
	}
	share = (double)bytes / (double)cfg.run_ns / alone;
	printf("%7.1f %8.1f %7.2f %7.2f %6.2f",
	       (double)s->swap_ns / NSEC_PER_MSEC, (double)slice / NSEC_PER_MSEC,
	       share, (double)slice / (double)(slice + s->swap_ns),
	       high > 0 ? low / high : 0);
	if (s->n_clients > n_streams) {
		struct client *c = slowest_reader(s, n_streams);

		printf(" %8.1f %8.1f %8.1f %8.1f %7zu", wait_ms(c, 0.5),
		       wait_ms(c, 0.99), wait_ms(c, 1), bound_ms(s, slice),
		       c->n_waits);
	}
	putchar('\n');
}

/* streams on the first dies, one small reader on each of the last ones */
static void scenario(const char *title, unsigned int stream_dies,
		     unsigned int per_die, unsigned int readers)
{
	static const uint64_t swaps_us[] = { 200, 1000, 5000, 20000, 50000 };
	static struct sim s;
	unsigned int i;
	size_t k, c;

	printf("\n%s\nswap ms slice ms   share   ideal   fair", title);
	puts(readers ? "   p50 ms   p99 ms   max ms bound ms samples" : "");
	for (k = 0; k < ARRAY_SIZE(swaps_us); k++) {
		memset(&s, 0, sizeof(s));
		s.rng = 88172645463325252ull;
		s.swap_ns = swaps_us[k] * NSEC_PER_USEC;
		policy_init(&s.policy);
		for (i = 0; i < stream_dies * per_die; i++)
			add_client(&s, i % stream_dies, STREAM_LEN, 0);
		for (i = 0; i < readers; i++)
			add_client(&s, cfg.dies - 1 - i, SMALL_LEN,
				   cfg.small_think_ns);
		run(&s);
		print_row(&s, stream_dies * per_die);
		for (c = 0; c < s.n_clients; c++)
			free(s.clients[c].waits);
	}
}

static void usage(void)
{
	fputs("usage: slotsim [-n DIES] [-t SECONDS] [-B MIB_S] [-g GAP_US]\n"
	      "               [-T THINK_US] [-e EVERY -x HICCUP_MS] [-l EVERY]\n"
	      "-B  speed of a copy            -g  answer to next request\n"
	      "-T  pause of the small reader\n"
	      "-e, -x  each EVERYth swap takes so much longer\n"
	      "-l  each so manyth request of die 0's streams comes too late to\n"
	      "    be waited for\n"
	      "share: bytes of all streams / what one alone would get\n"
	      "fair:  slowest stream / fastest\n",
	      stderr);
	exit(2);
}

static unsigned int number(const char *text, unsigned int min, unsigned int max)
{
	char *end;
	unsigned long v = strtoul(text, &end, 10);

	if (end == text || *end || v < min || v > max)
		usage();
	return (unsigned int)v;
}

int main(int argc, char **argv)
{
	int opt;

	while ((opt = getopt(argc, argv, "n:t:B:g:T:e:x:l:")) != -1) {
		switch (opt) {
		case 'n':
			cfg.dies = number(optarg, 2, POLICY_MAX_DIES);
			break;
		case 't':
			cfg.run_ns = number(optarg, 1, 3600) * NSEC_PER_SEC;
			break;
		case 'B':
			cfg.bus_mib_s = number(optarg, 1, 1000000);
			break;
		case 'g':
			cfg.gap_ns = number(optarg, 1, 1000000) * NSEC_PER_USEC;
			break;
		case 'T':
			cfg.small_think_ns =
				number(optarg, 1, 1000000) * NSEC_PER_USEC;
			break;
		case 'e':
			cfg.hiccup_every = number(optarg, 1, 1000000);
			break;
		case 'x':
			cfg.hiccup_ns = number(optarg, 0, 10000) * NSEC_PER_MSEC;
			break;
		case 'l':
			cfg.late_every = number(optarg, 1, 1000000);
			break;
		default:
			usage();
		}
	}
	if (optind != argc)
		usage();
	printf("%u dies, %.0f s, copies at %.0f MiB/s, %llu us between a "
	       "stream's requests\n",
	       cfg.dies, (double)cfg.run_ns / NSEC_PER_SEC, cfg.bus_mib_s,
	       (unsigned long long)(cfg.gap_ns / NSEC_PER_USEC));
	scenario("one 1 MiB stream on every die", cfg.dies, 1, 0);
	scenario("three 1 MiB streams on every die", cfg.dies, 3, 0);
	scenario("a stream on all dies but one, a 4 KiB reader on that",
		 cfg.dies - 1, 1, 1);
	scenario("three streams on all dies but one, a 4 KiB reader on that",
		 cfg.dies - 1, 3, 1);
	scenario("a stream on one die, a 4 KiB reader on each of the others", 1,
		 1, cfg.dies - 1);
	return 0;
}
