/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text of the metrics file, for Prometheus: its text format, version 0.0.4
 * (prometheus.io/docs/instrumenting/exposition_formats).
 */
#ifndef K80FS_METRICS_H
#define K80FS_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define METRICS_MAX     16384 /* bytes the longest text needs, NUL included */
#define METRICS_BUCKETS 14 /* of swaps, the one without a bound not counted */

/** metrics_bucket() - 0 .. METRICS_BUCKETS: the bucket of a swap of @ns */
unsigned int metrics_bucket(uint64_t ns);

/**
 * struct metrics_die - of one die; counts since the daemon's start but for
 * @swaps and @resets, which are the device's
 * @waits:   requests that had to wait for the slot; @wait_ns: all together
 * @waiting: requests that wait now
 * @errors:  transfers that failed
 * @lost:    writes that failed after they had been answered
 * @mem_files: in its mem folder; @mem_bytes: of memory that they take
 * @slot_ns: how long it was in the slot, as far as the daemon knows
 */
struct metrics_die {
	bool in_slot, alive;
	uint64_t vram_bytes;
	uint64_t swaps, resets;
	uint64_t read_bytes, written_bytes;
	uint64_t waits, wait_ns, waiting;
	uint64_t errors, lost;
	uint64_t mem_files, mem_bytes;
	uint64_t slot_ns;
};

/**
 * struct metrics - of all
 * @swap_counts: of each bucket, METRICS_BUCKETS + 1: swaps of this daemon;
 * @swap_ns:     all together
 * @age_ns:      since the mount was made, when the rest was true
 */
struct metrics {
	unsigned int n_dies;
	const struct metrics_die *dies;
	const uint64_t *swap_counts;
	uint64_t swap_ns;
	uint64_t age_ns;
};

/**
 * metrics_text() - render into @buf, METRICS_MAX bytes
 * Return: length without the NUL.
 */
size_t metrics_text(const struct metrics *m, char *buf);

#endif /* K80FS_METRICS_H */
