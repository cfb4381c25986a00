// SPDX-License-Identifier: GPL-2.0-or-later
/* Configuration space of a GK210: values, writable bits, write-one-to-clear. */
#include <linux/pci_regs.h>
#include <string.h>

#include "die.h"

#define CAP_PM   0x60
#define CAP_MSI  0x68
#define CAP_EXP  0x78
#define HDA_CTRL 0x488 /* vendor specific; Linux's nvidia quirk sets a bit */

static void set8(struct config *cfg, unsigned int off, uint8_t val, uint8_t rw)
{
	cfg->val[off] = val;
	cfg->rw[off] = rw;
}

static void set16(struct config *cfg, unsigned int off, uint16_t val, uint16_t rw)
{
	set8(cfg, off, val & 0xff, rw & 0xff);
	set8(cfg, off + 1, val >> 8, rw >> 8);
}

static void set32(struct config *cfg, unsigned int off, uint32_t val, uint32_t rw)
{
	set16(cfg, off, val & 0xffff, rw & 0xffff);
	set16(cfg, off + 2, val >> 16, rw >> 16);
}

static void set_bar64(struct config *cfg, unsigned int off, uint64_t size)
{
	set32(cfg, off,
	      PCI_BASE_ADDRESS_MEM_TYPE_64 | PCI_BASE_ADDRESS_MEM_PREFETCH,
	      (uint32_t)-size);
	set32(cfg, off + 4, 0, -size >> 32);
}

static void set_header(struct config *cfg)
{
	set16(cfg, PCI_VENDOR_ID, 0x10de, 0);
	set16(cfg, PCI_DEVICE_ID, 0x102d, 0);
	set16(cfg, PCI_COMMAND, 0,
	      PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER | PCI_COMMAND_PARITY |
		      PCI_COMMAND_SERR | PCI_COMMAND_INTX_DISABLE);
	set16(cfg, PCI_STATUS, PCI_STATUS_CAP_LIST, 0);
	cfg->w1c[PCI_STATUS + 1] = 0xf9; /* error bits 8, 11-15 */
	set8(cfg, PCI_REVISION_ID, 0xa1, 0);
	set16(cfg, PCI_CLASS_DEVICE, 0x0302, 0);
	set8(cfg, PCI_CACHE_LINE_SIZE, 0, 0xff);
	set32(cfg, PCI_BASE_ADDRESS_0, 0, (uint32_t)-DIE_BAR0_BYTES);
	set_bar64(cfg, PCI_BASE_ADDRESS_1, DIE_BAR1_BYTES);
	set_bar64(cfg, PCI_BASE_ADDRESS_3, DIE_BAR3_BYTES);
	set16(cfg, PCI_SUBSYSTEM_VENDOR_ID, 0x10de, 0);
	set16(cfg, PCI_SUBSYSTEM_ID, 0x106c, 0);
	set8(cfg, PCI_CAPABILITY_LIST, CAP_PM, 0);
	set8(cfg, PCI_INTERRUPT_LINE, 0, 0xff);
	set8(cfg, PCI_INTERRUPT_PIN, 1, 0);
}

static void set_caps(struct config *cfg)
{
	set16(cfg, CAP_PM, PCI_CAP_ID_PM | CAP_MSI << 8, 0);
	set16(cfg, CAP_PM + PCI_PM_PMC, 3, 0);
	set16(cfg, CAP_PM + PCI_PM_CTRL, PCI_PM_CTRL_NO_SOFT_RESET,
	      PCI_PM_CTRL_STATE_MASK);

	set16(cfg, CAP_MSI, PCI_CAP_ID_MSI | CAP_EXP << 8, 0);
	set16(cfg, CAP_MSI + PCI_MSI_FLAGS, PCI_MSI_FLAGS_64BIT,
	      PCI_MSI_FLAGS_ENABLE);
	set32(cfg, CAP_MSI + PCI_MSI_ADDRESS_LO, 0, 0xfffffffc);
	set32(cfg, CAP_MSI + PCI_MSI_ADDRESS_HI, 0, 0xffffffff);
	set16(cfg, CAP_MSI + PCI_MSI_DATA_64, 0, 0xffff);

	set16(cfg, CAP_EXP, PCI_CAP_ID_EXP, 0);
	set16(cfg, CAP_EXP + PCI_EXP_FLAGS, 2, 0); /* version 2, endpoint */
	set32(cfg, CAP_EXP + PCI_EXP_DEVCAP, 0x8de1, 0); /* no FLR */
	set16(cfg, CAP_EXP + PCI_EXP_DEVCTL, 0x2910, 0x7fff);
	cfg->w1c[CAP_EXP + PCI_EXP_DEVSTA] = 0x0f;
	set32(cfg, CAP_EXP + PCI_EXP_LNKCAP, 0x0103, 0); /* x16, 8 GT/s */
	set16(cfg, CAP_EXP + PCI_EXP_LNKCTL, 0, 0x0fdb);
	set16(cfg, CAP_EXP + PCI_EXP_LNKSTA, 0x1103, 0);
	set16(cfg, CAP_EXP + PCI_EXP_DEVCTL2, 0, 0x7f1f);
	set16(cfg, CAP_EXP + PCI_EXP_LNKCTL2, 3, 0xffff);
	set32(cfg, HDA_CTRL, 0, 0xffffffff);
}

void config_power_on(struct config *cfg, uint32_t id)
{
	memset(cfg, 0, sizeof(*cfg));
	set_header(cfg);
	set_caps(cfg);
	set32(cfg, GK_CONFIG_ID, id, 0);
}

void config_write(struct config *cfg, uint64_t off, const void *buf, uint32_t n)
{
	const uint8_t *in = buf;
	uint32_t i;

	for (i = 0; i < n; i++) {
		uint8_t *val = &cfg->val[off + i];
		uint8_t rw = cfg->rw[off + i];

		*val = (*val & ~rw) | (in[i] & rw);
		*val &= ~(in[i] & cfg->w1c[off + i]);
	}
}

bool config_in_d0(const struct config *cfg)
{
	return !(cfg->val[CAP_PM + PCI_PM_CTRL] & PCI_PM_CTRL_STATE_MASK);
}
