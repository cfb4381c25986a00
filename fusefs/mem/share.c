/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mem/share.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "mem/mem.h"
#include "mem/share_socket.h"

/* after a connection that there was no descriptor for */
#define DEAF_NS (100 * NSEC_PER_MSEC)

enum { POLL_WAKE, POLL_LISTEN, POLL_CLIENTS };

/** struct token - @file: counted; NULL: the entry is free */
struct token {
	uint8_t bytes[K80_TOKEN_LEN];
	struct mem_file *file;
	uid_t uid;
	uint64_t until;
};

/**
 * struct client - a conversation; the thread's own
 * @fd:     -1: the entry is free
 * @memory: once the token was good, @is_paid; @n_sent chunks of it have gone
 */
struct client {
	int fd;
	uid_t uid;
	uint64_t until;
	bool is_paid;
	struct mem_share memory;
	unsigned int n_sent;
};

/**
 * struct share - all of it
 * @deaf_until: no connection is taken before
 */
struct share {
	const struct share_source *source;
	char path[SHARE_PATH_LEN];
	int listen_fd;
	int wake_fd;
	pthread_t thread;
	uint64_t deaf_until;
	struct client clients[SHARE_MAX_CLIENTS];

	pthread_mutex_t lock; /* guards all below */
	struct token tokens[SHARE_MAX_TOKENS];
	bool is_stopping;
};

static void wake(struct share *s)
{
	const uint64_t one = 1;

	if (write(s->wake_fd, &one, sizeof(one)) < 0)
		log_debug("share: wake: %s", strerror(errno));
}

/* ---- tokens ---------------------------------------------------------------- */

/* A free entry; NULL: there is none, or @uid has its share of them. */
static struct token *token_place_locked(struct share *s, uid_t uid)
{
	struct token *found = NULL;
	unsigned int n = 0;

	for (unsigned int i = 0; i < SHARE_MAX_TOKENS; i++) {
		struct token *t = &s->tokens[i];

		if (!t->file)
			found = t;
		else if (t->uid == uid)
			n++;
	}
	return n < SHARE_UID_TOKENS ? found : NULL;
}

static int token_add(struct share *s, struct mem_file *f, uid_t uid,
		     const uint8_t bytes[K80_TOKEN_LEN])
{
	struct token *t;

	pthread_mutex_lock(&s->lock);
	t = token_place_locked(s, uid);
	if (t) {
		s->source->count(f);
		memcpy(t->bytes, bytes, K80_TOKEN_LEN);
		t->file = f;
		t->uid = uid;
		t->until = now_ns() + SHARE_TOKEN_NS;
	}
	pthread_mutex_unlock(&s->lock);
	return t ? 0 : -EAGAIN;
}

int share_token(struct share *s, struct mem_file *f, uid_t uid,
		struct k80_share *out)
{
	struct k80_share made = { 0 };
	struct mem_share memory;
	int ret;

	if (getrandom(made.token, sizeof(made.token), 0) !=
	    (ssize_t)sizeof(made.token))
		return -EIO;
	/* what fails fails here, where there is an errno for it */
	ret = s->source->get(f, &memory);
	if (ret)
		return ret;
	made.len = memory.len;
	memcpy(made.uuid, memory.uuid, sizeof(made.uuid));
	s->source->free(&memory);
	snprintf(made.socket, sizeof(made.socket), "%s", s->path);
	ret = token_add(s, f, uid, made.token);
	if (ret)
		return ret;
	/* it looks again when the first of them is too old */
	wake(s);
	*out = made;
	return 0;
}

/* In a time that says nothing of how much was right. */
static bool is_same(const uint8_t *a, const uint8_t *b)
{
	volatile uint8_t differs = 0;

	for (unsigned int i = 0; i < K80_TOKEN_LEN; i++)
		differs = differs | (uint8_t)(a[i] ^ b[i]);
	return !differs;
}

/* The file of a token, which is gone with that; NULL: it is not good. */
static struct mem_file *token_spend(struct share *s,
				    const uint8_t bytes[K80_TOKEN_LEN])
{
	struct mem_file *file = NULL;
	uint64_t now = now_ns();

	pthread_mutex_lock(&s->lock);
	for (unsigned int i = 0; i < SHARE_MAX_TOKENS; i++) {
		struct token *t = &s->tokens[i];

		if (!is_same(t->bytes, bytes) || !t->file || t->until <= now)
			continue;
		file = t->file;
		memset(t, 0, sizeof(*t));
	}
	pthread_mutex_unlock(&s->lock);
	return file;
}

