// SPDX-License-Identifier: GPL-2.0-or-later
#include "bg.h"

#include <errno.h>
#include <linux/pci_regs.h>
#include <stdatomic.h>
#include <string.h>

#include "log.h"

#define BG_CONFIG_BYTES 4096u
#define BG_BAR0_BYTES   (128ull << 20) /* under BAR0 and BAR3 of the slot */
#define BG_BAR2_BYTES   (16ull << 30) /* under BAR1 of the slot */

static uint8_t config[BG_CONFIG_BYTES]; /* only the server thread writes */
static atomic_uint_fast64_t reads, writes;

static int bg_read(struct vfu_dev *dev, uint32_t region, uint64_t off,
		   void *buf, uint32_t n)
{
	(void)dev;
	if (region == VFU_CONFIG) {
		memcpy(buf, config + off, n);
		return 0;
	}
	reads++;
	memset(buf, 0xff, n);
	return 0;
}

static int bg_write(struct vfu_dev *dev, uint32_t region, uint64_t off,
		    const void *buf, uint32_t n)
{
	uint64_t val = 0;

	if (region == VFU_CONFIG) {
		memcpy(config + off, buf, n);
		return 0;
	}
	writes++;
	memcpy(&val, buf, n < sizeof(val) ? n : sizeof(val));
	log_line("%s: STRAY WRITE bar%u+%llx/%u <- %llx", dev->name, region,
		 (unsigned long long)off, n, (unsigned long long)val);
	return 0;
}

static void bg_reset(struct vfu_dev *dev)
{
	(void)dev;
	memset(config, 0, sizeof(config));
	config[PCI_VENDOR_ID] = 0x34; /* 1234:11e9, QEMU's range for tests */
	config[PCI_VENDOR_ID + 1] = 0x12;
	config[PCI_DEVICE_ID] = 0xe9;
	config[PCI_DEVICE_ID + 1] = 0x11;
	config[PCI_CLASS_DEVICE + 1] = 0xff;
	config[PCI_BASE_ADDRESS_2] =
		PCI_BASE_ADDRESS_MEM_TYPE_64 | PCI_BASE_ADDRESS_MEM_PREFETCH;
}

static const struct vfu_ops bg_ops = {
	.read = bg_read,
	.write = bg_write,
	.reset = bg_reset,
};

static struct vfu_dev bg = {
	.name = "bg",
	.ops = &bg_ops,
	.region = { [0] = { BG_BAR0_BYTES, -1 },
		    [2] = { BG_BAR2_BYTES, -1 },
		    [VFU_CONFIG] = { BG_CONFIG_BYTES, -1 } },
};

struct vfu_dev *bg_dev(void)
{
	bg_reset(&bg);
	return &bg;
}

void bg_strays(uint64_t *r, uint64_t *w)
{
	*r = reads;
	*w = writes;
}
