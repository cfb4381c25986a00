/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fuse/metrics.h"

#include <string.h>

#include "base/trace.h"
#include "fuse/fs.h"
#include "mem/mem.h"
#include "text/metrics.h"

static void collect(struct fs *fs, unsigned int die, uint64_t slot_ns,
		    struct metrics_die *out)
{
	struct backend_die *d = &fs->be.dies[die];
	struct sched_view view;
	struct mem_view mem = { 0 };
	struct bs_info info;

	if (backend_info(&fs->be, die, &info))
		memset(&info, 0, sizeof(info));
	sched_view(fs->io.sched, die, &view);
	if (fs->mem)
		mem_view(fs->mem, die, &mem);
	*out = (struct metrics_die){
		.in_slot = fs->be.ops->has_slot &&
			   (info.state == BS_STATE_ACTIVE ||
			    info.state == BS_STATE_NO_VRAM),
		.alive = info.alive,
		.vram_bytes = d->vram_bytes,
		.swaps = info.swaps_in,
		.resets = info.resets,
		.read_bytes = d->read_bytes,
		.written_bytes = d->written_bytes,
		.waits = view.waits,
		.wait_ns = view.wait_ns,
		.waiting = view.waiters,
		.errors = d->errors,
		.lost = d->lost,
		.mem_files = mem.files,
		.mem_bytes = mem.bytes,
		.slot_ns = slot_ns,
	};
}

size_t fs_metrics_text(struct fs *fs, char *buf)
{
	uint64_t counts[METRICS_BUCKETS + 1];
	struct metrics_die dies[BACKEND_MAX_DIES];
	uint64_t slot_ns[TRACE_MAX_DIES];
	struct metrics m = {
		.n_dies = fs->be.n_dies,
		.dies = dies,
		.swap_counts = counts,
		.swap_ns = fs->be.swap_ns,
	};

	for (unsigned int i = 0; i <= METRICS_BUCKETS; i++)
		counts[i] = fs->be.swap_counts[i];
	m.age_ns = trace_slot_times(slot_ns) - fs->start_ns;
	for (unsigned int die = 0; die < fs->be.n_dies; die++)
		collect(fs, die, slot_ns[die], &dies[die]);
	return metrics_text(&m, buf);
}
