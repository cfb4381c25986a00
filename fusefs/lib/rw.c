// SPDX-License-Identifier: GPL-2.0-or-later
/* bs_read() and bs_write(): a copy that is right or says why it is not. */
#include <errno.h>
#include <pthread.h>

#include "copy/copy.h"
#include "copy/guard.h"
#include "lib/barswap.h"
#include "lib/context.h"

static int guard_error;

static void init_guard(void)
{
	guard_error = guard_init();
}

/* May the memory of this die be used now, and of what generation is it? */
static int look(bs_context *ctx, int die_id, uint64_t *generation)
{
	struct bs_health health;
	int ret = bs_check(ctx, die_id, &health);

	if (ret)
		return ret;
	*generation = health.generation;
	if (!health.in_slot)
		return -ENXIO;
	if (!health.alive)
		return -EIO;
	if (!ctx->sees_driver_mem &&
	    (health.driver || health.bar1_mode == BS_MODE_VIRTUAL))
		return -EBUSY;
	return 0;
}

/* Where the memory at @off is, if all of @len bytes are inside. */
static int find(bs_context *ctx, int die_id, uint64_t off, size_t len, char **addr)
{
	struct bs_info info;
	size_t mapped;
	void *start;
	int ret = bs_die_info(ctx, die_id, &info);

	if (ret)
		return ret;
	info.vram_bytes += info.resmem_bytes;
	if (off > info.vram_bytes || len > info.vram_bytes - off)
		return -EINVAL;
	ret = bs_vram(ctx, die_id, &start, &mapped);
	if (!ret)
		*addr = (char *)start + off;
	return ret;
}

static const struct copy_ops *copy_of(const bs_context *ctx)
{
	return copy_select(ctx->dev->ops->is_wc ? COPY_MEM_WC : COPY_MEM_WB);
}

/**
 * copy_checked() - copy, and ask the die afterwards whether that was right
 * @dev: the die's side, @dst or @src
 */
static int copy_checked(bs_context *ctx, int die_id, copy_fn fn, void *dst,
			const void *src, size_t len, const void *dev)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	uint64_t before, after;
	int ret, fault;

	pthread_once(&once, init_guard);
	if (guard_error)
		return guard_error;
	ret = look(ctx, die_id, &before);
	if (ret)
		return ret;
	fault = len ? guard_copy(fn, dst, src, len, dev) : 0;
	copy_of(ctx)->fence();
	ret = look(ctx, die_id, &after);
	if (ret)
		return ret;
	/* it was out, dead or reset for a moment */
	return fault || after != before ? -EIO : 0;
}

int bs_read(bs_context *ctx, int die_id, uint64_t off, void *buf, size_t len)
{
	char *dev;
	int ret = find(ctx, die_id, off, len, &dev);

	if (ret)
		return ret;
	if (!buf && len)
		return -EINVAL;
	return copy_checked(ctx, die_id, copy_of(ctx)->from_dev, buf, dev, len,
			    dev);
}

int bs_write(bs_context *ctx, int die_id, uint64_t off, const void *buf,
	     size_t len)
{
	char *dev;
	int ret = find(ctx, die_id, off, len, &dev);

	if (ret)
		return ret;
	if (!buf && len)
		return -EINVAL;
	return copy_checked(ctx, die_id, copy_of(ctx)->to_dev, dev, buf, len,
			    dev);
}
