// SPDX-License-Identifier: GPL-2.0-or-later
/* BAR0: chip id, BAR1 mode, and PRAMIN, the 1 MiB window into VRAM. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "die.h"
#include "log.h"

#define REG_BOOT_0          0x000000 /* chip id */
#define REG_PRAMIN_BASE     0x001700 /* VRAM address >> 16 */
#define REG_BAR1_BLOCK      0x001704
#define BAR1_BLOCK_VIRTUAL  (1u << 31)
#define PRAMIN              0x700000
#define PRAMIN_BYTES        0x100000
#define PRAMIN_SHIFT        16
#define CHIP_ID_GK210       0x0f22d0a1
#define UNINITIALISED_VALUE 0xba /* of 0xbad0fbxx, as the hardware gives */

static const uint32_t training[] = GK_TRAINING;
#define TRAINING_STEPS (sizeof(training) / sizeof(*training))

static void fill_word(uint8_t *buf, uint64_t off, uint32_t word, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		buf[i] = (uint8_t)(word >> 8 * ((off + i) % 4));
}

/*
 * One PRAMIN access through the memory file, which is the very memory that
 * BAR1 shows: the file is mapped shared by the client.
 */
static int pramin(struct die *die, uint64_t off, void *rd, const void *wr,
		  uint32_t n)
{
	uint64_t base = (uint64_t)die->bar0[REG_PRAMIN_BASE / 4];
	uint64_t addr = (base << PRAMIN_SHIFT) + (off - PRAMIN);

	if (die->is_untrained) {
		if (rd)
			fill_word(rd, off, GK_COLD_WORD, n);
		return 0;
	}
	if (die->faults.uninit || addr > DIE_VRAM_BYTES - n) {
		if (rd)
			memset(rd, UNINITIALISED_VALUE, n);
		return 0;
	}
	if (rd)
		return pread(die->vram_fd, rd, n, addr) == n ? 0 : EIO;
	return pwrite(die->vram_fd, wr, n, addr) == n ? 0 : EIO;
}

static bool in_pramin(uint64_t off, uint32_t n)
{
	return off >= PRAMIN && off + n <= PRAMIN + PRAMIN_BYTES;
}

static bool read_only(uint64_t off)
{
	return off < GK_REG_ID + 4;
}

static bool is_at(uint64_t off, uint32_t n, uint64_t reg)
{
	return off <= reg && reg < off + n;
}

int regs_read(struct die *die, uint64_t off, void *buf, uint32_t n)
{
	if (die_gone(die) || die->faults.mute || !config_in_d0(&die->cfg)) {
		memset(buf, 0xff, n);
		return 0;
	}
	if (die->faults.gone_after && !--die->faults.gone_after) {
		die->faults.gone = true;
		log_line("%s: gone, as ordered", die->name);
	}
	if (in_pramin(off, n))
		return pramin(die, off, buf, NULL, n);
	if (die->faults.no_window && is_at(off, n, REG_PRAMIN_BASE)) {
		fill_word(buf, off, GK_COLD_WORD, n);
		return 0;
	}
	memcpy(buf, (uint8_t *)die->bar0 + off, n);
	return 0;
}

/* one more write to the training register: a wrong one starts again */
static void train(struct die *die, uint32_t val)
{
	if (!die->is_untrained)
		return;
	if (val != training[die->train_step]) {
		die->train_step = val == training[0];
	} else if (++die->train_step == TRAINING_STEPS) {
		die->trainings++;
		die_train(die);
	}
}

int regs_write(struct die *die, uint64_t off, const void *buf, uint32_t n)
{
	if (die_gone(die) || die->faults.mute || !config_in_d0(&die->cfg) ||
	    read_only(off))
		return 0;
	if (in_pramin(off, n)) {
		die->pramin_writes++;
		return pramin(die, off, NULL, buf, n);
	}
	if (is_at(off, n, REG_PRAMIN_BASE))
		die->window_writes++;
	if (die->faults.stuck_mode && is_at(off, n, REG_BAR1_BLOCK))
		return 0;
	memcpy((uint8_t *)die->bar0 + off, buf, n);
	if (off == GK_REG_TRAIN)
		train(die, die->bar0[GK_REG_TRAIN / 4]);
	return 0;
}

void regs_power_on(struct die *die)
{
	/* drops the pages: all registers read 0 again */
	if (madvise(die->bar0, DIE_BAR0_BYTES, MADV_DONTNEED))
		log_die("%s: madvise: %s", die->name, strerror(errno));
	die->bar0[REG_BOOT_0 / 4] = CHIP_ID_GK210;
	die->bar0[GK_REG_ID / 4] = die->id;
	/* an ordered fault outlives a reset, else no test could reset first */
	if (die->faults.is_virtual)
		die->bar0[REG_BAR1_BLOCK / 4] = BAR1_BLOCK_VIRTUAL;
}

void regs_set_virtual(struct die *die, bool on)
{
	die->faults.is_virtual = on;
	die->bar0[REG_BAR1_BLOCK / 4] = on ? BAR1_BLOCK_VIRTUAL : 0;
}
