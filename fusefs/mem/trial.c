/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mem/trial.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "owner/try.h"

static void fail(struct mem_die *d, const char *what, int ret)
{
	char call[160];

	backend_chunk_why(d->be, d->die, call, sizeof(call));
	snprintf(d->why, sizeof(d->why), "%s: %s", what,
		 *call ? call : strerror(-ret));
}

static int put_word(struct mem_die *d, struct backend_chunk *c, uint64_t off,
		    uint64_t word)
{
	int ret;

	ret = backend_chunk_map(d->be, d->die, c, off);
	if (!ret)
		ret = backend_write(d->be, d->die, off, &word, sizeof(word));
	return ret ? ret : backend_sync(d->be, d->die);
}

/* Another program is to find the same word there. */
static void ask(struct mem_die *d, const struct backend_chunk *c, uint64_t word)
{
	uint8_t uuid[BACKEND_UUID_LEN];
	uint64_t got = 0;
	char why[160] = "";
	int ret;

	ret = backend_uuid(d->be, d->die, uuid);
	if (!ret)
		ret = owner_try_import(c->fd, c->len, uuid, &got, why,
				       sizeof(why));
	if (ret)
		snprintf(d->why, sizeof(d->why),
			 "another program cannot have its memory: %s",
			 *why ? why : strerror(-ret));
	else if (got != word)
		snprintf(d->why, sizeof(d->why),
			 "another program reads something else in its memory");
}

static void try_chunk(struct mem_die *d, struct backend_chunk *c, uint64_t off)
{
	uint64_t word = 0;
	int ret = 0;

	if (getrandom(&word, sizeof(word), 0) != sizeof(word))
		ret = -errno;
	if (!ret)
		ret = put_word(d, c, off, word);
	if (ret)
		fail(d, "memory that can be shared cannot be used", ret);
	else
		ask(d, c, word);
	backend_chunk_unmap(d->be, d->die, c);
	backend_chunk_free(d->be, d->die, c);
}

void trial_run(struct mem_die *d)
{
	struct backend_chunk c;
	struct extent *e;
	int ret;

	ret = extent_take(&d->space, d->unit, &e);
	if (ret) {
		fail(d, "no address space", ret);
		return;
	}
	ret = backend_chunk_make(d->be, d->die, d->unit, &c);
	if (!ret)
		try_chunk(d, &c, e->off);
	else if (ret != -ENOSPC)
		fail(d, "memory that can be shared cannot be made", ret);
	extent_give(e);
}
