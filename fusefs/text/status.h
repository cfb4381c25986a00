/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text of the status files: `key value` lines in a fixed order.
 */
#ifndef K80FS_STATUS_H
#define K80FS_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STATUS_MAX 2048 /* bytes the longest text needs, NUL included */

/**
 * struct status_die - what dieN/status shows; strings may be "" (shown: none)
 * @state:     active, idle, dead, no_vram, unusable
 * @hold:      none, pin, lease; @holder: "PID COMM"
 * @bar0:      addresses while it is in the slot, else 0 (shown: none)
 * @bar1_mode: physical, virtual, unknown
 * @progress:  of a `zero` that runs: "DONE/TOTAL"
 * @name:      of a device that its driver owns; NULL: this and the three after
 *             it are not shown
 * @shows_mem: this and the four after it are shown: @mem_why: why there is no
 * mem folder, NULL if there is; @mem_files, @mem_bytes: what is in it;
 *             @mem_lost: files that were gone at start
 * @bar1_cache: wc, uc, none
 * @driver_version: 1000 * major + 10 * minor
 */
struct status_die {
	unsigned int die;
	const char *bdf;
	uint16_t vendor, device, subvendor, subdevice;
	const char *state;
	bool in_slot;
	const char *hold;
	const char *holder;
	uint64_t vram_bytes, resmem_bytes;
	uint64_t bar0, bar1, bar1_bytes, bar3;
	const char *bar1_mode;
	const char *driver;
	bool alive;
	uint64_t generation, resets, acquires, swaps_in, swaps_out;
	uint64_t last_swap_ns, read_bytes, written_bytes;
	uint64_t waiters;
	const char *progress;
	const char *name;
	unsigned int driver_version;
	uint64_t memory_free, memory_total;
	bool shows_mem;
	const char *mem_why;
	uint64_t mem_files, mem_bytes, mem_lost;
	const char *bar1_cache;
	const char *last_error;
};

/**
 * struct status_root - what the status of the whole tree shows
 * @active:       die in the slot, -1 for none
 * @slot_bar0:    slot addresses, 0 when there is no slot (shown: none)
 * @timeslice_ms: 0 for auto
 * @mem_keeper:   "PID SOCKET" of who holds the memory of files; NULL: not shown
 * @mem_share:    socket that programs get it from; NULL: not shown
 */
struct status_root {
	const char *version;
	const char *backend;
	const char *transport;
	const char *copy;
	unsigned int n_dies, n_slots;
	int active;
	uint64_t slot_bar0, slot_bar1, slot_bar3;
	uint32_t timeslice_ms;
	uint64_t swaps;
	const char *mem_keeper;
	const char *mem_share;
	const char *last_error;
};

/**
 * status_die_text() - render into @buf, STATUS_MAX bytes
 * Return: length without the NUL.
 */
size_t status_die_text(const struct status_die *s, char *buf);

/** status_root_text() - the same for the root */
size_t status_root_text(const struct status_root *s, char *buf);

#endif /* K80FS_STATUS_H */
