/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "keeper/answers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"

/* a fixed number, Documentation/admin-guide/devices.txt of the kernel */
#define FUSE_DEVICE_MAJOR 10
#define FUSE_DEVICE_MINOR 229

static void unstage(struct store *s, struct client *c)
{
	for (size_t i = 0; i < c->n_staged; i++)
		close(c->staged[i].fd);
	s->n_staged -= c->n_staged;
	free(c->staged);
	c->staged = NULL;
	c->n_staged = 0;
}

static bool is_memory(int fd)
{
	return fcntl(fd, F_GET_SEALS) >= 0;
}

/*
 * Only what is closed without a wait is kept: no file of a file system, which
 * could even be one of the client's own, and no socket. stat() of such a file
 * would wait for its file system.
 */
static bool may_be_kept(int fd, bool is_memory_ok)
{
	struct statx st;

	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE, &st))
		return false;
	if (S_ISREG(st.stx_mode))
		return is_memory_ok && is_memory(fd);
	/* a mount whose device somebody else has open hangs instead of ending */
	return S_ISCHR(st.stx_mode) && !(st.stx_rdev_major == FUSE_DEVICE_MAJOR &&
					 st.stx_rdev_minor == FUSE_DEVICE_MINOR);
}

static int hello(struct store *s, struct client *c, struct talk *t)
{
	(void)s;
	(void)c;
	(void)t;
	return 0;
}

static int claim(struct store *s, struct client *c, struct talk *t)
{
	int ret = kept_claim(&s->kept, t->uuid, c, c->pid);

	if (ret == -EBUSY)
		t->answer.holder = kept_find(&s->kept, t->uuid)->holder_pid;
	return ret;
}

static int table(struct store *s, struct client *c, struct talk *t)
{
	const struct kept_pool *p = kept_find(&s->kept, t->uuid);

	(void)c;
	if (!p || p->table < 0)
		return -ENOENT;
	t->out_fds[t->n_out_fds++] = p->table;
	return 0;
}

static int set_table(struct store *s, struct client *c, struct talk *t)
{
	(void)c;
	if (!is_memory(t->fds[0]))
		return -EINVAL;
	kept_replace(&kept_find(&s->kept, t->uuid)->table, t->fds[0]);
	t->fds[0] = -1;
	return 0;
}

static int anchor(struct store *s, struct client *c, struct talk *t)
{
	(void)c;
	if (!may_be_kept(t->fds[0], false))
		return -EINVAL;
	kept_replace(&kept_find(&s->kept, t->uuid)->anchor, t->fds[0]);
	t->fds[0] = -1;
	return 0;
}

static int stage(struct store *s, struct client *c, struct talk *t)
{
	size_t n = t->ask.n;
	struct keeper_chunk *all;

	for (size_t i = 0; i < n; i++)
		if (!t->ask.items[i].id || !may_be_kept(t->fds[i], true))
			return -EINVAL;
	all = realloc(c->staged, (c->n_staged + n) * sizeof(*all));
	if (!all)
		return -ENOMEM;
	c->staged = all;
	memcpy(c->staged_for, t->ask.uuid, KEEPER_DIGITS);
	for (size_t i = 0; i < n; i++) {
		all[c->n_staged++] =
			(struct keeper_chunk){ .id = t->ask.items[i].id,
					       .fd = t->fds[i],
					       .len = t->ask.items[i].len };
		t->fds[i] = -1;
	}
	s->n_staged += n;
	return 0;
}

static int put(struct store *s, struct client *c, struct talk *t)
{
	int ret = stage(s, c, t);

	if (ret || t->ask.flags & KEEPER_MORE)
		return ret;
	ret = kept_put(kept_find(&s->kept, t->uuid), c->staged, c->n_staged);
	if (ret)
		return ret;
	s->n_staged -= c->n_staged;
	c->n_staged = 0;
	return 0;
}

static int drop(struct store *s, struct client *c, struct talk *t)
{
	uint64_t ids[KEEPER_BATCH];

	(void)c;
	for (size_t i = 0; i < t->ask.n; i++) {
		if (!t->ask.items[i].id || t->ask.items[i].len)
			return -EINVAL;
		ids[i] = t->ask.items[i].id;
	}
	return kept_drop(kept_find(&s->kept, t->uuid), ids, t->ask.n);
}

static int each(struct store *s, struct client *c, struct talk *t)
{
	const struct kept_pool *p = kept_find(&s->kept, t->uuid);

	(void)c;
	if (!p)
		return 0;
	for (size_t i = kept_above(p, t->ask.from);
	     i < p->n && t->answer.n < KEEPER_BATCH; i++) {
		t->answer.ids[t->answer.n++] = p->chunks[i].id;
		t->out_fds[t->n_out_fds++] = p->chunks[i].fd;
	}
	return 0;
}

