/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One file of a table, as bytes.
 */
#ifndef MEM_RECORD_H
#define MEM_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mem/table.h"

/**
 * struct record - what has one length; behind it the name and a NUL, filled up
 * to a multiple of eight, and then the chunks
 */
struct record {
	uint64_t ino, len;
	int64_t mtime_ns, ctime_ns, atime_ns;
	uint32_t mode, uid, gid;
	uint32_t n_chunks;
	uint64_t name_len;
};

/** record_may_be() - whether this file can be in a table of that head */
bool record_may_be(const struct mem_table_file *f,
		   const struct mem_table_head *head);

/** record_room() - bytes that record_write() takes, a multiple of eight */
size_t record_room(const struct mem_table_file *f);

/** record_write() - @to: of record_room() bytes, aligned to eight */
void record_write(void *to, const struct mem_table_file *f);

/**
 * record_read() - a record of which nothing is believed
 * @left: bytes from @r on, which is aligned to eight
 * @f:    out: its chunks are in @r
 *
 * Return: its length in bytes, at most @left; 0 that is none.
 */
size_t record_read(const struct record *r, size_t left, struct mem_table_file *f);

/** record_name() - of one that record_read() has read */
const char *record_name(const struct record *r);

#endif /* MEM_RECORD_H */
