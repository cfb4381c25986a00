/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mem/record.h"

#include <string.h>
#include <sys/stat.h>

static bool is_name(const char *name)
{
	return *name && memchr(name, '\0', MEM_TABLE_NAME_MAX + 1) &&
	       !strchr(name, '/') && strcmp(name, ".") && strcmp(name, "..");
}

static bool are_chunks(const struct mem_table_chunk *chunks, uint64_t n,
		       uint64_t next_id)
{
	uint64_t end = 0;

	for (uint64_t i = 0; i < n; i++) {
		const struct mem_table_chunk *c = &chunks[i];

		if (c->off % MEM_TABLE_UNIT || c->len % MEM_TABLE_UNIT ||
		    c->off < end || !c->len || c->off > INT64_MAX ||
		    c->len > INT64_MAX - c->off || !c->id || c->id >= next_id)
			return false;
		end = c->off + c->len;
	}
	return true;
}

bool record_may_be(const struct mem_table_file *f,
		   const struct mem_table_head *head)
{
	return is_name(f->name) && f->ino && f->ino < head->next_ino &&
	       f->len <= INT64_MAX &&
	       !(f->mode & ~(S_IFREG | 07777 | MEM_TABLE_SHARED)) &&
	       are_chunks(f->chunks, f->n_chunks, head->next_chunk_id);
}

static size_t room(uint64_t name_len, uint64_t n_chunks)
{
	return sizeof(struct record) + ((name_len + 8) & ~(size_t)7) +
	       n_chunks * sizeof(struct mem_table_chunk);
}

size_t record_room(const struct mem_table_file *f)
{
	return room(strlen(f->name), f->n_chunks);
}

void record_write(void *to, const struct mem_table_file *f)
{
	const struct record r = {
		.ino = f->ino,
		.len = f->len,
		.mtime_ns = f->mtime_ns,
		.ctime_ns = f->ctime_ns,
		.atime_ns = f->atime_ns,
		.mode = f->mode,
		.uid = f->uid,
		.gid = f->gid,
		.n_chunks = f->n_chunks,
		.name_len = strlen(f->name),
	};
	size_t with_name = room(r.name_len, 0);

	memset(to, 0, with_name);
	memcpy(to, &r, sizeof(r));
	memcpy((char *)to + sizeof(r), f->name, r.name_len);
	if (f->n_chunks)
		memcpy((char *)to + with_name, f->chunks,
		       f->n_chunks * sizeof(*f->chunks));
}

const char *record_name(const struct record *r)
{
	return (const char *)(r + 1);
}

size_t record_read(const struct record *r, size_t left, struct mem_table_file *f)
{
	if (left < sizeof(*r) || r->name_len > MEM_TABLE_NAME_MAX ||
	    room(r->name_len, r->n_chunks) > left)
		return 0;
	if (strnlen(record_name(r), r->name_len + 1) != r->name_len)
		return 0;
	memcpy(f->name, record_name(r), r->name_len + 1);
	f->ino = r->ino;
	f->len = r->len;
	f->mode = r->mode;
	f->uid = r->uid;
	f->gid = r->gid;
	f->mtime_ns = r->mtime_ns;
	f->ctime_ns = r->ctime_ns;
	f->atime_ns = r->atime_ns;
	f->n_chunks = r->n_chunks;
	f->chunks = (const struct mem_table_chunk *)((const char *)r +
						     room(r->name_len, 0));
	return room(r->name_len, r->n_chunks);
}
