// SPDX-License-Identifier: GPL-2.0-or-later
#include "fake_memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mem/mem.h"

struct fake_memory fake_memory;
struct mem_file *const fake_memory_file = (struct mem_file *)&fake_memory;

static void fake_count(struct mem_file *f)
{
	(void)f;
	fake_memory.counted++;
}

static void fake_put(struct mem_file *f)
{
	(void)f;
	fake_memory.counted--;
}

static int fake_get(struct mem_file *f, struct mem_share *out)
{
	unsigned int n = fake_memory.n_chunks;

	(void)f;
	if (fake_memory.get_error)
		return fake_memory.get_error;
	memset(out, 0, sizeof(*out));
	out->n = n;
	out->len = n * FAKE_MEMORY_CHUNK - (n ? 1 : 0);
	memset(out->uuid, FAKE_MEMORY_UUID, sizeof(out->uuid));
	out->chunks = calloc(n ? n : 1, sizeof(*out->chunks));
	for (unsigned int i = 0; i < n; i++) {
		struct mem_share_chunk *c = &out->chunks[i];

		c->off = i * FAKE_MEMORY_CHUNK;
		c->len = FAKE_MEMORY_CHUNK;
		c->fd = memfd_create("chunk", MFD_CLOEXEC);
		if (c->fd < 0 || ftruncate(c->fd, (off_t)i + 1))
			abort();
	}
	fake_memory.n_out++;
	return 0;
}

static void fake_free(struct mem_share *s)
{
	for (unsigned int i = 0; i < s->n; i++)
		close(s->chunks[i].fd);
	free(s->chunks);
	fake_memory.n_out--;
}

const struct share_source fake_memory_source = {
	.count = fake_count,
	.put = fake_put,
	.get = fake_get,
	.free = fake_free,
};

void fake_memory_reset(unsigned int n)
{
	memset(&fake_memory, 0, sizeof(fake_memory));
	fake_memory.n_chunks = n;
}
