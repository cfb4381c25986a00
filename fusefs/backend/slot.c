/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Dies that take turns in one slot, through libbarswap: the module's or the
 * simulator's.
 */
#include "backend/backend.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "copy/copy.h"
#include "copy/guard.h"
#include "lib/barswap.h"

/*
 * Immutable after open but for @bound, the slot thread's, and the mappings
 * that could not be made at open: a bind makes them before the first copy.
 */
struct slot {
	bs_context *ctx;
	const struct copy_ops *copy;
	char *vram[BACKEND_MAX_DIES];
	int bound; /* die that may hold unsynced writes, -1 for none */
};

/*
 * A die whose memory is not initialised (-EIO) cannot be mapped; nothing is
 * copied from or to it in that state.
 */
static int map_vram(struct slot *s, unsigned int die)
{
	void *addr;
	size_t len;
	int ret;

	if (s->vram[die])
		return 0;
	ret = bs_vram(s->ctx, (int)die, &addr, &len);
	if (ret)
		return ret == -EIO ? 0 : ret;
	s->vram[die] = addr;
	return 0;
}

static int slot_open(struct backend *be, const char *device, enum copy_mem mem)
{
	struct slot *s = calloc(1, sizeof(*s));
	int ret;

	if (!s)
		return -ENOMEM;
	ret = guard_init();
	if (ret)
		goto out_free;
	s->ctx = bs_init_device(device);
	if (!s->ctx) {
		ret = -errno;
		snprintf(be->why, sizeof(be->why), "%s", bs_init_why());
		goto out_free;
	}
	s->bound = -1;
	s->copy = copy_select(mem);
	be->n_dies = bs_num_dies(s->ctx);
	for (unsigned int die = 0; die < be->n_dies; die++) {
		ret = map_vram(s, die);
		if (ret)
			goto out_bs_free;
	}
	be->copy_name = s->copy->name;
	be->priv = s;
	return 0;

out_bs_free:
	bs_free(s->ctx);
out_free:
	free(s);
	return ret;
}

static int module_open(struct backend *be, const char *device)
{
	return slot_open(be, device, COPY_MEM_WC);
}

static int sim_open(struct backend *be, const char *device)
{
	return slot_open(be, device, COPY_MEM_WB);
}

static void slot_close(struct backend *be)
{
	struct slot *s = be->priv;

	bs_free(s->ctx);
	free(s);
}

/*
 * What a failed copy means. A die that another process leases can be taken
 * from under us: that is no fault of the die. Nor is a driver that was bound.
 */
static int why_failed(struct backend *be, unsigned int die)
{
	struct slot *s = be->priv;
	struct bs_info info;

	if (bs_die_info(s->ctx, (int)die, &info) || !info.alive)
		return -EIO;
	if (*info.driver || info.bar1_mode == BS_MODE_VIRTUAL)
		return -EBUSY;
	return info.state == BS_STATE_IDLE ? -EAGAIN : -EIO;
}

/* The mapping gave SIGBUS. */
static int why_no_memory(struct backend *be, unsigned int die)
{
	struct slot *s = be->priv;
	static atomic_flag is_said = ATOMIC_FLAG_INIT;
	struct bs_info info;
	int ret = why_failed(be, die);

	if (ret == -EIO && !bs_die_info(s->ctx, (int)die, &info) && info.alive &&
	    info.state == BS_STATE_ACTIVE && !atomic_flag_test_and_set(&is_said))
		log_err("die=%u answers, but its memory does not; of a simulated die: is the disk full, under sim_dir or TMPDIR?",
			die);
	return ret;
}

/*
 * The register read behind bs_check() pushes every posted write before it. What
 * it says of driver and mode decides whether the copy before it was allowed:
 * nobody sees what was read otherwise, and nobody is told that it was written.
 */
static int slot_sync(struct backend *be, unsigned int die)
{
	struct slot *s = be->priv;
	struct bs_health health;
	int ret;

	s->copy->fence();
	ret = bs_check(s->ctx, (int)die, &health);
	if (ret)
		return ret;
	atomic_store_explicit(&be->dies[die].generation, health.generation,
			      memory_order_release);
	if (!health.alive)
		return why_failed(be, die);
	return health.driver || health.bar1_mode == BS_MODE_VIRTUAL ? -EBUSY : 0;
}

/* The die that another process keeps in the slot, -1 for none. */
static int leased_elsewhere(struct slot *s, unsigned int n_dies)
{
	struct bs_info info;

	for (unsigned int die = 0; die < n_dies; die++)
		if (!bs_die_info(s->ctx, (int)die, &info) && info.leased &&
		    !info.leased_here)
			return (int)die;
	return -1;
}

