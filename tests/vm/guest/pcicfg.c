// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pcicfg BDF OFF WIDTH [VALUE] - read or write config space (all hex)
 * pcicfg dump BYTES BDF...     - all of it, without the fields that say what
 *                                happened instead of what was set
 */
#include <err.h>
#include <linux/pci_regs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libpci.h"

#define CONFIG_MAX 4096
#define ROW        16

static uint8_t config[CONFIG_MAX];
static unsigned int size;

static unsigned int get16(unsigned int off)
{
	return config[off] | config[off + 1] << 8;
}

static void blank(unsigned int off, unsigned int n)
{
	if (off + n <= size)
		memset(config + off, 0, n);
}

/*
 * The status fields: read-only or write-one-to-clear, changed by events such
 * as a bus reset or a finished hot-plug command, and nothing to be restored.
 */
static void blank_status(void)
{
	static const uint8_t express[] = { PCI_EXP_DEVSTA, PCI_EXP_LNKSTA,
					   PCI_EXP_SLTSTA, PCI_EXP_LNKSTA2 };
	unsigned int cap = config[PCI_CAPABILITY_LIST], i;

	blank(PCI_STATUS, 2);
	if ((config[PCI_HEADER_TYPE] & 0x7f) == PCI_HEADER_TYPE_BRIDGE)
		blank(PCI_SEC_STATUS, 2);
	for (; cap; cap = config[cap + 1]) {
		if (config[cap] == PCI_CAP_ID_PM)
			config[cap + PCI_PM_CTRL + 1] &=
				~(PCI_PM_CTRL_PME_STATUS >> 8);
		if (config[cap] != PCI_CAP_ID_EXP)
			continue;
		for (i = 0; i < sizeof(express); i++)
			blank(cap + express[i], 2);
		blank(cap + PCI_EXP_RTSTA, 4);
	}
	for (cap = 0x100; size > cap && get16(cap); cap = get16(cap + 2) >> 4) {
		if (get16(cap) == PCI_EXT_CAP_ID_ERR)
			blank(cap + 4, 0x34);
		if (get16(cap + 2) >> 4 <= cap)
			break;
	}
}

static void dump(const char *bdf)
{
	unsigned int off, i;

	pci_get_all(bdf, config, size);
	blank_status();
	for (off = 0; off < size; off += ROW) {
		printf("%s %03x:", bdf, off);
		for (i = 0; i < ROW; i++)
			printf(" %02x", config[off + i]);
		putchar('\n');
	}
}

int main(int argc, char **argv)
{
	unsigned int off, width;
	int i;

	if (argc > 3 && !strcmp(argv[1], "dump")) {
		size = atoi(argv[2]);
		if (size > CONFIG_MAX)
			return 2;
		for (i = 3; i < argc; i++)
			dump(argv[i]);
		return 0;
	}
	if (argc < 4)
		errx(2, "usage: pcicfg BDF OFF WIDTH [VALUE]");
	off = strtoul(argv[2], NULL, 16);
	width = strtoul(argv[3], NULL, 16);
	if (argc > 4)
		pci_set(argv[1], off, width, strtoul(argv[4], NULL, 16));
	else
		printf("%0*x\n", (int)width * 2, pci_get(argv[1], off, width));
	return 0;
}
