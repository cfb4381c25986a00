/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A GK210 die as seen over PCI: configuration space, registers, memory.
 *
 * Register facts: nouveau and envytools (PMC, PBUS, PRAMIN); configuration
 * space: what lspci shows of a Tesla K80 after power-on.
 */
#ifndef DIE_H
#define DIE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "../guest/mod/gk210.h"
#include "vfu.h"

#define DIE_CONFIG_BYTES 4096u
#define DIE_BAR0_BYTES   (16ull << 20)
#define DIE_BAR1_BYTES   (16ull << 30)
#define DIE_BAR3_BYTES   (32ull << 20)
#define DIE_VRAM_BYTES   (12ull << 30) /* memory behind BAR1 */

#define CONFIG_READS_AS_GONE 0xff

/**
 * struct config - configuration space with the writable bits of each byte
 * @val: what a read gives
 * @rw:  bits a write sets
 * @w1c: bits a write of one clears
 */
struct config {
	uint8_t val[DIE_CONFIG_BYTES];
	uint8_t rw[DIE_CONFIG_BYTES];
	uint8_t w1c[DIE_CONFIG_BYTES];
};

/** config_power_on() - die @id as after power-on or a bus reset: nothing is
 * assigned */
void config_power_on(struct config *cfg, uint32_t id);

/** config_write() - apply a write of @n bytes at @off to the writable bits */
void config_write(struct config *cfg, uint64_t off, const void *buf, uint32_t n);

/** config_in_d0() - power state is D0: registers and memory answer */
bool config_in_d0(const struct config *cfg);

/**
 * struct faults - what was ordered; all zero is a healthy die
 * @gone:        reads all-ones, takes no write; BAR1's memory stays reachable,
 *               for it is mapped into the client
 * @gone_after:  becomes gone when so many register reads have been answered
 * @ignore_off:  writes to this configuration register have no effect
 * @ignore:      whether @ignore_off counts
 * @stuck_reset: gone after the next bus reset
 * @late_ms:     gone for so long after each bus reset
 * @slow_us:     what each register read takes on top
 * @is_virtual:  BAR1 is through the GPU's MMU after a reset too
 * @uninit:      memory controller not set up: PRAMIN does not show VRAM
 * @forget:      a bus reset clears VRAM
 * @cold:        a bus reset leaves the memory untrained, as on a real card
 * @mute:        registers read all-ones until so many bus resets have been
 * @no_window:   PRAMIN's window register reads GK_COLD_WORD; writes work
 * @stuck_mode:  BAR1's mode cannot be written
 */
struct faults {
	bool gone;
	uint64_t gone_after;
	bool ignore;
	uint32_t ignore_off;
	bool stuck_reset;
	unsigned int late_ms;
	unsigned int slow_us;
	bool is_virtual;
	bool uninit;
	bool forget;
	bool cold;
	unsigned int mute;
	bool no_window;
	bool stuck_mode;
};

struct die {
	struct vfu_dev dev; /* immutable */
	char name[16]; /* immutable */
	unsigned int id; /* immutable */
	int vram_fd; /* immutable; sparse, the size of BAR1 */
	pthread_mutex_t lock;
	struct config cfg; /* under lock, and all below */
	uint32_t *bar0; /* the registers, a sparse mapping */
	struct faults faults;
	int64_t back_at_ms; /* clock at which a late die answers again */
	bool is_untrained; /* no memory until a driver trains it */
	unsigned int train_step; /* how far the driver's sequence has come */
	uint64_t resets;
	uint64_t trainings;
	uint64_t window_writes; /* to PRAMIN's window register */
	uint64_t pramin_writes;
	uint64_t config_writes;
};

/**
 * die_open() - set up a die
 * @die:  zeroed
 * @id:   number, for names
 * @vram: file for the memory behind BAR1, made if missing
 */
void die_open(struct die *die, unsigned int id, const char *vram);

/**
 * die_untrain() - the memory is not there: every read gives GK_COLD_WORD
 *
 * PRAMIN gives it everywhere. BAR1 is mapped into the client, so it gives it
 * in the first and the last MiB of the memory, and a write there stays until
 * the training throws everything away. Caller holds die->lock.
 */
void die_untrain(struct die *die);

/** die_train() - memory from now on, all zeroes; caller holds die->lock */
void die_train(struct die *die);

/** die_gone() - reads all-ones just now; caller holds die->lock */
bool die_gone(struct die *die);

/**
 * regs_read() - read of BAR0; caller holds die->lock
 * regs_write() - write of BAR0; caller holds die->lock
 *
 * Return: 0, or EIO if the memory file fails.
 */
int regs_read(struct die *die, uint64_t off, void *buf, uint32_t n);
int regs_write(struct die *die, uint64_t off, const void *buf, uint32_t n);

/** regs_power_on() - initial registers; caller holds die->lock */
void regs_power_on(struct die *die);

/** regs_set_virtual() - BAR1 through the GPU's MMU; caller holds die->lock */
void regs_set_virtual(struct die *die, bool on);

#endif /* DIE_H */
