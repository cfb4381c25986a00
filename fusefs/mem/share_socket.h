/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The socket of share.c: made, found stale, its messages. */
#ifndef K80FS_MEM_SHARE_SOCKET_H
#define K80FS_MEM_SHARE_SOCKET_H

#include <stddef.h>

#define SHARE_PATH_LEN 104 /* as of struct k80_share */

/**
 * share_listen() - make DIR/share.PID.SALT.sock, to which anybody may connect
 * @path: out: its path
 *
 * Nobody sees it before it listens. Sockets there of daemons that are gone are
 * removed.
 *
 * Return: a descriptor; -ENAMETOOLONG; -errno.
 */
int share_listen(const char *dir, char path[SHARE_PATH_LEN]);

/**
 * share_receive() - a message of just @len bytes; does not wait
 *
 * Descriptors that came with it are dropped by the kernel.
 *
 * Return: 0; -EAGAIN none is there; -EPIPE the other side has ended; -EPROTO
 * it is of another length; -errno.
 */
int share_receive(int fd, void *msg, size_t len);

/** share_send() - a message with @n descriptors; does not wait. 0; -ENOBUFS
 * the other side does not read; -errno */
int share_send(int fd, const void *msg, size_t len, const int *fds, size_t n);

#endif /* K80FS_MEM_SHARE_SOCKET_H */