/* Those that are too old; returns when to look again. */
static uint64_t expire_tokens(struct share *s, uint64_t now)
{
	struct mem_file *old[SHARE_MAX_TOKENS];
	uint64_t next = UINT64_MAX;
	unsigned int n = 0;

	pthread_mutex_lock(&s->lock);
	for (unsigned int i = 0; i < SHARE_MAX_TOKENS; i++) {
		struct token *t = &s->tokens[i];

		if (!t->file)
			continue;
		if (t->until > now && !s->is_stopping) {
			next = min_u64(next, t->until);
			continue;
		}
		old[n++] = t->file;
		memset(t, 0, sizeof(*t));
	}
	pthread_mutex_unlock(&s->lock);
	/* the last to count on a file frees its memory */
	while (n)
		s->source->put(old[--n]);
	return next;
}

/* ---- conversations --------------------------------------------------------- */

static void client_end(struct share *s, struct client *c)
{
	close(c->fd);
	if (c->is_paid)
		s->source->free(&c->memory);
	memset(c, 0, sizeof(*c));
	c->fd = -1;
}

static int send_head(struct client *c, int result)
{
	struct k80_head head = { .magic = K80_WIRE_MAGIC, .result = result };

	if (!result) {
		head.n_chunks = c->memory.n;
		head.len = c->memory.len;
		memcpy(head.uuid, c->memory.uuid, sizeof(head.uuid));
	}
	for (unsigned int i = 0; !result && i < c->memory.n; i++)
		head.bytes += c->memory.chunks[i].len;
	return share_send(c->fd, &head, sizeof(head), NULL, 0);
}

static int send_batch(struct client *c)
{
	const struct mem_share_chunk *chunk = c->memory.chunks + c->n_sent;
	struct k80_batch batch = { 0 };
	int fds[K80_BATCH_MAX];

	batch.n = MIN(c->memory.n - c->n_sent, (unsigned int)K80_BATCH_MAX);
	for (unsigned int i = 0; i < batch.n; i++) {
		batch.len[i] = chunk[i].len;
		fds[i] = chunk[i].fd;
	}
	c->n_sent += batch.n;
	return share_send(c->fd, &batch, sizeof(batch), fds, batch.n);
}

/* The memory, if the token is good. */
static int pay(struct share *s, struct client *c, const struct k80_ask *ask)
{
	struct mem_file *file;
	int ret;

	if (ask->magic != K80_WIRE_MAGIC)
		return -EPROTO;
	file = token_spend(s, ask->token);
	if (!file)
		return -EACCES;
	ret = s->source->get(file, &c->memory);
	s->source->put(file);
	c->is_paid = !ret;
	return ret;
}

/* Returns 0: there is more to come. */
static int hear_ask(struct share *s, struct client *c)
{
	struct k80_ask ask;
	int ret = share_receive(c->fd, &ask, sizeof(ask));
	int refusal;

	if (ret)
		return ret;
	refusal = pay(s, c, &ask);
	ret = send_head(c, refusal);
	if (!ret)
		ret = refusal;
	if (!ret && c->memory.n)
		ret = send_batch(c);
	return ret;
}

static int hear_ack(struct client *c)
{
	struct k80_ack ack;
	int ret = share_receive(c->fd, &ack, sizeof(ack));

	if (ret)
		return ret;
	return ack.n_chunks == c->n_sent ? send_batch(c) : -EPROTO;
}

static void client_hear(struct share *s, struct client *c)
{
	int ret = c->is_paid ? hear_ack(c) : hear_ask(s, c);

	if (ret == -EAGAIN)
		return;
	if (ret)
		log_debug("share: a client of uid %u: %s", c->uid,
			  strerror(-ret));
	/* who has got all needs nobody any more */
	if (ret || c->n_sent == c->memory.n)
		client_end(s, c);
}

/* A place for one more; NULL: all are taken, or @uid has its share. */
static struct client *client_place(struct share *s, uid_t uid)
{
	struct client *found = NULL;
	unsigned int n = 0;

	for (unsigned int i = 0; i < SHARE_MAX_CLIENTS; i++) {
		struct client *c = &s->clients[i];

		if (c->fd < 0)
			found = c;
		else if (c->uid == uid)
			n++;
	}
	return n < SHARE_UID_CLIENTS ? found : NULL;
}

