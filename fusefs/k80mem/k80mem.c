/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "k80mem/k80mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cuda/cuda.h"
#include "cuda/range.h"
#include "k80mem/ask.h"
#include "k80mem/error.h"

/**
 * struct k80_map - a mapping
 * @dev: the current context's device, with its @uuid
 * @len: of the file
 */
struct k80_map {
	CUdevice dev;
	unsigned int flags;
	uint8_t uuid[K80_UUID_LEN];
	uint64_t len;
	struct cuda_range range;
};

static int refused(const char *call, CUresult err)
{
	int ret = cuda_errno(err);

	return k80mem_fail(ret, "%s: %s", call, cuda_name(err));
}

/* ---- the device ------------------------------------------------------------ */

static int open_cuda(void)
{
	char why[256];
	int ret = cuda_open(why, sizeof(why));

	if (ret)
		return k80mem_fail(ret, "%s", why);
	if (!cuda_has_vmm())
		return k80mem_fail(
			-ENOSYS,
			"the driver cannot map shared memory; install a newer one");
	return 0;
}

static int uuid_of(CUdevice dev, uint8_t uuid[K80_UUID_LEN])
{
	struct cuda_uuid found;
	CUresult err = cuda.cuDeviceGetUuid_v2(&found, dev);

	if (err)
		return refused("cuDeviceGetUuid", err);
	memcpy(uuid, found.bytes, K80_UUID_LEN);
	return 0;
}

/* Of the context that is current. */
static int current_device(struct k80_map *map)
{
	CUresult err = cuda.cuCtxGetDevice(&map->dev);

	if (err)
		return k80mem_fail(
			-ENXIO, "no CUDA context is current in this thread (%s)",
			cuda_name(err));
	return uuid_of(map->dev, map->uuid);
}

static int check_device(const struct k80_map *map,
			const uint8_t uuid[K80_UUID_LEN])
{
	char file[ASK_UUID_TEXT], here[ASK_UUID_TEXT];

	if (!memcmp(map->uuid, uuid, K80_UUID_LEN))
		return 0;
	ask_uuid(uuid, file);
	ask_uuid(map->uuid, here);
	return k80mem_fail(-EXDEV, "the file is on %s, the current context on %s",
			   file, here);
}

int k80_device(int fd, int *ordinal)
{
	struct k80_where where;
	char text[ASK_UUID_TEXT];
	int count = 0, ret;
	CUresult err;

	k80mem_clear();
	ret = ask_where(fd, &where);
	if (!ret)
		ret = open_cuda();
	if (ret)
		return ret;
	err = cuda.cuDeviceGetCount(&count);
	if (err)
		return refused("cuDeviceGetCount", err);
	for (int i = 0; i < count; i++) {
		uint8_t uuid[K80_UUID_LEN];
		CUdevice dev;

		err = cuda.cuDeviceGet(&dev, i);
		if (err)
			return refused("cuDeviceGet", err);
		ret = uuid_of(dev, uuid);
		if (ret)
			return ret;
		if (memcmp(uuid, where.uuid, K80_UUID_LEN) != 0)
			continue;
		*ordinal = i;
		return 0;
	}
	ask_uuid(where.uuid, text);
	return k80mem_fail(
		-ENODEV,
		"the file is on %s, which this process does not see (CUDA_VISIBLE_DEVICES)",
		text);
}

/* ---- the mapping ----------------------------------------------------------- */

static int begin(void *arg, const struct k80_head *head)
{
	struct k80_map *map = arg;
	CUresult err;
	int ret = check_device(map, head->uuid);

	if (ret)
		return ret;
	map->len = head->len;
	if (!head->n_chunks)
		return 0;
	err = cuda_range_reserve(&map->range, head->bytes);
	return err ? refused(map->range.call, err) : 0;
}

static int take(void *arg, uint64_t len, int fd)
{
	struct k80_map *map = arg;
	CUresult err = cuda_range_add(&map->range, fd, len);

	return err ? refused(map->range.call, err) : 0;
}

static int allow(struct k80_map *map)
{
	CUresult err = CUDA_SUCCESS;

	if (map->range.n)
		err = cuda_range_allow(&map->range, map->dev,
				       map->flags & K80_MAP_WRITE
					       ? CU_MEM_ACCESS_READWRITE
					       : CU_MEM_ACCESS_READ);
	return err ? refused(map->range.call, err) : 0;
}

int k80_map_fd(int fd, unsigned int flags, struct k80_map **out)
{
	struct ask_taker taker = { .begin = begin, .chunk = take };
	struct k80_share share;
	struct k80_map *map;
	int ret;

	k80mem_clear();
	if (flags & ~K80_MAP_WRITE)
		return k80mem_fail(-EINVAL, "unknown flags 0x%x", flags);
	map = calloc(1, sizeof(*map));
	if (!map)
		return k80mem_fail(-ENOMEM, "no memory");
	map->flags = flags;
	taker.arg = map;
	ret = open_cuda();
	if (!ret)
		ret = current_device(map);
	if (!ret)
		ret = ask_token(fd, &share);
	if (!ret)
		ret = check_device(map, share.uuid);
	if (!ret)
		ret = ask_chunks(&share, &taker);
	if (!ret)
		ret = allow(map);
	if (ret)
		k80_unmap(map);
	else
		*out = map;
	return ret;
}

int k80_map_path(const char *path, unsigned int flags, struct k80_map **out)
{
	int fd, ret;

	k80mem_clear();
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return k80mem_fail(-errno, "%s: %s", path, strerror(errno));
	ret = k80_map_fd(fd, flags, out);
	close(fd);
	return ret;
}

void k80_unmap(struct k80_map *map)
{
	if (!map)
		return;
	cuda_range_end(&map->range);
	free(map);
}

uint64_t k80_map_ptr(const struct k80_map *map)
{
	return map->range.ptr;
}

size_t k80_map_len(const struct k80_map *map)
{
	return (size_t)map->len;
}
