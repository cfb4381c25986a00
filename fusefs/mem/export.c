/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file's memory for other programs. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mem/chunks.h"
#include "mem/commit.h"
#include "mem/file.h"

/* Those that have bytes of the file: they come first. */
static unsigned int count_locked(const struct mem_file *f)
{
	unsigned int n = 0;

	while (n < f->n_chunks && f->chunks[n]->off < f->len)
		n++;
	return n;
}

static int dup_locked(const struct mem_file *f, struct mem_share *out)
{
	unsigned int n = count_locked(f);

	out->chunks = calloc(n + 1, sizeof(*out->chunks));
	if (!out->chunks)
		return -ENOMEM;
	for (; out->n < n; out->n++) {
		const struct mem_chunk *c = f->chunks[out->n];
		int fd = fcntl(c->chunk.fd, F_DUPFD_CLOEXEC, 0);

		if (fd < 0)
			return errno == EMFILE ? -ENFILE : -errno;
		out->chunks[out->n] = (struct mem_share_chunk){
			.off = c->off,
			.len = c->chunk.len,
			.id = c->id,
			.fd = fd,
		};
	}
	return 0;
}

static int share_locked(struct mem_file *f, struct mem_share *out)
{
	uint64_t done;
	int ret;

	out->len = f->len;
	ret = backend_uuid(f->d->be, f->d->die, out->uuid);
	if (!ret)
		ret = chunks_fill(f, 0, f->len, &done);
	if (ret || !f->len)
		return ret;
	/* from here on others change the bytes, those behind the end too */
	f->is_shared = true;
	f->d->is_dirty = true;
	f->has_old_tail = true;
	chunks_stop_readers(f);
	backend_forget(f->d->be, f->d->die, f->extent->off, f->extent->len);
	return dup_locked(f, out);
}

int mem_share_get(struct mem_file *f, struct mem_share *out)
{
	int ret;

	memset(out, 0, sizeof(*out));
	pthread_rwlock_wrlock(&f->lock);
	ret = share_locked(f, out);
	pthread_rwlock_unlock(&f->lock);
	if (!ret)
		ret = mem_sync(f);
	if (ret)
		mem_share_free(out);
	return ret;
}

void mem_share_free(struct mem_share *s)
{
	for (unsigned int i = 0; i < s->n; i++)
		close(s->chunks[i].fd);
	free(s->chunks);
	memset(s, 0, sizeof(*s));
}
