// SPDX-License-Identifier: GPL-2.0-only
/*
 * The only writer of PCI config space: writes, reads back, reports.
 */
#include "cfg.h"

#include <linux/moduleparam.h>
#include <linux/pci_regs.h>

#include "info.h"

#define BAR_REG(i) (PCI_BASE_ADDRESS_0 + 4 * (i))
#define ROM_MASK   (PCI_ROM_ADDRESS_MASK | PCI_ROM_ADDRESS_ENABLE)
/* Cache line size and latency timer; header type is read-only, BIST not ours. */
#define TIMERS_MASK         0x0000ffffu
#define INTERRUPT_LINE_MASK 0x000000ffu
#define COMMAND_MASK        (PCI_COMMAND_IO | PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER)

#ifdef BS_FAULT_INJECTION
/*
 * "BDF:REG", for example 0000:02:08.0:24: writes to that register are not
 * made. Test builds only: what the bridges of a virtual machine cannot do.
 */
static char fault[32];
module_param_string(fault, fault, sizeof(fault), 0600);
MODULE_PARM_DESC(fault, "BDF:REG whose config writes are dropped (test build)");

static bool is_dropped(struct pci_dev *pdev, int reg)
{
	char here[32];
	bool hit;

	snprintf(here, sizeof(here), "%s:%02x", pci_name(pdev), reg);
	kernel_param_lock(THIS_MODULE);
	hit = sysfs_streq(fault, here);
	kernel_param_unlock(THIS_MODULE);
	return hit;
}
#else
static bool is_dropped(struct pci_dev *pdev, int reg)
{
	return false;
}
#endif

static const char *reg_name(struct bs_dev *dev, int reg)
{
	static const char *const die_names[] = { "BAR0", "BAR1", "BAR2",
						 "BAR3", "BAR4", "BAR5" };

	if (reg == PCI_COMMAND)
		return "COMMAND";
	if (pci_is_bridge(dev->pdev)) {
		switch (reg) {
		case PCI_MEMORY_BASE:
			return "memory window";
		case PCI_PREF_MEMORY_BASE:
			return "prefetchable window";
		case PCI_PREF_BASE_UPPER32:
			return "prefetchable base";
		case PCI_PREF_LIMIT_UPPER32:
			return "prefetchable limit";
		}
	} else if (reg >= PCI_BASE_ADDRESS_0 && reg <= PCI_BASE_ADDRESS_5) {
		return die_names[(reg - PCI_BASE_ADDRESS_0) / 4];
	} else if (reg == PCI_ROM_ADDRESS) {
		return "ROM";
	}
	return "register";
}

static int report(const struct bs_cfg *c, struct bs_dev *dev, int reg,
		  u32 wanted, u32 got)
{
	if (!c->is_quiet)
		bs_die_error(c->die, "%s: %s 0x%02x wanted 0x%08x got 0x%08x",
			     pci_name(dev->pdev), reg_name(dev, reg), reg,
			     wanted, got);
	return dev == &c->die->dev ? -EREMOTEIO : -EIO;
}

u32 bs_cfg_read(struct bs_dev *dev, int reg)
{
	u32 val;

	if (dev->is_gone || pci_read_config_dword(dev->pdev, reg, &val))
		return ~0u;
	return val;
}

int bs_cfg_write(const struct bs_cfg *c, struct bs_dev *dev, int reg, u32 val,
		 u32 mask)
{
	u32 got;

	if (c->is_dry) {
		pci_info(dev->pdev, "dry run: %s 0x%02x <- 0x%08x\n",
			 reg_name(dev, reg), reg, val);
		return 0;
	}
	pci_dbg(dev->pdev, "%s 0x%02x <- 0x%08x\n", reg_name(dev, reg), reg, val);
	if (!dev->is_gone && !is_dropped(dev->pdev, reg))
		pci_write_config_dword(dev->pdev, reg, val);
	got = bs_cfg_read(dev, reg);
	if ((got ^ val) & mask)
		return report(c, dev, reg, val, got);
	return 0;
}

