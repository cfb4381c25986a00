/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "owner/worker/ranges.h"

#include <stdlib.h>

struct range *ranges_find(struct range *list, uint64_t key)
{
	while (list && list->key != key)
		list = list->next;
	return list;
}

static CUresult begin(struct range **list, const struct wire_map *map,
		      struct range **out)
{
	struct range *r = calloc(1, sizeof(*r));

	if (!r)
		return CUDA_ERROR_OUT_OF_MEMORY;
	r->key = map->key;
	r->next = *list;
	*list = r;
	*out = r;
	return cuda_range_reserve(&r->mem, map->bytes);
}

static void drop(struct range **list, uint64_t key)
{
	struct range *r;

	while ((r = *list) && r->key != key)
		list = &r->next;
	if (!r)
		return;
	*list = r->next;
	cuda_range_end(&r->mem);
	free(r);
}

CUresult ranges_more(struct range **list, CUdevice dev,
		     const struct wire_map *map, const int *fds,
		     const char **call)
{
	struct range *r = ranges_find(*list, map->key);
	CUresult err = CUDA_SUCCESS;

	*call = "cuMemAddressReserve";
	if (!r)
		err = begin(list, map, &r);
	for (unsigned int i = 0; !err && i < map->n; i++)
		err = cuda_range_add(&r->mem, fds[i], map->len[i]);
	if (!err && r->mem.at == r->mem.bytes)
		err = cuda_range_allow(&r->mem, dev, CU_MEM_ACCESS_READWRITE);
	if (!err)
		return CUDA_SUCCESS;
	if (r && r->mem.call)
		*call = r->mem.call;
	drop(list, map->key);
	return err;
}

void ranges_end(struct range **list)
{
	struct range *r;

	while ((r = *list)) {
		*list = r->next;
		cuda_range_end(&r->mem);
		free(r);
	}
}
