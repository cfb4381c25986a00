// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * bs - the device from a shell
 *
 *	bs query                       the die in the slot, or "none"
 *	bs acquire DIE [FLAG...]       lease nowait sbr force dry mem; hold:
 *	                               then print "held", wait for a signal
 *	bs release DIE [force] | unlease DIE
 *	bs info DIE FIELD              one field of its info, as text
 *	bs check DIE                   IN_SLOT ALIVE GENERATION DRIVER MODE
 *	bs get DIE OFF                 a 64-bit word of its memory (hex), or BUS
 *	bs put DIE OFF VALUE           write one
 *
 * Prints "ok", or the name of the error and exits with 1.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libbs.h"

static const struct {
	const char *word;
	unsigned int flag;
} flags[] = {
	{ "lease", BS_ACQUIRE_LEASE },
	{ "nowait", BS_ACQUIRE_NOWAIT },
	{ "sbr", BS_ACQUIRE_FORCE_SBR },
	{ "force", BS_ACQUIRE_FORCE },
	{ "dry", BS_ACQUIRE_DRY_RUN },
	{ "mem", BS_ACQUIRE_DRIVER_MEM },
	{ "bad", 1u << 31 },
};

static const char *const states[] = { "idle", "active", "dead", "no_vram",
				      "unusable" };
static const char *const modes[] = { "unknown", "physical", "virtual" };

static int result(int ret)
{
	puts(ret ? strerrorname_np(-ret) : "ok");
	fflush(stdout);
	return ret != 0;
}

static int do_acquire(int fd, unsigned int die, char **argv)
{
	unsigned int bits = 0;
	bool hold = false;
	size_t i;
	int ret;

	for (; *argv; argv++) {
		hold |= !strcmp(*argv, "hold");
		for (i = 0; i < sizeof(flags) / sizeof(*flags); i++)
			if (!strcmp(*argv, flags[i].word))
				bits |= flags[i].flag;
	}
	ret = bs_acquire(fd, die, bits);
	if (ret || !hold)
		return result(ret);
	puts("held");
	fflush(stdout);
	for (;;)
		pause();
}

static int do_release(int fd, unsigned int die, const char *word)
{
	bool force = word && !strcmp(word, "force");

	return result(bs_release_flags(fd, die, force ? BS_RELEASE_FORCE : 0));
}

static int do_info(int fd, unsigned int die, const char *field)
{
	struct bs_die_info i;
	int ret = bs_info(fd, die, &i);
	size_t k;

	if (ret)
		return result(ret);
	const struct {
		const char *name;
		uint64_t val;
	} numbers[] = {
		{ "flags", i.flags },
		{ "bar0_addr", i.bar0_addr },
		{ "bar1_addr", i.bar1_addr },
		{ "bar3_addr", i.bar3_addr },
		{ "bar1_size", i.bar1_size },
		{ "vram_bytes", i.vram_bytes },
		{ "resmem_bytes", i.resmem_bytes },
		{ "generation", i.generation },
		{ "resets", i.resets },
		{ "acquires", i.acquires },
		{ "swaps_in", i.swaps_in },
		{ "swaps_out", i.swaps_out },
		{ "last_swap_ns", i.last_swap_ns },
		{ "waiters", i.waiters },
		{ "device", i.device },
		{ "holder_pid", (uint64_t)i.holder_pid },
	};
	const struct {
		const char *name;
		const char *val;
	} texts[] = {
		{ "bdf", i.bdf },
		{ "driver", i.driver },
		{ "holder_comm", i.holder_comm },
		{ "last_error", i.last_error },
		{ "state", i.state < 5 ? states[i.state] : "?" },
		{ "bar1_mode", i.bar1_mode < 3 ? modes[i.bar1_mode] : "?" },
		{ "bar1_cache", i.flags & BS_DIE_F_BAR1_WC   ? "wc"
				: i.flags & BS_DIE_F_BAR1_UC ? "uc"
							     : "none" },
		{ "alive", i.flags & BS_DIE_F_ALIVE ? "1" : "0" },
		{ "leased", i.flags & BS_DIE_F_LEASED ? "1" : "0" },
	};
	for (k = 0; k < sizeof(numbers) / sizeof(*numbers); k++)
		if (!strcmp(field, numbers[k].name))
			return printf("%" PRIu64 "\n", numbers[k].val) < 0;
	for (k = 0; k < sizeof(texts) / sizeof(*texts); k++)
		if (!strcmp(field, texts[k].name))
			return printf("%s\n", texts[k].val) < 0;
	return 2;
}

static int do_check(int fd, unsigned int die)
{
	struct bs_check c;
	int ret = bs_check(fd, die, &c);

	if (ret)
		return result(ret);
	printf("%u %u %" PRIu64 " %u %s\n", c.in_slot, c.alive,
	       (uint64_t)c.generation, c.driver,
	       c.bar1_mode < 3 ? modes[c.bar1_mode] : "?");
	return 0;
}

static int do_word(int fd, unsigned int die, uint64_t off, const char *put)
{
	volatile uint8_t *p = bs_map(fd, die, off & ~4095ull, 4096);
	uint64_t val = put ? strtoull(put, NULL, 16) : 0;

	if (!p)
		return result(-errno);
	p += off & 4095;
	if (!(put ? touch_put(p, val) : touch_get(p, &val))) {
		puts("BUS");
		return 1;
	}
	if (put)
		return result(0);
	printf("%016" PRIx64 "\n", val);
	return 0;
}

int main(int argc, char **argv)
{
	const char *verb = argc > 1 ? argv[1] : "";
	unsigned int die = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	int fd = bs_open();

	if (!strcmp(verb, "query")) {
		die = bs_active(fd);
		return die == BS_NO_DIE ? puts("none") < 0
					: printf("%u\n", die) < 0;
	}
	if (argc < 3)
		return 2;
	if (!strcmp(verb, "acquire"))
		return do_acquire(fd, die, argv + 3);
	if (!strcmp(verb, "release"))
		return do_release(fd, die, argv[3]);
	if (!strcmp(verb, "unlease"))
		return result(bs_unlease(fd, die));
	if (!strcmp(verb, "check"))
		return do_check(fd, die);
	if (argc < 4)
		return 2;
	if (!strcmp(verb, "info"))
		return do_info(fd, die, argv[3]);
	if (!strcmp(verb, "get"))
		return do_word(fd, die, strtoull(argv[3], NULL, 16), NULL);
	if (!strcmp(verb, "put") && argc > 4)
		return do_word(fd, die, strtoull(argv[3], NULL, 16), argv[4]);
	return 2;
}
