/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory of files that a seat has mapped for its kernels. The seat's
 * context is current.
 */
#ifndef OWNER_WORKER_RANGES_H
#define OWNER_WORKER_RANGES_H

#include "cuda/range.h"
#include "owner/wire.h"

/** struct range - as struct wire_map says; a list of them starts as NULL */
struct range {
	struct range *next;
	uint64_t key;
	struct cuda_range mem;
};

/** ranges_find() - that of a key, or NULL */
struct range *ranges_find(struct range *list, uint64_t key);

/**
 * ranges_more() - put more chunks behind those of @map's range, or begin it
 * @dev:  uses it once it is full
 * @call: out: on failure the entry point; the range is gone then
 */
CUresult ranges_more(struct range **list, CUdevice dev,
		     const struct wire_map *map, const int *fds,
		     const char **call);

/** ranges_end() - unmap all; nothing runs */
void ranges_end(struct range **list);

#endif /* OWNER_WORKER_RANGES_H */
