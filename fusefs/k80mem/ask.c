/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "k80mem/ask.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "k80mem/error.h"

#define FUSE_MAGIC 0x65735546 /* include/uapi/linux/magic.h */
#define PATIENCE_S 20 /* for a message of k80fs's */

/* ---- the file -------------------------------------------------------------- */

/* Another driver may know the number of the ioctl as something else. */
static int check_file(int fd)
{
	struct statfs fs;
	struct stat st;

	if (fstat(fd, &st) || fstatfs(fd, &fs))
		return k80mem_fail(-errno, "%s", strerror(errno));
	if (S_ISREG(st.st_mode) && (unsigned long)fs.f_type == FUSE_MAGIC)
		return 0;
	return k80mem_fail(-ENOTTY, "not a file of k80fs");
}

static int failed(int err)
{
	switch (err) {
	case ENOTTY:
	case ENOSYS:
	case EINVAL:
		return k80mem_fail(-ENOTTY,
				   "not a file of a k80fs folder dieN/mem");
	case EACCES:
		return k80mem_fail(
			-EACCES,
			"not open for reading and writing: whoever has GPU memory can write to it");
	case ENOSPC:
		return k80mem_fail(-ENOSPC,
				   "no GPU memory is left for the file's holes");
	case EAGAIN:
		return k80mem_fail(
			-EAGAIN,
			"too many programs ask k80fs for memory; try again");
	default:
		return k80mem_fail(-err, "k80fs: %s", strerror(err));
	}
}

int ask_token(int fd, struct k80_share *share)
{
	int ret = check_file(fd);

	if (ret)
		return ret;
	if (ioctl(fd, K80_SHARE, share))
		return failed(errno);
	if (memchr(share->socket, '\0', sizeof(share->socket)))
		return 0;
	return k80mem_fail(-EPROTO, "k80fs says no socket");
}

int ask_where(int fd, struct k80_where *where)
{
	int ret = check_file(fd);

	if (!ret && ioctl(fd, K80_WHERE, where))
		ret = failed(errno);
	return ret;
}

/* ---- the socket ------------------------------------------------------------ */

static int lost(const char *what, int err)
{
	if (err == EAGAIN)
		return k80mem_fail(-ETIMEDOUT, "k80fs does not answer");
	return k80mem_fail(-err, "k80fs: %s: %s", what, strerror(err));
}

static int open_socket(const char *path)
{
	const struct timeval patience = { .tv_sec = PATIENCE_S };
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	int ret;

	if (fd < 0)
		return lost("socket", errno);
	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", path);
	if (!setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) &&
	    !setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) &&
	    !connect(fd, (struct sockaddr *)&addr, sizeof(addr)))
		return fd;
	ret = lost(path, errno);
	close(fd);
	return ret;
}

static int put(int socket, const void *msg, size_t len)
{
	ssize_t n;

	do {
		n = send(socket, msg, len, MSG_NOSIGNAL);
	} while (n < 0 && errno == EINTR);
	return n < 0 ? lost("send", errno) : 0;
}

static int odd(void)
{
	return k80mem_fail(-EPROTO, "k80fs of another version");
}

static int get(int socket, struct msghdr *msg, size_t len)
{
	ssize_t n;

	do {
		n = recvmsg(socket, msg, MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return lost("receive", errno);
	if (!n)
		return k80mem_fail(-ECONNREFUSED, "k80fs ended the conversation");
	return (size_t)n == len && !(msg->msg_flags & MSG_TRUNC) ? 0 : odd();
}

static int get_head(int socket, struct k80_head *head)
{
	struct iovec iov = { head, sizeof(*head) };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	int ret = get(socket, &msg, sizeof(*head));

	if (ret)
		return ret;
	if (head->magic != K80_WIRE_MAGIC || head->result > 0 ||
	    head->len > head->bytes)
		return odd();
	if (head->result == -EACCES)
		return k80mem_fail(-EACCES,
				   "k80fs: the token is not good (any more)");
	if (head->result)
		return k80mem_fail(head->result, "k80fs: %s",
				   strerror(-head->result));
	return 0;
}

/** struct batch - a message with its descriptors */
struct batch {
	struct k80_batch head;
	int fds[K80_BATCH_MAX];
	unsigned int n_fds;
};

static void take_fds(struct msghdr *msg, struct batch *b)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		size_t len = c->cmsg_len - CMSG_LEN(0);

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		memcpy(b->fds, CMSG_DATA(c), len);
		b->n_fds = (unsigned int)(len / sizeof(int));
	}
}

static int get_batch(int socket, struct batch *b)
{
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(sizeof(b->fds))];
	} control;
	struct iovec iov = { &b->head, sizeof(b->head) };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = &control,
			      .msg_controllen = sizeof(control) };
	int ret;

	b->n_fds = 0;
	ret = get(socket, &msg, sizeof(b->head));
	/* an answer of another length may have brought some too */
	if (!ret || msg.msg_controllen < sizeof(control))
		take_fds(&msg, b);
	if (ret)
		return ret;
	if (msg.msg_flags & MSG_CTRUNC)
		return k80mem_fail(
			-EMFILE,
			"too few descriptors for the file's memory: ulimit -n");
	return b->head.n && b->head.n == b->n_fds ? 0 : odd();
}

static void close_fds(struct batch *b)
{
	for (unsigned int i = 0; i < b->n_fds; i++)
		close(b->fds[i]);
}

static int take_batch(const struct batch *b, const struct ask_taker *taker,
		      uint64_t *bytes)
{
	int ret = 0;

	for (unsigned int i = 0; !ret && i < b->n_fds; i++) {
		ret = taker->chunk(taker->arg, b->head.len[i], b->fds[i]);
		*bytes += b->head.len[i];
	}
	return ret;
}

static int take_all(int socket, const struct k80_head *head,
		    const struct ask_taker *taker)
{
	struct k80_ack ack = { 0 };
	uint64_t bytes = 0;

	while (ack.n_chunks < head->n_chunks) {
		struct batch b;
		int ret = get_batch(socket, &b);

		if (!ret && b.n_fds > head->n_chunks - ack.n_chunks)
			ret = odd();
		if (!ret)
			ret = take_batch(&b, taker, &bytes);
		close_fds(&b);
		ack.n_chunks += b.n_fds;
		if (!ret && ack.n_chunks < head->n_chunks)
			ret = put(socket, &ack, sizeof(ack));
		if (ret)
			return ret;
	}
	return bytes == head->bytes ? 0 : odd();
}

int ask_chunks(const struct k80_share *share, const struct ask_taker *taker)
{
	struct k80_ask ask = { .magic = K80_WIRE_MAGIC };
	int socket = open_socket(share->socket);
	struct k80_head head;
	int ret;

	if (socket < 0)
		return socket;
	memcpy(ask.token, share->token, sizeof(ask.token));
	ret = put(socket, &ask, sizeof(ask));
	if (!ret)
		ret = get_head(socket, &head);
	if (!ret)
		ret = taker->begin(taker->arg, &head);
	if (!ret)
		ret = take_all(socket, &head, taker);
	close(socket);
	return ret;
}

void ask_uuid(const uint8_t u[K80_UUID_LEN], char text[ASK_UUID_TEXT])
{
	char *at = text + sprintf(text, "GPU-");

	for (int i = 0; i < K80_UUID_LEN; i++)
		at += sprintf(at, "%s%02x",
			      i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
			      u[i]);
}