static void client_accept(struct share *s)
{
	struct ucred who = { .uid = (uid_t)-1 };
	socklen_t len = sizeof(who);
	int fd = accept4(s->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct client *c;

	if (fd < 0) {
		if (errno == EMFILE || errno == ENFILE || errno == ENOMEM)
			s->deaf_until = now_ns() + DEAF_NS;
		return;
	}
	c = getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len)
		    ? NULL
		    : client_place(s, who.uid);
	if (!c) {
		close(fd);
		return;
	}
	c->fd = fd;
	c->uid = who.uid;
	c->until = now_ns() + SHARE_CLIENT_NS;
}

/* ---- the thread ------------------------------------------------------------ */

static int timeout_ms(uint64_t now, uint64_t next)
{
	if (next == UINT64_MAX)
		return -1;
	return next <= now
		       ? 0
		       : (int)min_u64((next - now) / NSEC_PER_MSEC + 1, 60000);
}

/* Whom to listen to; returns when to look again whatever comes. */
static uint64_t prepare(struct share *s, struct pollfd *fds, uint64_t now)
{
	uint64_t next = expire_tokens(s, now);
	bool is_full = true;

	for (unsigned int i = 0; i < SHARE_MAX_CLIENTS; i++) {
		struct client *c = &s->clients[i];

		if (c->fd >= 0 && c->until <= now)
			client_end(s, c);
		if (c->fd >= 0)
			next = min_u64(next, c->until);
		else
			is_full = false;
		fds[POLL_CLIENTS + i] =
			(struct pollfd){ .fd = c->fd, .events = POLLIN };
	}
	fds[POLL_WAKE] = (struct pollfd){ .fd = s->wake_fd, .events = POLLIN };
	fds[POLL_LISTEN] = (struct pollfd){ .fd = -1, .events = POLLIN };
	if (s->deaf_until > now)
		next = min_u64(next, s->deaf_until);
	else if (!is_full)
		fds[POLL_LISTEN].fd = s->listen_fd;
	return next;
}

static bool is_stopping(struct share *s)
{
	bool is;

	pthread_mutex_lock(&s->lock);
	is = s->is_stopping;
	pthread_mutex_unlock(&s->lock);
	return is;
}

static void *serve(void *arg)
{
	struct pollfd fds[POLL_CLIENTS + SHARE_MAX_CLIENTS];
	struct share *s = arg;
	uint64_t count;

	while (!is_stopping(s)) {
		uint64_t now = now_ns(), next = prepare(s, fds, now);

		if (poll(fds, ARRAY_SIZE(fds), timeout_ms(now, next)) <= 0)
			continue;
		if (fds[POLL_WAKE].revents &&
		    read(s->wake_fd, &count, sizeof(count)) < 0)
			log_debug("share: wake: %s", strerror(errno));
		for (unsigned int i = 0; i < SHARE_MAX_CLIENTS; i++)
			if (fds[POLL_CLIENTS + i].revents)
				client_hear(s, &s->clients[i]);
		if (fds[POLL_LISTEN].revents)
			client_accept(s);
	}
	return NULL;
}

int share_start(struct share **out, const char *dir,
		const struct share_source *source)
{
	struct share *s = calloc(1, sizeof(*s));
	int ret;

	if (!s)
		return -ENOMEM;
	s->source = source;
	pthread_mutex_init(&s->lock, NULL);
	for (unsigned int i = 0; i < SHARE_MAX_CLIENTS; i++)
		s->clients[i].fd = -1;
	s->listen_fd = share_listen(dir, s->path);
	if (s->listen_fd < 0) {
		ret = s->listen_fd;
		goto out_free;
	}
	s->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (s->wake_fd < 0) {
		ret = -errno;
		goto out_listen;
	}
	ret = -pthread_create(&s->thread, NULL, serve, s);
	if (ret)
		goto out_wake;
	*out = s;
	return 0;

out_wake:
	close(s->wake_fd);
out_listen:
	close(s->listen_fd);
	unlink(s->path);
out_free:
	pthread_mutex_destroy(&s->lock);
	free(s);
	return ret;
}

void share_stop(struct share *s)
{
	if (!s)
		return;
	pthread_mutex_lock(&s->lock);
	s->is_stopping = true;
	pthread_mutex_unlock(&s->lock);
	wake(s);
	pthread_join(s->thread, NULL);
	unlink(s->path);
	close(s->listen_fd);
	close(s->wake_fd);
	for (unsigned int i = 0; i < SHARE_MAX_CLIENTS; i++)
		if (s->clients[i].fd >= 0)
			client_end(s, &s->clients[i]);
	expire_tokens(s, now_ns());
	pthread_mutex_destroy(&s->lock);
	free(s);
}

const char *share_path(const struct share *s)
{
	return s->path;
}