/* 16 bits: the other half of the dword is Status, which clears on a write. */
static int write_command(const struct bs_cfg *c, struct bs_dev *dev, u16 val,
			 u16 mask)
{
	u16 got;

	if (c->is_dry) {
		pci_info(dev->pdev, "dry run: COMMAND 0x04 <- 0x%04x\n", val);
		return 0;
	}
	pci_dbg(dev->pdev, "COMMAND 0x04 <- 0x%04x\n", val);
	if (!dev->is_gone && !is_dropped(dev->pdev, PCI_COMMAND))
		pci_write_config_word(dev->pdev, PCI_COMMAND, val);
	got = bs_cfg_read(dev, PCI_COMMAND);
	if ((got ^ val) & mask)
		return report(c, dev, PCI_COMMAND, val, got);
	return 0;
}

int bs_cfg_command(const struct bs_cfg *c, u16 clear, u16 set)
{
	u32 cur = bs_cfg_read(&c->die->dev, PCI_COMMAND);

	/* All-ones is no value to keep bits of. */
	if (cur == ~0u)
		cur = 0;
	return write_command(c, &c->die->dev, (cur & ~clear) | set, clear | set);
}

int bs_cfg_port_on(const struct bs_cfg *c, struct bs_bridge *br)
{
	u16 need = PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER;
	u32 cur = bs_cfg_read(&br->dev, PCI_COMMAND);
	u16 off = need & ~cur;

	if (cur == ~0u)
		return report(c, &br->dev, PCI_COMMAND, need, cur);
	if (!off)
		return 0;
	if (!c->is_dry) {
		br->was_busmaster = br->dev.pdev->is_busmaster;
		br->switched_on |= off;
	}
	return write_command(c, &br->dev, cur | need, need);
}

int bs_cfg_port_back(const struct bs_cfg *c, struct bs_bridge *br)
{
	u32 cur = bs_cfg_read(&br->dev, PCI_COMMAND);
	u16 off = br->switched_on;

	/* Whom Linux has made bus master since, it takes for one for good. */
	if (br->dev.pdev->is_busmaster && !br->was_busmaster)
		off &= ~PCI_COMMAND_MASTER;
	if (!off || cur == ~0u)
		return 0;
	br->switched_on = 0;
	return write_command(c, &br->dev, cur & ~off, off);
}

int bs_cfg_window(const struct bs_cfg *c, struct bs_bridge *br,
		  const struct bs_window *w)
{
	u32 type = br->dev.cfg[PCI_PREF_MEMORY_BASE / 4] & BS_WINDOW_TYPE;
	bool is_64 = type == BS_WINDOW_64BIT;
	int ret = 0;
	int err;

	/*
	 * Limit 0 first: the prefetchable window stays closed until the last
	 * write, whatever is in the others meanwhile.
	 */
	if (is_64)
		ret = bs_cfg_write(c, &br->dev, PCI_PREF_LIMIT_UPPER32, 0, ~0u);
	err = bs_cfg_write(c, &br->dev, PCI_MEMORY_BASE, w->mem, BS_WINDOW_MASK);
	ret = ret ?: err;
	err = bs_cfg_write(c, &br->dev, PCI_PREF_MEMORY_BASE, w->pref | type,
			   BS_WINDOW_MASK);
	ret = ret ?: err;
	if (!is_64)
		return ret;
	err = bs_cfg_write(c, &br->dev, PCI_PREF_BASE_UPPER32, w->base_hi, ~0u);
	ret = ret ?: err;
	/* A window that is to open does so only if all before went well. */
	if (!ret)
		ret = bs_cfg_write(c, &br->dev, PCI_PREF_LIMIT_UPPER32,
				   w->limit_hi, ~0u);
	return ret;
}

static bool is_64bit_bar(u32 lo)
{
	return !(lo & BS_BAR_IO) && (lo & BS_BAR_TYPE) == BS_BAR_64BIT;
}

int bs_cfg_bar(const struct bs_cfg *c, int bar, u64 addr)
{
	struct bs_dev *dev = &c->die->dev;
	int ret;

	ret = bs_cfg_write(c, dev, BAR_REG(bar), lower_32_bits(addr),
			   BS_BAR_MASK);
	if (!ret && is_64bit_bar(c->die->bar_type[bar]))
		ret = bs_cfg_write(c, dev, BAR_REG(bar + 1),
				   upper_32_bits(addr), ~0u);
	return ret;
}

