// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * compute_persist [-t SECONDS | -m MILLISECONDS] [-s SYNC_US] [die]: does a
 * kernel go on while its die is out of the slot?
 *
 * On the module's dies the vendor's driver is loaded and bound first, and kept
 * off the others: nothing need be prepared. Launches a kernel of at least
 * SECONDS (10), takes the die out at once, without waiting for anything, puts
 * every other die in meanwhile, and puts it back once the kernel must have
 * ended: all 1,048,576 results must be right, and the wait for the stream must
 * take less than SYNC_US (1000), since there is nothing to wait for. The device
 * is $BARSWAP_DEVICE or the module's node. Exit code: 0 PASS, 1 FAIL, 2 could
 * not try.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "lib/barswap.h"
#include "owner/owner.h"
#include "text/words.h"

#define SEED      20260u
#define ITERS     4096u
#define MAX_DELAY ((uint64_t)1 << 44)
/* the speed is measured with a kernel of at least this part of the long one */
#define MEASURE_PART 10
#define MAX_TRIES    12
#define PATIENCE     6 /* times what was asked for: after that it never ends */
/* over what was asked for, as clocks change with load */
#define MARGIN(ns) ((ns) + (ns) / 5)

enum { PASS, FAIL, NOT_TRIED, TOO_SHORT };

static bs_context *ctx;
static struct owner *owner;

static int __attribute__((format(printf, 2, 3)))
verdict(int ret, const char *fmt, ...)
{
	static const char *const names[] = { "PASS", "FAIL", "NOT TRIED" };
	va_list ap;

	printf("%s: ", names[ret]);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	return ret;
}

static int put_in(int die)
{
	int ret = bs_acquire_flags(ctx, die, 0, NULL);

	/* the driver that computes is bound to it, or to the one that is in */
	if (ret == -EBUSY)
		ret = bs_acquire_flags(ctx, die, BS_FORCE, NULL);
	return ret;
}

static int enter(void *arg, unsigned int die)
{
	int ret = bs_acquire_flags(ctx, (int)die, BS_LEASE, NULL);

	(void)arg;
	if (ret == -EBUSY)
		ret = bs_acquire_flags(ctx, (int)die, BS_LEASE | BS_FORCE, NULL);
	return ret;
}

static void leave(void *arg, unsigned int die)
{
	(void)arg;
	bs_unlease(ctx, (int)die);
}

static void on_log(void *arg, unsigned int die, const char *line)
{
	(void)arg;
	printf("die %u: %s\n", die, line);
}

static void nap_ms(unsigned int ms)
{
	usleep(ms * 1000);
}

/* How long a kernel with this delay takes, ns; 0 if it failed. */
static uint64_t measure(unsigned int die, uint64_t delay)
{
	uint64_t start = now_ns();
	int ret = owner_work(owner, die, SEED, 1, delay);

	while (!ret && (ret = owner_poll(owner, die)) == -EAGAIN) {
		nap_ms(1);
		ret = 0;
	}
	return ret ? 0 : now_ns() - start;
}

/* The delay with which a kernel takes @want_ns; 0 if that cannot be found. */
static uint64_t find_delay(unsigned int die, uint64_t want_ns)
{
	uint64_t delay = (uint64_t)1 << 18, base, took;

	/* the first kernel of a context takes longer */
	if (!measure(die, 1))
		return 0;
	/* what there is to do besides */
	base = measure(die, 1);
	if (!base)
		return 0;
	for (;;) {
		took = measure(die, delay);
		if (!took)
			return 0;
		took = took > base ? took - base : 1;
		if (took >= want_ns / MEASURE_PART || delay >= MAX_DELAY)
			break;
		delay *= 4;
	}
	return (uint64_t)((double)delay * (double)want_ns / (double)took);
}

static bool is_running(unsigned int die)
{
	struct owner_view v;

	owner_view(owner, die, &v);
	return v.state == OWNER_RUNNING;
}

/* The slot is everybody else's until the kernel has ended, which a byte in
 * host memory says. */
static int use_others(int die, uint64_t until_ns, uint64_t *ended)
{
	unsigned int n = bs_num_dies(ctx);
	unsigned int other = (unsigned int)die;
	int ret = 0;

	*ended = 0;
	while (!ret && !*ended && now_ns() < until_ns) {
		other = (other + 1) % n;
		if (other != (unsigned int)die)
			ret = put_in((int)other);
		if (!*ended && !is_running((unsigned int)die))
			*ended = now_ns();
		nap_ms(5);
	}
	return ret;
}

