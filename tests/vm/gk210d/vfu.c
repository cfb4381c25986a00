// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * vfio-user, as QEMU 11.1 speaks it. Message numbers and layouts are those of
 * docs/interop/vfio-user.rst in QEMU; the payloads are <linux/vfio.h>'s.
 */
#include "vfu.h"

#include <errno.h>
#include <linux/vfio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "log.h"

enum vfu_cmd {
	CMD_VERSION = 1,
	CMD_DMA_MAP = 2,
	CMD_DMA_UNMAP = 3,
	CMD_DEVICE_GET_INFO = 4,
	CMD_DEVICE_GET_REGION_INFO = 5,
	CMD_DEVICE_GET_IRQ_INFO = 7,
	CMD_DEVICE_SET_IRQS = 8,
	CMD_REGION_READ = 9,
	CMD_REGION_WRITE = 10,
	CMD_DEVICE_RESET = 13,
};

#define FLAG_REPLY    0x01u
#define FLAG_NO_REPLY 0x10u
#define FLAG_ERROR    0x20u

struct vfu_header {
	uint16_t id;
	uint16_t cmd;
	uint32_t size; /* with this header */
	uint32_t flags;
	uint32_t error;
};

struct vfu_access {
	uint64_t off;
	uint32_t region;
	uint32_t count;
};

#define MAX_XFER    4096u /* what we announce as max_data_xfer_size */
#define MAX_PAYLOAD (64u << 10)
#define MAX_FDS     16

static const char caps[] = "{\"capabilities\":{\"max_msg_fds\":8,"
			   "\"max_data_xfer_size\":4096}}";

struct vfu_client {
	struct vfu_dev *dev;
	int fd;
	struct vfu_header head; /* of the message being answered */
	uint32_t len; /* bytes of payload */
	uint8_t in[MAX_PAYLOAD]; /* its payload */
};

/* Read exactly n bytes; descriptors that come along are of no use to us. */
static int receive(int fd, void *buf, size_t n)
{
	char control[CMSG_SPACE(MAX_FDS * sizeof(int))];
	uint8_t *p = buf;

	while (n) {
		struct iovec iov = { p, n };
		struct msghdr msg = { .msg_iov = &iov,
				      .msg_iovlen = 1,
				      .msg_control = control,
				      .msg_controllen = sizeof(control) };
		ssize_t got = recvmsg(fd, &msg, MSG_CMSG_CLOEXEC);
		struct cmsghdr *c;

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return -1;
		for (c = CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c)) {
			size_t i, fds = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

			for (i = 0; c->cmsg_type == SCM_RIGHTS && i < fds; i++)
				close(((int *)CMSG_DATA(c))[i]);
		}
		p += got;
		n -= got;
	}
	return 0;
}

static void answer(struct vfu_client *cl, uint32_t flags, uint32_t error,
		   const void *payload, uint32_t len, int pass_fd)
{
	struct vfu_header head = { cl->head.id, cl->head.cmd,
				   (uint32_t)sizeof(head) + len,
				   FLAG_REPLY | flags, error };
	struct iovec iov[2] = { { &head, sizeof(head) },
				{ (void *)payload, len } };
	struct msghdr msg = { .msg_iov = iov, .msg_iovlen = len ? 2 : 1 };
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(sizeof(int))];
	} control = { 0 };

	if (cl->head.flags & FLAG_NO_REPLY)
		return;
	if (pass_fd >= 0) {
		struct cmsghdr *c;

		msg.msg_control = control.buf;
		msg.msg_controllen = sizeof(control.buf);
		c = CMSG_FIRSTHDR(&msg);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &pass_fd, sizeof(int));
	}
	/* a stream socket in blocking mode takes a message this small whole */
	if (sendmsg(cl->fd, &msg, MSG_NOSIGNAL) != (ssize_t)head.size)
		log_line("%s: reply lost: %s", cl->dev->name, strerror(errno));
}

static void answer_ok(struct vfu_client *cl, const void *payload, uint32_t len)
{
	answer(cl, 0, 0, payload, len, -1);
}

static void answer_error(struct vfu_client *cl, int error)
{
	log_line("%s: message %u refused: %s", cl->dev->name, cl->head.cmd,
		 strerror(error));
	answer(cl, FLAG_ERROR, error, NULL, 0, -1);
}

static void do_version(struct vfu_client *cl)
{
	uint8_t reply[4 + sizeof(caps)] = { 0 }; /* version 0.0 */

	memcpy(reply + 4, caps, sizeof(caps));
	answer_ok(cl, reply, sizeof(reply));
}

static void do_device_info(struct vfu_client *cl)
{
	uint32_t reply[4] = { sizeof(reply),
			      VFIO_DEVICE_FLAGS_RESET | VFIO_DEVICE_FLAGS_PCI,
			      VFIO_PCI_NUM_REGIONS, VFIO_PCI_NUM_IRQS };

	answer_ok(cl, reply, sizeof(reply));
}

