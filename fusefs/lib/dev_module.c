// SPDX-License-Identifier: GPL-2.0-or-later
/* The bar_swap kernel module as a device: ioctl and mmap, nothing more. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/util.h"
#include "kmod/uapi/bar_swap.h"
#include "lib/dev.h"

/* Flags, states and modes of the two contracts are passed through as is. */
_Static_assert(BS_FORCE_SBR == BS_ACQUIRE_FORCE_SBR, "flags");
_Static_assert(BS_LEASE == BS_ACQUIRE_LEASE, "flags");
_Static_assert(BS_NOWAIT == BS_ACQUIRE_NOWAIT, "flags");
_Static_assert(BS_FORCE == BS_ACQUIRE_FORCE, "flags");
_Static_assert(BS_DRIVER_MEM == BS_ACQUIRE_DRIVER_MEM, "flags");
_Static_assert((int)BS_STATE_IDLE == (int)BS_DIE_IDLE, "states");
_Static_assert((int)BS_STATE_ACTIVE == (int)BS_DIE_ACTIVE, "states");
_Static_assert((int)BS_STATE_DEAD == (int)BS_DIE_DEAD, "states");
_Static_assert((int)BS_STATE_NO_VRAM == (int)BS_DIE_NO_VRAM, "states");
_Static_assert((int)BS_STATE_UNUSABLE == (int)BS_DIE_UNUSABLE, "states");
_Static_assert((int)BS_MODE_UNKNOWN == (int)BS_BAR1_UNKNOWN, "modes");
_Static_assert((int)BS_MODE_PHYSICAL == (int)BS_BAR1_PHYSICAL, "modes");
_Static_assert((int)BS_MODE_VIRTUAL == (int)BS_BAR1_VIRTUAL, "modes");
_Static_assert(BS_DEV_MAX_DIES == BS_MAX_DIES, "dies");

/* copy a string field that is as long in both structs */
#define COPY_FIELD(to, from)                                          \
	({                                                            \
		_Static_assert(sizeof(to) == sizeof(from), "length"); \
		memcpy(to, from, sizeof(to));                         \
	})

struct module_dev {
	struct bs_dev dev;
	int fd; /* immutable */
	/* A file of its own for poll: a QUERY of bs_is_mapped() on it would
	 * swallow the event that somebody else waits for. Immutable. */
	int watch_fd;
	atomic_uint leased; /* bit d: this file took a lease on die d */
	pthread_mutex_t map_lock; /* guards map */
	struct {
		void *addr;
		size_t len;
		size_t all; /* with the carve-out */
	} map[BS_MAX_DIES];
};

static struct module_dev *to_module(struct bs_dev *dev)
{
	return container_of(dev, struct module_dev, dev);
}

static int do_ioctl(int fd, unsigned long request, void *arg)
{
	return ioctl(fd, request, arg) < 0 ? -errno : 0;
}

static void module_close(struct bs_dev *dev)
{
	struct module_dev *m = to_module(dev);

	for (uint32_t die = 0; die < BS_MAX_DIES; die++) {
		struct bs_release_req req = { .die_id = die };

		if (m->map[die].addr)
			munmap(m->map[die].addr, m->map[die].all);
		/* close() is not enough if a child still has the file */
		if (m->leased & 1u << die)
			do_ioctl(m->fd, BAR_SWAP_UNLEASE, &req);
	}
	if (m->watch_fd >= 0)
		close(m->watch_fd);
	if (m->fd >= 0)
		close(m->fd);
	pthread_mutex_destroy(&m->map_lock);
	free(m);
}

static int module_query(struct bs_dev *dev, bool rearm, struct bs_dev_slot *slot)
{
	struct module_dev *m = to_module(dev);
	struct bs_query_info info = { 0 };
	int ret = do_ioctl(rearm ? m->watch_fd : m->fd, BAR_SWAP_QUERY, &info);

	if (ret)
		return ret;
	if (info.n_dies > BS_MAX_DIES)
		return -EPROTO;
	slot->n_dies = info.n_dies;
	slot->n_slots = info.n_slots;
	slot->active = info.active_die == BS_NO_DIE ? -1 : (int)info.active_die;
	return 0;
}

static int module_acquire(struct bs_dev *dev, int die, unsigned int flags,
			  struct bs_dev_bar1 *bar1)
{
	struct module_dev *m = to_module(dev);
	struct bs_acquire_req req = { .die_id = (__u32)die, .flags = flags };
	int ret = do_ioctl(m->fd, BAR_SWAP_ACQUIRE, &req);

	if (ret)
		return ret;
	if (flags & BS_LEASE)
		m->leased |= 1u << die;
	bar1->addr = req.bar1_addr;
	bar1->size = req.bar1_size;
	return 0;
}

static int module_release(struct bs_dev *dev, int die, unsigned int flags)
{
	struct bs_release_req req = {
		.die_id = (__u32)die,
		.flags = flags & BS_FORCE ? BS_RELEASE_FORCE : 0,
	};

	return do_ioctl(to_module(dev)->fd, BAR_SWAP_RELEASE, &req);
}

static int module_unlease(struct bs_dev *dev, int die)
{
	struct bs_release_req req = { .die_id = (__u32)die };

	return do_ioctl(to_module(dev)->fd, BAR_SWAP_UNLEASE, &req);
}

