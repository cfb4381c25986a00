// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * poke [stray | cold] - swap the dies by hand, without a module, and compare
 * what they hold
 *
 * A test of the rig alone: are the dies as firmware left them, is there one
 * slot that each can be put into, does each keep its memory, does nothing
 * answer in between, and does PRAMIN show the same memory. With "stray" only
 * write one register of the vacant slot; with "cold" train the memory of die 1,
 * which was ordered to be cold.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libpci.h"
#include "mod/gk210.h"

#define SLOT_BAR0   0xf3000000u
#define SLOT_BAR1   0xc00000000ull
#define SLOT_BAR3   0xf4000000u
#define WINDOW_MEM  0xf5f0f300u /* f3000000-f5ffffff */
#define CLOSED_MEM  0x0000fff0u
#define CLOSED_PREF 0x0001fff1u
#define PRAMIN      0x700000

static const struct chain {
	const char *die;
	const char *port[3]; /* from the root down */
} chains[] = {
	{ "0000:03:00.0", { "0000:00:04.0", "0000:01:00.0", "0000:02:08.0" } },
	{ "0000:04:00.0", { "0000:00:04.0", "0000:01:00.0", "0000:02:10.0" } },
	{ "0000:07:00.0", { "0000:00:05.0", "0000:05:00.0", "0000:06:08.0" } },
	{ "0000:08:00.0", { "0000:00:05.0", "0000:05:00.0", "0000:06:10.0" } },
	{ "0000:0b:00.0", { "0000:00:06.0", "0000:09:00.0", "0000:0a:08.0" } },
	{ "0000:0c:00.0", { "0000:00:06.0", "0000:09:00.0", "0000:0a:10.0" } },
};

#define N_DIES (sizeof(chains) / sizeof(*chains))

/* where to look: both ends, above 8 GiB, and behind the usable memory */
static const uint64_t offsets[] = { 0, 8ull << 30, (12ull << 30) - 8,
				    (16ull << 30) - 8 };

#define N_OFFSETS (sizeof(offsets) / sizeof(*offsets))

static unsigned int bad;

static void expect(const char *what, size_t die, uint64_t got, uint64_t want)
{
	if (got == want)
		return;
	bad++;
	printf("die %zu: %s: got %llx, want %llx\n", die, what,
	       (unsigned long long)got, (unsigned long long)want);
}

static void expect_as_firmware_left_it(size_t i)
{
	const char *die = chains[i].die;
	int k;

	expect("id", i, pci_get(die, 0, 4), 0x102d10de);
	expect("subsystem", i, pci_get(die, 0x2c, 4), 0x106c10de);
	expect("class and revision", i, pci_get(die, 8, 4), 0x030200a1);
	expect("COMMAND", i, pci_get(die, 4, 2) & 3, 0);
	expect("BAR1", i, pci_get(die, 0x14, 4), 0xc);
	expect("BAR1 high", i, pci_get(die, 0x18, 4), 0);
	expect("BAR3", i, pci_get(die, 0x1c, 4), 0xc);
	for (k = 0; k < 3; k++)
		expect("prefetchable window", i,
		       pci_get(chains[i].port[k], 0x24, 4), CLOSED_PREF);
}

static void out(const struct chain *c)
{
	unsigned int off;
	int k;

	pci_set(c->die, 4, 2, pci_get(c->die, 4, 2) & ~2u);
	for (off = 0x10; off <= 0x20; off += 4)
		pci_set(c->die, off, 4, 0);
	for (k = 2; k >= 0; k--) {
		/* the upper limit first: the window closes with this write */
		pci_set(c->port[k], 0x2c, 4, 0);
		pci_set(c->port[k], 0x28, 4, 0);
		pci_set(c->port[k], 0x24, 4, CLOSED_PREF);
		pci_set(c->port[k], 0x20, 4, CLOSED_MEM);
	}
}

static void in(const struct chain *c)
{
	int k;

	for (k = 0; k < 3; k++) {
		pci_set(c->port[k], 0x20, 4, WINDOW_MEM);
		pci_set(c->port[k], 0x28, 4, SLOT_BAR1 >> 32);
		pci_set(c->port[k], 0x2c, 4, 0xf);
		pci_set(c->port[k], 0x24, 4, 0xfff10001);
		pci_set(c->port[k], 4, 2, pci_get(c->port[k], 4, 2) | 6);
	}
	pci_set(c->die, 0x10, 4, SLOT_BAR0);
	pci_set(c->die, 0x14, 4, (uint32_t)SLOT_BAR1);
	pci_set(c->die, 0x18, 4, SLOT_BAR1 >> 32);
	pci_set(c->die, 0x1c, 4, SLOT_BAR3);
	pci_set(c->die, 0x20, 4, 0);
	pci_set(c->die, 4, 2, pci_get(c->die, 4, 2) | 2);
}

