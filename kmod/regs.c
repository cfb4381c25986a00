// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the registers of the die that is in say.
 */
#include "regs.h"

#include <linux/io.h>

#include "info.h"

/* Any word that is neither 0 nor all-ones and differs from its neighbours. */
#define TEST_PATTERN 0xa5c35a3cu

/* What a register gives that is not there or not powered, and no value. */
static bool is_sentinel(u32 val)
{
	return val == ~0u || (val & 0xffff0000) == 0xbad00000;
}

bool bs_regs_answer(struct bs_slot *slot)
{
	return ioread32(slot->regs + BS_REG_BOOT) != ~0u;
}

bool bs_regs_is_virtual(struct bs_slot *slot)
{
	u32 mode = ioread32(slot->regs + BS_REG_BAR1);

	return !is_sentinel(mode) && mode & BS_BAR1_VM;
}

void bs_regs_go_physical(struct bs_slot *slot)
{
	void __iomem *mode = slot->regs + BS_REG_BAR1;

	if (!bs_regs_is_virtual(slot))
		return;
	iowrite32(ioread32(mode) & ~BS_BAR1_VM, mode);
	ioread32(mode);
}

/* One word to PRAMIN, and what both ways to it then show. */
struct echo {
	u32 wanted;
	u32 pramin;
	u32 bar1;
};

static struct echo put_word(void __iomem *pramin, void __iomem *bar1, u32 word)
{
	struct echo e = { .wanted = word };

	iowrite32(word, pramin);
	e.pramin = ioread32(pramin);
	/* A load from write-combining memory may run ahead of others. */
	rmb();
	e.bar1 = ioread32(bar1);
	return e;
}

static bool is_heard(const struct echo *e)
{
	return e->pramin == e->wanted && e->bar1 == e->wanted;
}

/*
 * A word that PRAMIN does not take is no memory, and what it read before no
 * value to write back.
 */
static bool keeps_word(void __iomem *pramin, void __iomem *bar1, struct echo *e)
{
	u32 old = ioread32(pramin);
	struct echo back;

	*e = put_word(pramin, bar1, old ^ TEST_PATTERN);
	if (e->pramin != e->wanted)
		return false;
	back = put_word(pramin, bar1, old);
	return is_heard(e) && is_heard(&back);
}

/*
 * A bus reset that goes through sysfs leaves config space as it was: the core
 * puts it back. This register it does not know. The mark is a window that
 * nobody would choose, 2.8 GiB into VRAM.
 */
#define RESET_MARK 0x0000b5a9u

static bool has_lost_mark(struct bs_die *die)
{
	return READ_ONCE(die->has_mark) &&
	       ioread32(die->slot->regs + BS_REG_PRAMIN) != RESET_MARK;
}

static void leave_mark(struct bs_die *die)
{
	void __iomem *window = die->slot->regs + BS_REG_PRAMIN;

	iowrite32(RESET_MARK, window);
	bs_info_marked(die, ioread32(window) == RESET_MARK);
}

bool bs_regs_have_changed(struct bs_die *die)
{
	return bs_regs_is_virtual(die->slot) != die->is_virtual ||
	       has_lost_mark(die);
}

/*
 * PRAMIN is a way to memory that does not use BAR1. If a word written through
 * the one is not what the other reads, the die's memory controller has not
 * been set up since power-on or reset. Word and window are put back.
 */
static bool sees_vram(struct bs_die *die, void __iomem *bar1)
{
	void __iomem *window = die->slot->regs + BS_REG_PRAMIN;
	void __iomem *pramin = die->slot->regs + BS_PRAMIN;
	u32 old_window = ioread32(window);
	struct echo e = {};
	bool is_kept;

	iowrite32(0, window);
	is_kept = keeps_word(pramin, bar1, &e);
	if (!is_sentinel(old_window))
		iowrite32(old_window, window);
	if (is_kept)
		return true;
	bs_die_error(
		die,
		"%s: no VRAM: wrote 0x%08x through PRAMIN, read 0x%08x there and 0x%08x through BAR1: not initialised since power-on or reset; k80-owner warm %u does it",
		die->info.bdf, e.wanted, e.pramin, e.bar1, die->id);
	return false;
}

static bool check_vram(struct bs_die *die)
{
	void __iomem *bar1;
	bool sees;

	if (die->bar_size[0] < BS_PRAMIN_END)
		return true;
	bar1 = ioremap_wc(die->slot->geom.bar1, PAGE_SIZE);
	if (!bar1) {
		bs_die_error(die, "%s: no memory to look through BAR1",
			     die->info.bdf);
		return false;
	}
	sees = sees_vram(die, bar1);
	iounmap(bar1);
	return sees;
}

int bs_regs_probe(struct bs_die *die)
{
	struct bs_slot *slot = die->slot;
	bool has_vram = true;

	if (!bs_regs_answer(slot)) {
		bs_die_error(die, "%s: BAR0 word 0 reads 0xffffffff",
			     die->info.bdf);
		return -ENXIO;
	}
	if (has_lost_mark(die)) {
		bs_die_error(die, "%s: was reset by others", die->info.bdf);
		bs_info_lost(die);
	}
	die->is_virtual = bs_regs_is_virtual(slot);
	/* A driver owns the window register, and a live GPU its memory. */
	if (!die->is_virtual && !die->has_driver)
		has_vram = check_vram(die);
	die->is_mappable = has_vram;
	/* A driver moves the window. */
	if (!die->has_driver)
		leave_mark(die);
	bs_info_probed(die, die->is_virtual ? BS_BAR1_VIRTUAL : BS_BAR1_PHYSICAL,
		       has_vram);
	return 0;
}

void bs_regs_ask_again(struct bs_die *die)
{
	if (!bs_regs_probe(die))
		return;
	die->is_mappable = false;
	bs_info_alive(die, false);
}
