// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * intruder DIE [hold|lease|mem] - touches a die through libbarswap, round by
 * round
 *
 * Maps the die's memory, with "lease" as the owner of a lease, with "hold"
 * after a plain acquire, with "mem" after one that asks for a driver's die too.
 * Each line of standard input begins a round: 100 writes and 100 reads. Prints
 * "ready", or "error NAME", and for each round
 * "WRITES READS in IN_SLOT driver DRIVER mode MODE": how many of each were not
 * refused by SIGBUS, and what bs_check() says after them.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusefs/lib/barswap.h"

#define TRIES 100
#define STEP  8192 /* no two in one page */

static sigjmp_buf back;

static void on_sigbus(int sig)
{
	(void)sig;
	siglongjmp(back, 1);
}

static int try_write(volatile uint64_t *p)
{
	if (sigsetjmp(back, 1))
		return 0;
	*p = 0x1b7d3;
	return 1;
}

static int try_read(const volatile uint64_t *p)
{
	if (sigsetjmp(back, 1))
		return 0;
	(void)*p;
	return 1;
}

static int fail(int err)
{
	printf("error %s\n", strerrorname_np(err));
	return 1;
}

int main(int argc, char **argv)
{
	struct sigaction sa = { .sa_handler = on_sigbus };
	const char *how = argc > 2 ? argv[2] : "";
	int die = argc > 1 ? atoi(argv[1]) : 0;
	bs_context *ctx = bs_init();
	char line[64];
	size_t len;
	void *mem;
	int ret;

	if (!ctx)
		return fail(errno);
	sigaction(SIGBUS, &sa, NULL);
	if (*how) {
		ret = bs_acquire_flags(ctx, die,
				       !strcmp(how, "lease") ? BS_LEASE
				       : !strcmp(how, "mem") ? BS_DRIVER_MEM
							     : 0,
				       NULL);
		if (ret)
			return fail(-ret);
	}
	ret = bs_vram(ctx, die, &mem, &len);
	if (ret)
		return fail(-ret);
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		struct bs_health health = { 0 };
		int writes = 0, reads = 0;

		for (size_t i = 0; i < TRIES; i++) {
			void *at = (char *)mem + i * STEP;

			writes += try_write(at);
			reads += try_read(at);
		}
		bs_check(ctx, die, &health);
		printf("%d %d in %d driver %d mode %d\n", writes, reads,
		       health.in_slot, health.driver, health.bar1_mode);
		fflush(stdout);
	}
	bs_free(ctx);
	return 0;
}