static int module_check(struct bs_dev *dev, int die, struct bs_health *health)
{
	struct bs_check req = { .die_id = (__u32)die };
	int ret = do_ioctl(to_module(dev)->fd, BAR_SWAP_CHECK, &req);

	if (ret)
		return ret;
	*health = (struct bs_health){
		.in_slot = req.in_slot != 0,
		.alive = req.alive != 0,
		.generation = req.generation,
		.driver = req.driver != 0,
		.bar1_mode = (int)req.bar1_mode,
	};
	return 0;
}

static int cache_of(const struct bs_die_info *info)
{
	if (info->flags & BS_DIE_F_BAR1_WC)
		return BS_CACHE_WC;
	return info->flags & BS_DIE_F_BAR1_UC ? BS_CACHE_UC : BS_CACHE_NONE;
}

static int module_info(struct bs_dev *dev, int die, struct bs_info *info)
{
	struct bs_die_info req = { .die_id = (__u32)die };
	int ret = do_ioctl(to_module(dev)->fd, BAR_SWAP_DIE_INFO, &req);

	if (ret)
		return ret;
	info->state = (int)req.state;
	info->bar1_mode = (int)req.bar1_mode;
	info->alive = !!(req.flags & BS_DIE_F_ALIVE);
	info->leased = !!(req.flags & BS_DIE_F_LEASED);
	info->leased_here = !!(req.flags & BS_DIE_F_LEASED_HERE);
	info->waiters = req.waiters;
	info->holder_pid = req.holder_pid;
	COPY_FIELD(info->holder_comm, req.holder_comm);
	COPY_FIELD(info->bdf, req.bdf);
	info->vendor = req.vendor;
	info->device = req.device;
	info->subvendor = req.subvendor;
	info->subdevice = req.subdevice;
	COPY_FIELD(info->driver, req.driver);
	info->bar0_addr = req.bar0_addr;
	info->bar1_addr = req.bar1_addr;
	info->bar3_addr = req.bar3_addr;
	info->bar0_size = req.bar0_size;
	info->bar1_size = req.bar1_size;
	info->bar3_size = req.bar3_size;
	info->vram_bytes = req.vram_bytes;
	info->resmem_bytes = req.resmem_bytes;
	info->generation = req.generation;
	info->resets = req.resets;
	info->acquires = req.acquires;
	info->swaps_in = req.swaps_in;
	info->swaps_out = req.swaps_out;
	info->last_swap_ns = req.last_swap_ns;
	COPY_FIELD(info->last_error, req.last_error);
	info->bar1_cache = cache_of(&req);
	return 0;
}

/* Caller holds map_lock. */
static int map_die_locked(struct module_dev *m, int die)
{
	struct bs_die_info req = { .die_id = (__u32)die };
	off_t off = (off_t)die << BS_MMAP_DIE_SHIFT;
	size_t all;
	void *addr;
	int ret;

	if (m->map[die].addr)
		return 0;
	ret = do_ioctl(m->fd, BAR_SWAP_DIE_INFO, &req);
	if (ret)
		return ret;
	all = req.vram_bytes + req.resmem_bytes;
	addr = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_SHARED, m->fd, off);
	if (addr == MAP_FAILED)
		return -errno;
	m->map[die].addr = addr;
	m->map[die].len = req.vram_bytes;
	m->map[die].all = all;
	return 0;
}

static int module_map(struct bs_dev *dev, int die, void **addr, size_t *len)
{
	struct module_dev *m = to_module(dev);
	int ret;

	pthread_mutex_lock(&m->map_lock);
	ret = map_die_locked(m, die);
	if (!ret) {
		*addr = m->map[die].addr;
		*len = m->map[die].len;
	}
	pthread_mutex_unlock(&m->map_lock);
	return ret;
}

static int module_mem_fd(struct bs_dev *dev, int die)
{
	(void)die;
	return to_module(dev)->fd;
}

static int module_poll_fd(struct bs_dev *dev)
{
	return to_module(dev)->watch_fd;
}

static int module_lease_fd(struct bs_dev *dev)
{
	return to_module(dev)->fd;
}

static const struct bs_dev_ops module_ops = {
	.name = "bar_swap",
	.is_wc = true,
	.close = module_close,
	.query = module_query,
	.acquire = module_acquire,
	.release = module_release,
	.unlease = module_unlease,
	.check = module_check,
	.info = module_info,
	.map = module_map,
	.mem_fd = module_mem_fd,
	.poll_fd = module_poll_fd,
	.lease_fd = module_lease_fd,
};

int dev_module_open(const char *path, struct bs_dev **dev)
{
	struct bs_version version = { 0 };
	struct module_dev *m = calloc(1, sizeof(*m));
	int ret;

	if (!m)
		return -ENOMEM;
	m->dev.ops = &module_ops;
	pthread_mutex_init(&m->map_lock, NULL);
	m->watch_fd = -1;
	m->fd = open(path, O_RDWR | O_CLOEXEC);
	if (m->fd < 0) {
		ret = -errno;
		goto err;
	}
	ret = do_ioctl(m->fd, BAR_SWAP_VERSION, &version);
	if (ret)
		goto err;
	/* without what came with our minor nobody could tell a driver's die */
	if (version.abi_major != BS_ABI_MAJOR ||
	    version.abi_minor < BS_ABI_MINOR) {
		ret = -EPROTO;
		goto err;
	}
	m->watch_fd = open(path, O_RDWR | O_CLOEXEC);
	if (m->watch_fd < 0) {
		ret = -errno;
		goto err;
	}
	*dev = &m->dev;
	return 0;

err:
	module_close(&m->dev);
	return ret;
}