/* One kernel; TOO_SHORT, and how long it took, if it ended before @want_ns. */
static int persist_once(int die, uint64_t delay, uint64_t want_ns,
			uint64_t max_sync_ns, uint64_t *took)
{
	uint64_t start, out, ended, back, polled;
	struct owner_result r;
	int ret;

	start = now_ns();
	ret = owner_work(owner, (unsigned int)die, SEED, ITERS, delay);
	if (!ret)
		ret = bs_release_flags(ctx, die, BS_FORCE);
	if (ret)
		return verdict(FAIL, "launch, release: %s", strerror(-ret));
	out = now_ns();
	if (bs_is_mapped(ctx, die) || !is_running((unsigned int)die))
		return verdict(FAIL, "the die is still in, or the kernel ended");
	printf("launched with delay %llu, out of the slot after %.3f ms\n",
	       (unsigned long long)delay, (double)(out - start) / NSEC_PER_MSEC);

	ret = use_others(die, start + PATIENCE * want_ns, &ended);
	if (ret)
		return verdict(FAIL, "use of other dies: %s", strerror(-ret));
	if (!ended)
		return verdict(FAIL, "the kernel has not ended in %.1f s",
			       (double)PATIENCE * (double)want_ns / NSEC_PER_SEC);
	printf("ended after %.3f s, while out\n",
	       (double)(ended - start) / NSEC_PER_SEC);
	*took = ended - start;
	if (*took < want_ns)
		return TOO_SHORT;

	ret = put_in(die);
	back = now_ns();
	if (!ret)
		ret = owner_poll(owner, (unsigned int)die);
	polled = now_ns();
	if (!ret)
		ret = owner_verify(owner, (unsigned int)die, &r);
	if (ret)
		return verdict(FAIL, "back in the slot: %s", strerror(-ret));
	printf("back in: asking took %.3f ms, the sync %.3f ms; %zu of %u right\n",
	       (double)(polled - back) / NSEC_PER_MSEC,
	       (double)r.sync_ns / NSEC_PER_MSEC, OWNER_FLOATS - r.n_wrong,
	       OWNER_FLOATS);
	if (r.n_wrong)
		return verdict(FAIL, "%zu results wrong", r.n_wrong);
	if (polled - back + r.sync_ns >= max_sync_ns)
		return verdict(FAIL, "there was something to wait for");
	return verdict(PASS, "die %d, %u dies, device %s", die,
		       bs_num_dies(ctx), bs_device_name(ctx));
}

/* On a busy machine the speed that was measured may be far from the real one. */
static int persist(int die, uint64_t want_ns, uint64_t max_sync_ns)
{
	uint64_t delay, took = 0;
	double more;
	int ret;

	ret = owner_online(owner, (unsigned int)die);
	if (ret)
		return verdict(NOT_TRIED, "online: %s", strerror(-ret));
	delay = find_delay((unsigned int)die, MARGIN(want_ns));
	if (!delay)
		return verdict(NOT_TRIED, "no kernel of a known length");
	for (int i = 0; i < MAX_TRIES; i++) {
		ret = persist_once(die, delay, want_ns, max_sync_ns, &took);
		if (ret != TOO_SHORT)
			return ret;
		printf("that was too short\n");
		/* what took longer than its steps is in @took, too */
		more = (double)MARGIN(want_ns) / (double)took;
		delay = (uint64_t)((double)delay * (more < 1.3 ? 1.3 : more));
	}
	return verdict(NOT_TRIED, "no kernel is as long as it should be");
}

static int open_all(int die)
{
	static char bdf[OWNER_MAX_DIES][16];
	struct owner_config cfg = {
		.window = { enter, leave, NULL },
		.log = on_log,
	};
	const char *env = getenv("BARSWAP_DEVICE");
	const char *device = env ? env : "/dev/bar_swap";
	struct bs_info info;

	ctx = bs_init();
	if (!ctx)
		return verdict(
			NOT_TRIED,
			"open %s: %s; load the module, or try a simulator with BARSWAP_DEVICE=sim:vram=1G",
			device, strerror(errno));
	cfg.n_dies = MIN(bs_num_dies(ctx), (uint32_t)OWNER_MAX_DIES);
	if ((unsigned int)die >= cfg.n_dies)
		return verdict(NOT_TRIED, "there is no die %d", die);
	for (unsigned int i = 0; i < cfg.n_dies; i++)
		if (!bs_die_info(ctx, (int)i, &info))
			memcpy(bdf[i], info.bdf, sizeof(bdf[i]));
	cfg.bdf = (const char(*)[16])bdf;
	cfg.lease_fd = bs_lease_fd(ctx);
	if (cfg.lease_fd >= 0)
		cfg.node = device;
	if (owner_open(&owner, &cfg))
		return verdict(NOT_TRIED, "out of memory");
	return PASS;
}

int main(int argc, char **argv)
{
	uint64_t seconds = 10, sync_us = 1000, die = 0;
	uint64_t unit = NSEC_PER_SEC;
	bool is_bad = false;
	int c, ret;

	while ((c = getopt(argc, argv, "t:m:s:")) >= 0) {
		size_t len = c == '?' ? 0 : strlen(optarg);

		if (c == 't') {
			unit = NSEC_PER_SEC;
			is_bad |= !!word_number(optarg, len, 3600, &seconds);
		} else if (c == 'm') { /* milliseconds, for tests in miniature */
			unit = NSEC_PER_MSEC;
			is_bad |= !!word_number(optarg, len, 3600000, &seconds);
		} else if (c == 's') {
			is_bad |= !!word_number(optarg, len, 10000000, &sync_us);
		} else {
			is_bad = true;
		}
	}
	if (optind < argc)
		is_bad |= !!word_number(argv[optind], strlen(argv[optind]),
					OWNER_MAX_DIES - 1, &die);
	if (is_bad || optind + 1 < argc || !seconds) {
		fprintf(stderr,
			"usage: %s [-t SECONDS | -m MILLISECONDS] [-s SYNC_US] [die]\n",
			argv[0]);
		return NOT_TRIED;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	ret = open_all((int)die);
	if (!ret)
		ret = persist((int)die, seconds * unit, sync_us * NSEC_PER_USEC);
	if (owner &&
	    (owner_offline(owner, (unsigned int)die) || owner_free(owner)) &&
	    !ret)
		ret = verdict(FAIL, "the worker did not end in order");
	bs_free(ctx);
	return ret;
}