static int pools(struct store *s, struct client *c, struct talk *t)
{
	const struct kept_pool *p;

	(void)c;
	if (t->ask.from >= s->kept.n_pools)
		return -ENOENT;
	p = s->kept.pools[t->ask.from];
	memcpy(t->answer.uuid, p->uuid, KEEPER_DIGITS);
	t->answer.n_chunks = p->n;
	t->answer.n_bytes = kept_bytes(p);
	t->answer.flags = (p->table < 0 ? 0 : KEEPER_HAS_TABLE) |
			  (p->anchor < 0 ? 0 : KEEPER_HAS_ANCHOR);
	t->answer.holder = p->holder_pid;
	return 0;
}

static int free_pool(struct store *s, struct client *c, struct talk *t)
{
	struct kept_pool *p = kept_find(&s->kept, t->uuid);

	(void)c;
	if (!p)
		return -ENOENT;
	t->answer.holder = p->holder_pid;
	if (p->holder)
		return -EBUSY;
	kept_free(&s->kept, p);
	return 0;
}

/**
 * struct op - what may be in a question, and who answers it
 * @n_fds: descriptors besides one for each item
 */
static const struct op {
	bool has_uuid, has_items, has_item_fds, has_from;
	bool needs_claim;
	size_t n_fds;
	uint32_t flags;
	int (*run)(struct store *s, struct client *c, struct talk *t);
} ops[] = {
	[KEEPER_HELLO] = { .run = hello },
	[KEEPER_CLAIM] = { .has_uuid = true, .run = claim },
	[KEEPER_TABLE] = { .has_uuid = true, .run = table },
	[KEEPER_SET_TABLE] = { .has_uuid = true,
			       .needs_claim = true,
			       .n_fds = 1,
			       .run = set_table },
	[KEEPER_PUT] = { .has_uuid = true,
			 .has_items = true,
			 .has_item_fds = true,
			 .needs_claim = true,
			 .flags = KEEPER_MORE,
			 .run = put },
	[KEEPER_DROP] = { .has_uuid = true,
			  .has_items = true,
			  .needs_claim = true,
			  .run = drop },
	[KEEPER_EACH] = { .has_uuid = true, .has_from = true, .run = each },
	[KEEPER_ANCHOR] = { .has_uuid = true,
			    .needs_claim = true,
			    .n_fds = 1,
			    .run = anchor },
	[KEEPER_POOLS] = { .has_from = true, .run = pools },
	[KEEPER_FREE] = { .has_uuid = true, .run = free_pool },
};

static bool is_uuid(const char *digits)
{
	for (size_t i = 0; i < KEEPER_DIGITS; i++)
		if (!((digits[i] >= '0' && digits[i] <= '9') ||
		      (digits[i] >= 'a' && digits[i] <= 'f')))
			return false;
	return true;
}

/* Every field is what its question may say. NULL: it is not. */
static const struct op *check(const struct talk *t)
{
	static const char zeros[KEEPER_DIGITS];
	const struct keeper_ask *a = &t->ask;
	const struct op *op;

	if (t->len < offsetof(struct keeper_ask, items) ||
	    a->op >= ARRAY_SIZE(ops) || !ops[a->op].run)
		return NULL;
	op = &ops[a->op];
	if (op->has_items ? !a->n || a->n > KEEPER_BATCH : a->n)
		return NULL;
	if (t->len !=
	    offsetof(struct keeper_ask, items) + a->n * sizeof(*a->items))
		return NULL;
	if (a->flags & ~op->flags || a->zero || (a->from && !op->has_from))
		return NULL;
	if (op->has_uuid ? !is_uuid(a->uuid)
			 : memcmp(a->uuid, zeros, sizeof(zeros)))
		return NULL;
	return op;
}

static int run(struct store *s, struct client *c, struct talk *t)
{
	const struct op *op;
	const struct kept_pool *p;

	if (t->len < sizeof(t->ask.version) || t->ask.version != KEEPER_VERSION)
		return -EPROTO;
	op = check(t);
	if (!op)
		return -EINVAL;
	/* the parts of a put come behind one another */
	if (c->n_staged && (op->run != put ||
			    memcmp(c->staged_for, t->ask.uuid, KEEPER_DIGITS)))
		return -EINVAL;
	if (t->is_short)
		return -ENFILE;
	if (t->n_fds != op->n_fds + (op->has_item_fds ? t->ask.n : 0))
		return -EINVAL;
	memcpy(t->uuid, t->ask.uuid, KEEPER_DIGITS);
	p = op->needs_claim ? kept_find(&s->kept, t->uuid) : NULL;
	if (op->needs_claim && (!p || p->holder != c))
		return -EPERM;
	if (t->n_fds && t->n_fds + s->n_staged + kept_fds(&s->kept) > s->max_fds)
		return -ENFILE;
	return op->run(s, c, t);
}

int answers_run(struct store *s, struct client *c, struct talk *t)
{
	int ret = run(s, c, t);

	if (ret)
		unstage(s, c);
	return ret;
}

void answers_leave(struct store *s, struct client *c)
{
	unstage(s, c);
	kept_leave(&s->kept, c);
}
