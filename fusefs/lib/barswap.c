// SPDX-License-Identifier: GPL-2.0-or-later
/* The API: argument checks, handles, and the choice of a device. */
#include "lib/barswap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/context.h"
#include "lib/why.h"

#define DEFAULT_DEVICE "/dev/bar_swap"
#define SIM_NAME       "sim"
#define ALL_FLAGS \
	(BS_FORCE_SBR | BS_LEASE | BS_NOWAIT | BS_FORCE | BS_DRIVER_MEM)

/* 0, -EINVAL or -ENODEV */
static int check_die(const bs_context *ctx, int die_id)
{
	if (!ctx)
		return -EINVAL;
	if (die_id < 0 || (unsigned int)die_id >= ctx->n_dies)
		return -ENODEV;
	return 0;
}

static int open_device(const char *device, struct bs_dev **dev)
{
	size_t sim_len = strlen(SIM_NAME);

	if (!strcmp(device, SIM_NAME))
		return dev_sim_open("", dev);
	if (!strncmp(device, SIM_NAME ":", sim_len + 1))
		return dev_sim_open(device + sim_len + 1, dev);
	return dev_module_open(device, dev);
}

static int context_refresh(bs_context *ctx)
{
	struct bs_dev_slot slot;
	int ret = ctx->dev->ops->query(ctx->dev, true, &slot);

	if (ret)
		return ret;
	ctx->n_dies = slot.n_dies;
	ctx->n_slots = slot.n_slots;
	return 0;
}

const char *bs_version(void)
{
	return BS_LIB_VERSION;
}

/* For programs that know only bs_acquire() and bs_release(). */
static unsigned int flags_of_environment(void)
{
	const char *force = secure_getenv("BARSWAP_FORCE");

	return force && !strcmp(force, "1") ? BS_FORCE : 0;
}

bs_context *bs_init(void)
{
	const char *device = secure_getenv("BARSWAP_DEVICE");

	return bs_init_device(device ? device : DEFAULT_DEVICE);
}

bs_context *bs_init_device(const char *device)
{
	bs_context *ctx;
	int ret;

	why_clear();
	if (!device) {
		errno = EINVAL;
		return NULL;
	}
	ctx = calloc(1, sizeof(*ctx));
	if (!ctx)
		return NULL;
	pthread_mutex_init(&ctx->lock, NULL);
	ctx->flags = flags_of_environment();
	ctx->lease_die = -1;
	ret = open_device(device, &ctx->dev);
	if (ret)
		goto err_free;
	ret = context_refresh(ctx);
	if (ret)
		goto err_close;
	return ctx;

err_close:
	ctx->dev->ops->close(ctx->dev);
err_free:
	pthread_mutex_destroy(&ctx->lock);
	free(ctx);
	errno = -ret;
	return NULL;
}

void bs_free(bs_context *ctx)
{
	if (!ctx)
		return;
	ctx->dev->ops->close(ctx->dev);
	pthread_mutex_destroy(&ctx->lock);
	free(ctx);
}

uint32_t bs_num_dies(const bs_context *ctx)
{
	return ctx ? ctx->n_dies : 0;
}

uint32_t bs_num_slots(const bs_context *ctx)
{
	return ctx ? ctx->n_slots : 0;
}

static int query_active(const bs_context *ctx)
{
	struct bs_dev_slot slot;

	if (ctx->dev->ops->query(ctx->dev, false, &slot))
		return -1;
	return slot.active;
}

int bs_is_mapped(const bs_context *ctx, int die_id)
{
	if (check_die(ctx, die_id))
		return 0;
	return query_active(ctx) == die_id;
}

int bs_active_die(bs_context *ctx)
{
	return ctx ? query_active(ctx) : -1;
}

int bs_refresh(bs_context *ctx)
{
	int ret = ctx ? context_refresh(ctx) : -EINVAL;

	if (!ret)
		return 0;
	errno = -ret;
	return -1;
}

/* A handle without memory is still good: the aperture is programmed. */
static void fill_gpu(bs_context *ctx, int die_id,
		     const struct bs_dev_bar1 *bar1, bs_gpu *gpu)
{
	const struct bs_dev_ops *ops = ctx->dev->ops;

	*gpu = (bs_gpu){
		.die_id = die_id,
		.bar1_addr = bar1->addr,
		.bar1_size = bar1->size,
		.mem_fd = ops->mem_fd(ctx->dev, die_id),
	};
	if (ops->map(ctx->dev, die_id, &gpu->vram, &gpu->vram_mapped_size)) {
		gpu->vram = NULL;
		gpu->vram_mapped_size = 0;
	}
}

int bs_set_flags(bs_context *ctx, unsigned int flags)
{
	if (!ctx || flags & ~BS_FORCE)
		return -EINVAL;
	ctx->flags = flags;
	return 0;
}

static void count_handle(bs_context *ctx, int die_id, int change)
{
	pthread_mutex_lock(&ctx->lock);
	ctx->n_handles[die_id] += (unsigned int)change;
	pthread_mutex_unlock(&ctx->lock);
}

/* What a successful acquire means for those that follow. */
static void note_acquired(bs_context *ctx, int die_id, unsigned int flags,
			  bool has_handle)
{
	if (flags & BS_DRIVER_MEM)
		ctx->sees_driver_mem = true;
	pthread_mutex_lock(&ctx->lock);
	if (flags & BS_LEASE && !has_handle)
		ctx->lease_die = die_id;
	else if (ctx->lease_die != die_id)
		ctx->lease_die = -1;
	pthread_mutex_unlock(&ctx->lock);
}

