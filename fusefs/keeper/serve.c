/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "keeper/serve.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/util.h"
#include "keeper/answers.h"

/* what is never given to pools: clients, those of one packet, and our own */
#define RESERVED_FDS (SERVE_MAX_CLIENTS + TALK_MAX_FDS + 16)

/* the machine has no descriptor for a client: a wait before the next look */
#define ACCEPT_PAUSE_NS (100 * NSEC_PER_MSEC)

struct server {
	struct store store;
	struct client *clients[SERVE_MAX_CLIENTS];
	size_t n_clients;
	bool is_accept_paused;
};

static void disconnect(struct server *s, struct client *c)
{
	size_t i = 0;

	while (s->clients[i] != c)
		i++;
	s->clients[i] = s->clients[--s->n_clients];
	answers_leave(&s->store, c);
	close(c->fd);
	free(c);
}

static void add_client(struct server *s, int fd)
{
	struct ucred who = { 0 };
	socklen_t len = sizeof(who);
	struct client *c = NULL;

	if (s->n_clients < SERVE_MAX_CLIENTS &&
	    !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) &&
	    (!who.uid || who.uid == geteuid()))
		c = calloc(1, sizeof(*c));
	if (!c) {
		close(fd);
		return;
	}
	c->fd = fd;
	c->pid = who.pid;
	s->clients[s->n_clients++] = c;
}

static void accept_client(struct server *s, int listener)
{
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd >= 0)
		add_client(s, fd);
	else
		s->is_accept_paused = errno != EAGAIN && errno != EINTR &&
				      errno != ECONNABORTED;
}

static size_t max_fds(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur < RESERVED_FDS)
		return 0;
	return limit.rlim_cur - RESERVED_FDS;
}

/* Returns 0, or -errno: the client is to go. */
static int attend(struct server *s, struct client *c)
{
	struct talk t;
	int ret = talk_receive(c->fd, &t);

	if (ret <= 0)
		return ret;
	ret = answers_run(&s->store, c, &t);
	talk_close(&t);
	return talk_answer(c->fd, &t, ret);
}

/* Of clients at the same time those that have gone come first: what they had
 * claimed may be what another one claims. */
static void attend_all(struct server *s, const struct pollfd *fds)
{
	struct client *clients[SERVE_MAX_CLIENTS];
	size_t n = s->n_clients;

	memcpy(clients, s->clients, n * sizeof(*clients));
	for (size_t i = 0; i < n; i++)
		if (fds[i].revents & (POLLHUP | POLLERR))
			disconnect(s, clients[i]);
	for (size_t i = 0; i < n; i++)
		if (fds[i].revents == POLLIN && attend(s, clients[i]))
			disconnect(s, clients[i]);
}

static int serve_some(struct server *s, int listener, const sigset_t *during)
{
	static const struct timespec pause = { .tv_nsec = ACCEPT_PAUSE_NS };
	struct pollfd fds[SERVE_MAX_CLIENTS + 1];
	size_t n = s->n_clients;

	for (size_t i = 0; i < n; i++)
		fds[i] = (struct pollfd){ .fd = s->clients[i]->fd,
					  .events = POLLIN };
	fds[n] = (struct pollfd){ .fd = s->is_accept_paused ? -1 : listener,
				  .events = POLLIN };
	if (ppoll(fds, n + 1, s->is_accept_paused ? &pause : NULL, during) < 0)
		return errno == EINTR ? 0 : -errno;
	s->is_accept_paused = false;
	attend_all(s, fds);
	if (fds[n].revents)
		accept_client(s, listener);
	return 0;
}

int serve(int listener, const volatile sig_atomic_t *is_ended,
	  const sigset_t *during)
{
	struct server s = { .store.max_fds = max_fds() };
	int ret = 0;

	while (!*is_ended && !ret)
		ret = serve_some(&s, listener, during);
	while (s.n_clients)
		disconnect(&s, s.clients[0]);
	while (s.store.kept.n_pools)
		kept_free(&s.store.kept, s.store.kept.pools[0]);
	return ret;
}