/* PRAMIN at one address of memory */
static volatile uint32_t *pramin(volatile uint32_t *regs, uint64_t addr)
{
	regs[0x1700 / 4] = addr >> 16;
	return regs + (PRAMIN + (addr & 0xffff)) / 4;
}

static void expect_cold(volatile uint32_t *regs, volatile uint64_t *first,
			volatile uint64_t *last)
{
	const uint64_t word = (uint64_t)GK_COLD_WORD << 32 | GK_COLD_WORD;

	expect("cold BAR1, first word", 1, *first, word);
	expect("cold BAR1, last word", 1, *last, word);
	*pramin(regs, offsets[1]) = 1;
	expect("cold PRAMIN at 8 GiB", 1, *pramin(regs, offsets[1]),
	       GK_COLD_WORD);
	expect("cold PRAMIN at 0", 1, *pramin(regs, 0), GK_COLD_WORD);
}

static void train(volatile uint32_t *regs, volatile uint64_t *first,
		  volatile uint64_t *last)
{
	static const uint32_t words[] = GK_TRAINING;
	size_t k;

	in(&chains[1]);
	expect_cold(regs, first, last);
	for (k = sizeof(words) / sizeof(*words); k > 0; k--)
		regs[GK_REG_TRAIN / 4] = words[k - 1];
	expect_cold(regs, first, last);
	for (k = 0; k < sizeof(words) / sizeof(*words); k++)
		regs[GK_REG_TRAIN / 4] = words[k];
	*pramin(regs, 0) = 0x12345678;
	expect("trained memory", 1, *first, 0x12345678);
	out(&chains[1]);
}

static uint64_t pattern(size_t die, size_t k)
{
	return 0xd1e0000000000000ull | (uint64_t)die << 32 | k;
}

int main(int argc, char **argv)
{
	volatile uint32_t *regs = phys_map(SLOT_BAR0, 16 << 20);
	volatile uint32_t *bar3 = phys_map(SLOT_BAR3, 4096);
	volatile uint64_t *vram[N_OFFSETS];
	size_t i, k, pass;

	if (argc > 1 && !strcmp(argv[1], "stray")) {
		regs[0x100 / 4] = 0;
		return 0;
	}
	for (k = 0; k < N_OFFSETS; k++)
		vram[k] = phys_map(SLOT_BAR1 + (offsets[k] & ~4095ull), 4096) +
			  (offsets[k] & 4095);
	if (argc > 1 && !strcmp(argv[1], "cold")) {
		train(regs, vram[0], vram[2]);
		return bad != 0;
	}
	for (i = 0; i < N_DIES; i++)
		expect_as_firmware_left_it(i);
	for (i = 0; i < N_DIES; i++)
		out(&chains[i]);
	expect("vacant BAR1", 0, *vram[0], ~0ull);
	expect("vacant BAR0", 0, *regs, ~0u);
	for (pass = 0; pass < 2; pass++) {
		for (i = 0; i < N_DIES; i++) {
			in(&chains[i]);
			expect("chip id", i, regs[0], 0x0f22d0a1);
			expect("die number", i, regs[GK_REG_ID / 4], i);
			expect("die number in config space", i,
			       pci_get(chains[i].die, GK_CONFIG_ID, 4), i);
			for (k = 0; k < N_OFFSETS && !pass; k++)
				*vram[k] = pattern(i, k);
			for (k = 0; k < N_OFFSETS; k++)
				expect("VRAM", i, *vram[k], pattern(i, k));
			regs[0x1700 / 4] = offsets[1] >> 16;
			expect("PRAMIN", i, regs[PRAMIN / 4],
			       (uint32_t)pattern(i, 1));
			expect("BAR1 mode", i, regs[0x1704 / 4], 0);
			if (!pass)
				bar3[1] = i;
			expect("BAR3", i, bar3[1], i);
			out(&chains[i]);
			expect("vacant BAR1", i, *vram[0], ~0ull);
		}
	}
	return bad != 0;
}