int bs_acquire_flags(bs_context *ctx, int die_id, unsigned int flags, bs_gpu **gpu)
{
	struct bs_dev_bar1 bar1;
	bs_gpu *new_gpu = NULL;
	int ret = check_die(ctx, die_id);

	if (ret)
		return ret;
	if (flags & ~ALL_FLAGS)
		return -EINVAL;
	/* before the swap: lack of memory must not cost the slot's owner */
	if (gpu) {
		new_gpu = malloc(sizeof(*new_gpu));
		if (!new_gpu)
			return -ENOMEM;
		/* and so that a release beside us does not take it out */
		count_handle(ctx, die_id, 1);
	}
	ret = ctx->dev->ops->acquire(ctx->dev, die_id, flags, &bar1);
	if (ret) {
		if (gpu)
			count_handle(ctx, die_id, -1);
		free(new_gpu);
		return ret;
	}
	note_acquired(ctx, die_id, flags, gpu);
	if (gpu) {
		fill_gpu(ctx, die_id, &bar1, new_gpu);
		*gpu = new_gpu;
	}
	return 0;
}

bs_gpu *bs_acquire(bs_context *ctx, int die_id)
{
	bs_gpu *gpu;
	int ret = bs_acquire_flags(ctx, die_id, ctx ? ctx->flags : 0, &gpu);

	if (!ret)
		return gpu;
	errno = -ret;
	return NULL;
}

/* Caller holds the lock. Its lease, if there is one, ends with it. */
static int release_locked(bs_context *ctx, int die_id, unsigned int flags)
{
	int ret = ctx->dev->ops->release(ctx->dev, die_id, flags);

	if (!ret && ctx->lease_die == die_id)
		ctx->lease_die = -1;
	return ret;
}

void bs_release(bs_context *ctx, bs_gpu *gpu)
{
	int saved_errno = errno;
	int die_id, ret;

	if (!gpu)
		return;
	die_id = gpu->die_id;
	free(gpu);
	ret = check_die(ctx, die_id);
	if (!ret) {
		pthread_mutex_lock(&ctx->lock);
		if (ctx->n_handles[die_id])
			ctx->n_handles[die_id]--;
		if (!ctx->n_handles[die_id] && ctx->lease_die != die_id)
			ret = release_locked(ctx, die_id, ctx->flags);
		pthread_mutex_unlock(&ctx->lock);
	}
	errno = ret ? -ret : saved_errno;
}

int bs_release_flags(bs_context *ctx, int die_id, unsigned int flags)
{
	int ret = check_die(ctx, die_id);

	if (ret)
		return ret;
	if (flags & ~BS_FORCE)
		return -EINVAL;
	pthread_mutex_lock(&ctx->lock);
	ret = release_locked(ctx, die_id, flags);
	pthread_mutex_unlock(&ctx->lock);
	return ret;
}

int bs_release_die(bs_context *ctx, int die_id)
{
	return bs_release_flags(ctx, die_id, ctx ? ctx->flags : 0);
}

int bs_unlease(bs_context *ctx, int die_id)
{
	int ret = check_die(ctx, die_id);

	if (ret)
		return ret;
	pthread_mutex_lock(&ctx->lock);
	ret = ctx->dev->ops->unlease(ctx->dev, die_id);
	if (!ret && ctx->lease_die == die_id)
		ctx->lease_die = -1;
	pthread_mutex_unlock(&ctx->lock);
	return ret;
}

int bs_check(bs_context *ctx, int die_id, struct bs_health *health)
{
	int ret = check_die(ctx, die_id);

	if (ret)
		return ret;
	return health ? ctx->dev->ops->check(ctx->dev, die_id, health) : -EINVAL;
}

int bs_die_info(bs_context *ctx, int die_id, struct bs_info *info)
{
	struct bs_info found = { 0 };
	int ret = check_die(ctx, die_id);

	if (ret)
		return ret;
	if (!info)
		return -EINVAL;
	ret = ctx->dev->ops->info(ctx->dev, die_id, &found);
	if (!ret)
		*info = found;
	return ret;
}

int bs_vram(bs_context *ctx, int die_id, void **addr, size_t *len)
{
	int ret = check_die(ctx, die_id);

	if (ret)
		return ret;
	if (!addr || !len)
		return -EINVAL;
	return ctx->dev->ops->map(ctx->dev, die_id, addr, len);
}

int bs_zero(bs_context *ctx, int die_id, uint64_t off, uint64_t len)
{
	struct bs_info info = { 0 };
	int ret = check_die(ctx, die_id);

	if (ret)
		return ret;
	if (!ctx->dev->ops->zero)
		return -EOPNOTSUPP;
	ret = ctx->dev->ops->info(ctx->dev, die_id, &info);
	if (ret)
		return ret;
	info.vram_bytes += info.resmem_bytes;
	if (off > info.vram_bytes || len > info.vram_bytes - off)
		return -EINVAL;
	return len ? ctx->dev->ops->zero(ctx->dev, die_id, off, len) : 0;
}

int bs_poll_fd(const bs_context *ctx)
{
	if (!ctx || !ctx->dev->ops->poll_fd)
		return -1;
	return ctx->dev->ops->poll_fd(ctx->dev);
}

int bs_lease_fd(const bs_context *ctx)
{
	if (!ctx || !ctx->dev->ops->lease_fd)
		return -1;
	return ctx->dev->ops->lease_fd(ctx->dev);
}

const char *bs_device_name(const bs_context *ctx)
{
	return ctx ? ctx->dev->ops->name : "";
}

int bs_sim_order(bs_context *ctx, const char *order)
{
	if (!ctx || !order)
		return -EINVAL;
	if (!ctx->dev->ops->order)
		return -EOPNOTSUPP;
	return ctx->dev->ops->order(ctx->dev, order);
}
