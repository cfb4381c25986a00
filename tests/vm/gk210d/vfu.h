/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The server side of vfio-user: one PCI function behind a UNIX socket.
 *
 * Knows messages, descriptors and region geometry; what a read or a write
 * means is up to the device behind struct vfu_ops.
 */
#ifndef VFU_H
#define VFU_H

#include <stdint.h>

#define VFU_CONFIG 7 /* region number of config space */

struct vfu_dev;

/**
 * struct vfu_ops - what a device does with an access
 * @read:  fill @buf with @n bytes at @off of region @region
 * @write: take @n bytes at @off of region @region
 * @reset: the bus of the device was reset
 *
 * All are required. Called from the device's own thread with no lock held;
 * offsets were checked against the region's size. 0 or a positive errno.
 */
struct vfu_ops {
	int (*read)(struct vfu_dev *dev, uint32_t region, uint64_t off,
		    void *buf, uint32_t n);
	int (*write)(struct vfu_dev *dev, uint32_t region, uint64_t off,
		     const void *buf, uint32_t n);
	void (*reset)(struct vfu_dev *dev);
};

/**
 * struct vfu_region - geometry of one region
 * @size: bytes, 0 if there is none
 * @fd:   memory behind it that the client may map, -1 to trap each access
 */
struct vfu_region {
	uint64_t size;
	int fd;
};

/**
 * struct vfu_dev - one served function; immutable once vfu_serve() runs
 * @name:   for the log
 * @ops:    see there
 * @region: by region number; entry 7 is config space
 * @intx:   number of INTx lines, 0 or 1
 */
struct vfu_dev {
	const char *name;
	const struct vfu_ops *ops;
	struct vfu_region region[VFU_CONFIG + 1];
	unsigned int intx;
};

/**
 * vfu_listen() - make the socket a client connects to
 * @path: where; an old one is replaced
 *
 * Return: a listening descriptor; ends the program if there can be none.
 */
int vfu_listen(const char *path);

/**
 * vfu_serve() - serve clients one after the other, for ever
 * @dev:    the device
 * @listen: from vfu_listen()
 */
void vfu_serve(struct vfu_dev *dev, int listen);

#endif /* VFU_H */