static void do_region_info(struct vfu_client *cl)
{
	struct vfio_region_info ask, reply = { .argsz = sizeof(reply) };
	const struct vfu_region *r;
	int fd = -1;

	if (cl->len < sizeof(ask))
		return answer_error(cl, EINVAL);
	memcpy(&ask, cl->in, sizeof(ask));
	reply.index = ask.index;
	if (ask.index <= VFU_CONFIG && cl->dev->region[ask.index].size) {
		r = &cl->dev->region[ask.index];
		reply.size = r->size;
		reply.flags = VFIO_REGION_INFO_FLAG_READ |
			      VFIO_REGION_INFO_FLAG_WRITE;
		fd = r->fd;
		if (fd >= 0)
			reply.flags |= VFIO_REGION_INFO_FLAG_MMAP;
	}
	answer(cl, 0, 0, &reply, sizeof(reply), fd);
}

static void do_irq_info(struct vfu_client *cl)
{
	struct vfio_irq_info ask, reply = { .argsz = sizeof(reply) };

	if (cl->len < sizeof(ask))
		return answer_error(cl, EINVAL);
	memcpy(&ask, cl->in, sizeof(ask));
	reply.index = ask.index;
	if (ask.index == VFIO_PCI_INTX_IRQ_INDEX && cl->dev->intx) {
		reply.count = 1;
		reply.flags = VFIO_IRQ_INFO_EVENTFD | VFIO_IRQ_INFO_MASKABLE |
			      VFIO_IRQ_INFO_AUTOMASKED;
	} else if (ask.index == VFIO_PCI_MSI_IRQ_INDEX) {
		reply.count = 1;
		reply.flags = VFIO_IRQ_INFO_EVENTFD | VFIO_IRQ_INFO_NORESIZE;
	}
	answer_ok(cl, &reply, sizeof(reply));
}

/* 0, or the errno of an access that is outside its region or too long */
static int access_get(struct vfu_client *cl, struct vfu_access *acc)
{
	uint64_t size;

	if (cl->len < sizeof(*acc))
		return EINVAL;
	memcpy(acc, cl->in, sizeof(*acc));
	if (acc->region > VFU_CONFIG || acc->count > MAX_XFER)
		return EINVAL;
	size = cl->dev->region[acc->region].size;
	if (acc->off >= size || acc->count > size - acc->off)
		return EINVAL;
	return 0;
}

static void do_read(struct vfu_client *cl)
{
	uint8_t reply[sizeof(struct vfu_access) + MAX_XFER];
	struct vfu_access acc;
	int ret = access_get(cl, &acc);

	if (!ret)
		ret = cl->dev->ops->read(cl->dev, acc.region, acc.off,
					 reply + sizeof(acc), acc.count);
	if (ret)
		return answer_error(cl, ret);
	memcpy(reply, &acc, sizeof(acc));
	answer_ok(cl, reply, sizeof(acc) + acc.count);
}

static void do_write(struct vfu_client *cl)
{
	struct vfu_access acc;
	int ret = access_get(cl, &acc);

	if (!ret && acc.count > cl->len - sizeof(acc))
		ret = EINVAL;
	if (!ret)
		ret = cl->dev->ops->write(cl->dev, acc.region, acc.off,
					  cl->in + sizeof(acc), acc.count);
	if (ret)
		return answer_error(cl, ret);
	answer_ok(cl, &acc, sizeof(acc));
}

static void dispatch(struct vfu_client *cl)
{
	switch (cl->head.cmd) {
	case CMD_VERSION:
		return do_version(cl);
	case CMD_DMA_MAP: /* our dies start no transfers */
	case CMD_DEVICE_SET_IRQS:
		return answer_ok(cl, NULL, 0);
	case CMD_DMA_UNMAP: /* wants its request back */
		return answer_ok(cl, cl->in, cl->len);
	case CMD_DEVICE_GET_INFO:
		return do_device_info(cl);
	case CMD_DEVICE_GET_REGION_INFO:
		return do_region_info(cl);
	case CMD_DEVICE_GET_IRQ_INFO:
		return do_irq_info(cl);
	case CMD_REGION_READ:
		return do_read(cl);
	case CMD_REGION_WRITE:
		return do_write(cl);
	case CMD_DEVICE_RESET:
		cl->dev->ops->reset(cl->dev);
		return answer_ok(cl, NULL, 0);
	default:
		return answer_error(cl, ENOSYS);
	}
}

static int message_get(struct vfu_client *cl)
{
	if (receive(cl->fd, &cl->head, sizeof(cl->head)))
		return -1;
	if (cl->head.size < sizeof(cl->head) ||
	    cl->head.size - sizeof(cl->head) > sizeof(cl->in)) {
		log_line("%s: bad message size %u", cl->dev->name, cl->head.size);
		return -1;
	}
	cl->len = cl->head.size - sizeof(cl->head);
	return receive(cl->fd, cl->in, cl->len);
}

int vfu_listen(const char *path)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (strlen(path) >= sizeof(addr.sun_path))
		log_die("socket path too long: %s", path);
	strcpy(addr.sun_path, path);
	unlink(path);
	if (fd < 0 || bind(fd, (struct sockaddr *)&addr, sizeof(addr)) ||
	    listen(fd, 4))
		log_die("%s: %s", path, strerror(errno));
	return fd;
}

void vfu_serve(struct vfu_dev *dev, int listen)
{
	struct vfu_client *cl = calloc(1, sizeof(*cl));

	if (!cl)
		log_die("out of memory");
	cl->dev = dev;
	for (;;) {
		cl->fd = accept(listen, NULL, NULL);
		if (cl->fd < 0)
			continue;
		while (!message_get(cl))
			dispatch(cl);
		log_line("%s: client gone", dev->name);
		close(cl->fd);
	}
}