/* Bring a register to @val; no write if it is there already. */
static int settle_reg(const struct bs_cfg *c, int reg, u32 val, u32 mask)
{
	if (!((bs_cfg_read(&c->die->dev, reg) ^ val) & mask))
		return 0;
	return bs_cfg_write(c, &c->die->dev, reg, val, mask);
}

int bs_cfg_zero_bars(const struct bs_cfg *c)
{
	bool is_high = false;
	int ret = 0;
	int err;
	int i;

	for (i = 0; i < PCI_STD_NUM_BARS; i++) {
		u32 lo = bs_cfg_read(&c->die->dev, BAR_REG(i));

		err = settle_reg(c, BAR_REG(i), 0, is_high ? ~0u : BS_BAR_MASK);
		ret = ret ?: err;
		is_high = !is_high && is_64bit_bar(lo);
	}
	err = settle_reg(c, PCI_ROM_ADDRESS, 0, ROM_MASK);
	return ret ?: err;
}

/* What a register reads after all-ones; what was there is put back. */
static int size_reg(const struct bs_cfg *c, int reg, u32 mask, u32 *got)
{
	struct bs_dev *dev = &c->die->dev;
	u32 old = bs_cfg_read(dev, reg);

	bs_cfg_write(c, dev, reg, ~0u, 0);
	*got = bs_cfg_read(dev, reg);
	return bs_cfg_write(c, dev, reg, old, mask);
}

int bs_cfg_size(const struct bs_cfg *c)
{
	struct bs_die *die = c->die;
	u32 hi;
	u32 lo;
	int ret;
	int i;

	for (i = 0; i < PCI_STD_NUM_BARS; i++) {
		die->bar_type[i] = 0;
		die->bar_size[i] = 0;
	}
	for (i = 0; i < PCI_STD_NUM_BARS; i++) {
		ret = size_reg(c, BAR_REG(i), BS_BAR_MASK, &lo);
		if (ret)
			return ret;
		die->bar_type[i] = lo & ~BS_BAR_MASK;
		if (!is_64bit_bar(lo) || i + 1 == PCI_STD_NUM_BARS) {
			die->bar_size[i] = bs_bar_size(lo, 0);
			continue;
		}
		ret = size_reg(c, BAR_REG(i + 1), ~0u, &hi);
		if (ret)
			return ret;
		die->bar_size[i] = bs_bar_size(lo, hi);
		i++;
	}
	die->is_sized = true;
	bs_info_sizes(die);
	return 0;
}

/* What has no claim any more stays at 0. */
static bool is_lost(const struct bs_dev *dev, int i)
{
	return dev->lost & BIT(i);
}

int bs_cfg_restore_die(const struct bs_cfg *c)
{
	const struct bs_dev *dev = &c->die->dev;
	const u32 *cfg = dev->cfg;
	bool is_high = false;
	int ret = 0;
	int err = 0;
	int i;

	for (i = 0; i < PCI_STD_NUM_BARS; i++) {
		u32 val = cfg[BAR_REG(i) / 4];

		if (!is_lost(dev, is_high ? i - 1 : i))
			err = settle_reg(c, BAR_REG(i), val,
					 is_high ? ~0u : BS_BAR_MASK);
		ret = ret ?: err;
		is_high = !is_high && is_64bit_bar(val);
	}
	if (!is_lost(dev, PCI_ROM_RESOURCE))
		err = settle_reg(c, PCI_ROM_ADDRESS, cfg[PCI_ROM_ADDRESS / 4],
				 ROM_MASK);
	ret = ret ?: err;
	err = settle_reg(c, PCI_CACHE_LINE_SIZE, cfg[PCI_CACHE_LINE_SIZE / 4],
			 TIMERS_MASK);
	ret = ret ?: err;
	err = settle_reg(c, PCI_INTERRUPT_LINE, cfg[PCI_INTERRUPT_LINE / 4],
			 INTERRUPT_LINE_MASK);
	return ret ?: err;
}

/* Decode stays off if a BAR is not where it was. */
int bs_cfg_restore_command(const struct bs_cfg *c)
{
	struct bs_dev *dev = &c->die->dev;
	u16 command = dev->cfg[PCI_COMMAND / 4];

	if (dev->lost)
		command &= ~(PCI_COMMAND_MEMORY | PCI_COMMAND_IO);
	return write_command(c, dev, command, COMMAND_MASK);
}
