/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lib/ - libbarswap: barswap.h is what programs see, barswap.c checks their
 * calls, dev_module.c asks the kernel module, dev_sim*.c play it.
 * May use: base, and the module's uapi header in dev_module.c alone.
 * Must not know: the daemon. It is the simulator that must be as strict as
 * the module, never the other way about.
 *
 * Device operations of libbarswap: what a slot and its dies can be asked.
 *
 * barswap.c checks every argument once for all implementations; an operation
 * is only called with a die of the device, known flags and out-pointers that
 * are set. All operations but close may be called from several threads.
 */
#ifndef BARSWAP_DEV_H
#define BARSWAP_DEV_H

#include "lib/barswap.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* dies a device has at most: bs_query_info.mapped[] of the module */
#define BS_DEV_MAX_DIES 16

/**
 * struct bs_dev - an open device; each implementation embeds it
 * @ops: its operations; immutable
 */
struct bs_dev {
	const struct bs_dev_ops *ops;
};

/**
 * struct bs_dev_slot - who is in
 * @n_dies:  1 .. BS_DEV_MAX_DIES
 * @n_slots: 1
 * @active:  die in the slot, -1 if vacant (also during a swap)
 */
struct bs_dev_slot {
	uint32_t n_dies;
	uint32_t n_slots;
	int active;
};

/**
 * struct bs_dev_bar1 - aperture of a die that was acquired
 * @addr: CPU address
 * @size: bytes, a power of two
 */
struct bs_dev_bar1 {
	uint64_t addr;
	uint64_t size;
};

/**
 * struct bs_dev_ops - one kind of device
 * @name:    what bs_device_name() says
 * @is_wc:   its mappings are write-combined, not ordinary memory
 * @close:   unmap, end leases, free @dev; no other operation is running
 * @query:   who is in; @rearm: poll_fd is quiet until the next change after
 *           this call. 0 or -errno
 * @acquire: put @die in, waiting for leases as @flags (BS_*) say; errors as
 *           in bs_acquire_flags()
 * @release: vacate the slot if @die is in it; @flags: 0 or BS_FORCE
 * @unlease: end this device's lease on @die; 0 if there was none
 * @check:   as bs_check(); every field of @health is set, on success only
 * @info:    as bs_die_info(); @info is all zero on entry
 * @map:     address and bytes of the memory of @die; the same at each call
 * @zero:    clear [@off, @off + @len), inside the memory, @len > 0; optional
 * @mem_fd:  descriptor behind the mapping of @die
 * @poll_fd: descriptor that has POLLPRI on a change; optional
 * @lease_fd: as bs_lease_fd(); optional
 * @order:   as bs_sim_order(); optional
 */
struct bs_dev_ops {
	const char *name;
	bool is_wc;

	void (*close)(struct bs_dev *dev);

	int (*query)(struct bs_dev *dev, bool rearm, struct bs_dev_slot *slot);
	int (*acquire)(struct bs_dev *dev, int die, unsigned int flags,
		       struct bs_dev_bar1 *bar1);
	int (*release)(struct bs_dev *dev, int die, unsigned int flags);
	int (*unlease)(struct bs_dev *dev, int die);
	int (*check)(struct bs_dev *dev, int die, struct bs_health *health);
	int (*info)(struct bs_dev *dev, int die, struct bs_info *info);

	int (*map)(struct bs_dev *dev, int die, void **addr, size_t *len);
	int (*zero)(struct bs_dev *dev, int die, uint64_t off, uint64_t len);
	int (*mem_fd)(struct bs_dev *dev, int die);
	int (*poll_fd)(struct bs_dev *dev);
	int (*lease_fd)(struct bs_dev *dev);
	int (*order)(struct bs_dev *dev, const char *order);
};

/* dev_module.c */

/**
 * dev_module_open() - open the node of the bar_swap module
 * @path: its path
 * @dev:  out: the device
 *
 * Return: 0; -EPROTO another major version of the contract, or an older minor
 * one; what open() or
 * the handshake said: -ENOENT, -EACCES, -ENOTTY no bar_swap node ...
 */
int dev_module_open(const char *path, struct bs_dev **dev);

/* dev_sim.c */

/**
 * dev_sim_open() - make a simulator
 * @options: "NAME=VALUE,..." as in bs_init_device(), or ""
 * @dev:     out: the device
 *
 * Return: 0; -EINVAL a bad option, or a file in dir= of another size; -EBUSY
 * another simulator uses dir=; -EADDRINUSE ctl= is in use; -ENOMEM, -ENOSPC
 * and the like as the system says.
 */
int dev_sim_open(const char *options, struct bs_dev **dev);

#endif /* BARSWAP_DEV_H */