/* Whether -EBUSY lasts until somebody does something about it. Otherwise
 * another process is at its acquire, and has no lease yet. */
static bool is_busy(struct backend *be, unsigned int die)
{
	struct slot *s = be->priv;
	int active = bs_active_die(s->ctx);
	struct bs_info info;

	if (active >= 0 && !bs_die_info(s->ctx, active, &info) && info.driver[0])
		return true;
	return bs_die_info(s->ctx, (int)die, &info) || info.driver[0] ||
	       info.state == BS_STATE_UNUSABLE;
}

static int slot_bind(struct backend *be, unsigned int die, unsigned int flags)
{
	struct slot *s = be->priv;
	unsigned int force = be->with_driver ? BS_FORCE : 0;
	int ret;

	/* A die that died is found out by the fsync that asks for it. */
	if (s->bound >= 0)
		slot_sync(be, (unsigned int)s->bound);
	ret = bs_acquire_flags(s->ctx, (int)die,
			       flags | BS_LEASE | BS_NOWAIT | force, NULL);
	if (!ret)
		be->dies[die].acquires++;
	if (ret == -EBUSY) {
		int kept = leased_elsewhere(s, be->n_dies);

		/* it is in, and that is all we need */
		if (kept == (int)die && !flags)
			ret = 0;
		else if (kept >= 0 || !is_busy(be, die))
			return -EAGAIN;
	}
	s->bound = ret ? bs_active_die(s->ctx) : (int)die;
	return ret ? ret : map_vram(s, die);
}

static int slot_unbind(struct backend *be, unsigned int die)
{
	struct slot *s = be->priv;
	int ret;

	slot_sync(be, die);
	ret = bs_release_flags(s->ctx, (int)die, be->with_driver ? BS_FORCE : 0);
	s->bound = bs_active_die(s->ctx);
	return ret;
}

static void slot_rest(struct backend *be, unsigned int die)
{
	struct slot *s = be->priv;

	slot_sync(be, die);
	bs_unlease(s->ctx, (int)die);
}

static int slot_read(struct backend *be, unsigned int die, uint64_t off,
		     void *buf, size_t len)
{
	struct slot *s = be->priv;
	const char *dev = s->vram[die] + off;
	int ret = guard_copy(s->copy->from_dev, buf, dev, len, dev);

	return ret ? why_no_memory(be, die) : slot_sync(be, die);
}

static int slot_write(struct backend *be, unsigned int die, uint64_t off,
		      const void *buf, size_t len)
{
	struct slot *s = be->priv;
	char *dev = s->vram[die] + off;
	int ret = guard_copy(s->copy->to_dev, dev, buf, len, dev);

	return ret ? why_no_memory(be, die) : slot_sync(be, die);
}

static void clear(void *dst, const void *src, size_t len)
{
	(void)src;
	copy_select(COPY_MEM_WC)->zero(dst, len);
}

static int slot_zero(struct backend *be, unsigned int die, uint64_t off,
		     uint64_t len)
{
	struct slot *s = be->priv;
	char *dev = s->vram[die] + off;
	int ret = bs_zero(s->ctx, (int)die, off, len);

	if (ret != -EOPNOTSUPP)
		return ret ? ret : slot_sync(be, die);
	ret = guard_copy(clear, dev, NULL, len, dev);
	return ret ? why_no_memory(be, die) : slot_sync(be, die);
}

static int slot_info(struct backend *be, unsigned int die, struct bs_info *info)
{
	struct slot *s = be->priv;

	return bs_die_info(s->ctx, (int)die, info);
}

static int slot_poll_fd(struct backend *be)
{
	struct slot *s = be->priv;

	return bs_poll_fd(s->ctx);
}

static void slot_poll_ack(struct backend *be)
{
	struct slot *s = be->priv;

	bs_refresh(s->ctx);
}

static int slot_lease_fd(struct backend *be)
{
	struct slot *s = be->priv;

	return bs_lease_fd(s->ctx);
}

#define SLOT_OPS                                                               \
	.has_slot = true, .close = slot_close, .bind = slot_bind,              \
	.unbind = slot_unbind, .rest = slot_rest, .read = slot_read,           \
	.write = slot_write, .zero = slot_zero, .sync = slot_sync,             \
	.info = slot_info, .poll_fd = slot_poll_fd, .poll_ack = slot_poll_ack, \
	.lease_fd = slot_lease_fd

const struct backend_ops backend_bar_swap = {
	.name = "bar_swap",
	.open = module_open,
	SLOT_OPS,
};

const struct backend_ops backend_sim = {
	.name = "sim",
	.open = sim_open,
	SLOT_OPS,
};
