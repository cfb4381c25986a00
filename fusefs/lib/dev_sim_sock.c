// SPDX-License-Identifier: GPL-2.0-or-later
/* Control socket of the simulator: a line in, a line out; one thread. */
#include "lib/dev_sim_sock.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/dev_sim_ctl.h"

#define CLIENTS_MAX 8
#define LINE_BYTES  256 /* more than any order takes */

/* fds of struct sim_sock before those of the clients */
enum { FD_STOP, FD_LISTEN, FD_CLIENTS };

struct client {
	char line[LINE_BYTES];
	size_t len;
};

struct sim_sock {
	struct sim *s;
	struct sockaddr_un addr;
	pthread_t thread;
	/* owned by the thread while it runs; unused entries are -1 */
	struct pollfd fds[FD_CLIENTS + CLIENTS_MAX];
	struct client client[CLIENTS_MAX];
};

static void drop_client(struct sim_sock *sock, int slot)
{
	close(sock->fds[FD_CLIENTS + slot].fd);
	sock->fds[FD_CLIENTS + slot].fd = -1;
	sock->client[slot].len = 0;
}

/*
 * Carry out a line of @len bytes, which ends in a NUL. A client that does not
 * take its answers is dropped, never waited for.
 */
static int answer(struct sim_sock *sock, int slot, const char *line, size_t len)
{
	/* a NUL inside must not make an order of the bytes before it */
	int error = strlen(line) == len ? -sim_ctl_order(sock->s, line) : EINVAL;
	char text[LINE_BYTES];
	int n;

	errno = error;
	n = error ? snprintf(text, sizeof(text), "error: %m\n")
		  : snprintf(text, sizeof(text), "ok\n");
	if (send(sock->fds[FD_CLIENTS + slot].fd, text, (size_t)n,
		 MSG_NOSIGNAL | MSG_DONTWAIT) != n)
		return -EPIPE;
	return 0;
}

static int answer_lines(struct sim_sock *sock, int slot)
{
	struct client *client = &sock->client[slot];
	char *start = client->line, *end;

	while ((end = memchr(start, '\n', client->len))) {
		*end++ = '\0';
		if (answer(sock, slot, start, (size_t)(end - start) - 1))
			return -EPIPE;
		client->len -= (size_t)(end - start);
		start = end;
	}
	memmove(client->line, start, client->len);
	return 0;
}

static void serve_client(struct sim_sock *sock, int slot)
{
	struct client *client = &sock->client[slot];
	/* one byte stays free for the end of a last line without newline */
	size_t room = sizeof(client->line) - 1 - client->len;
	ssize_t n = recv(sock->fds[FD_CLIENTS + slot].fd,
			 client->line + client->len, room, MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0) {
		client->len += (size_t)n;
		if (answer_lines(sock, slot) ||
		    client->len == sizeof(client->line) - 1)
			drop_client(sock, slot);
		return;
	}
	if (n == 0 && client->len) {
		client->line[client->len] = '\0';
		answer(sock, slot, client->line, client->len);
	}
	drop_client(sock, slot);
}

static void accept_client(struct sim_sock *sock)
{
	int fd = accept4(sock->fds[FD_LISTEN].fd, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0)
		return;
	for (int slot = 0; slot < CLIENTS_MAX; slot++) {
		if (sock->fds[FD_CLIENTS + slot].fd >= 0)
			continue;
		sock->fds[FD_CLIENTS + slot].fd = fd;
		return;
	}
	close(fd);
}

static void *serve(void *arg)
{
	struct sim_sock *sock = arg;

	for (;;) {
		if (poll(sock->fds, ARRAY_SIZE(sock->fds), -1) < 0)
			continue;
		if (sock->fds[FD_STOP].revents)
			return NULL;
		for (int slot = 0; slot < CLIENTS_MAX; slot++) {
			struct pollfd *pfd = &sock->fds[FD_CLIENTS + slot];

			if (pfd->fd >= 0 && pfd->revents)
				serve_client(sock, slot);
		}
		if (sock->fds[FD_LISTEN].revents)
			accept_client(sock);
	}
}

/* Did a process that is no more leave the socket behind? */
static bool is_stale(const struct sockaddr_un *addr)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	bool stale;

	if (fd < 0)
		return false;
	stale = connect(fd, (const struct sockaddr *)addr, sizeof(*addr)) &&
		errno == ECONNREFUSED;
	close(fd);
	return stale;
}

static int bind_path(int fd, const struct sockaddr_un *addr)
{
	struct stat st;

	if (!bind(fd, (const struct sockaddr *)addr, sizeof(*addr)))
		return 0;
	if (errno != EADDRINUSE)
		return -errno;
	/* a regular file refuses connections as well: never unlink one */
	if (lstat(addr->sun_path, &st) || !S_ISSOCK(st.st_mode) ||
	    !is_stale(addr))
		return -EADDRINUSE;
	unlink(addr->sun_path);
	return bind(fd, (const struct sockaddr *)addr, sizeof(*addr)) ? -errno
								      : 0;
}

static int start_listening(struct sim_sock *sock)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int ret;

	if (fd < 0)
		return -errno;
	/* before bind, which gives the path the mode of the descriptor */
	ret = fchmod(fd, 0600) ? -errno : bind_path(fd, &sock->addr);
	if (ret)
		goto err_close;
	if (listen(fd, CLIENTS_MAX)) {
		ret = -errno;
		unlink(sock->addr.sun_path);
		goto err_close;
	}
	sock->fds[FD_LISTEN].fd = fd;
	return 0;

err_close:
	close(fd);
	return ret;
}

static int start_thread(struct sim_sock *sock)
{
	sigset_t all, old;
	int ret;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	ret = pthread_create(&sock->thread, NULL, serve, sock);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return -ret;
}

int sim_sock_open(struct sim *s, const char *path, struct sim_sock **sock_out)
{
	struct sim_sock *sock = calloc(1, sizeof(*sock));
	int ret;

	if (!sock)
		return -ENOMEM;
	sock->s = s;
	sock->addr.sun_family = AF_UNIX;
	memcpy(sock->addr.sun_path, path, strlen(path) + 1);
	for (size_t i = 0; i < ARRAY_SIZE(sock->fds); i++) {
		sock->fds[i].fd = -1;
		sock->fds[i].events = POLLIN;
	}
	sock->fds[FD_STOP].fd = eventfd(0, EFD_CLOEXEC);
	if (sock->fds[FD_STOP].fd < 0) {
		ret = -errno;
		goto err_free;
	}
	ret = start_listening(sock);
	if (ret)
		goto err_close_stop;
	ret = start_thread(sock);
	if (ret)
		goto err_unlisten;
	*sock_out = sock;
	return 0;

err_unlisten:
	unlink(sock->addr.sun_path);
	close(sock->fds[FD_LISTEN].fd);
err_close_stop:
	close(sock->fds[FD_STOP].fd);
err_free:
	free(sock);
	return ret;
}

void sim_sock_close(struct sim_sock *sock)
{
	const uint64_t one = 1;

	if (!sock)
		return;
	while (write(sock->fds[FD_STOP].fd, &one, sizeof(one)) < 0 &&
	       errno == EINTR)
		;
	pthread_join(sock->thread, NULL);
	unlink(sock->addr.sun_path);
	for (size_t i = 0; i < ARRAY_SIZE(sock->fds); i++) {
		if (sock->fds[i].fd >= 0)
			close(sock->fds[i].fd);
	}
	free(sock);
}
