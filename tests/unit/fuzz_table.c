// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libFuzzer target for the table of a pool. The input is one copy: three bytes
 * (number of files, next ino, next chunk id), then its records, to whose end
 * zeros make a whole word. The length and the CRC are made right, or nothing
 * would get past them.
 *
 * What must hold: nothing outside the copy is read, and a file that is handed
 * out is one that mem_table_add() takes; written again, all of them are read
 * back as they were.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mem/crc.h"
#include "mem/table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)                                              \
	do {                                                         \
		if (!(condition)) {                                  \
			fprintf(stderr, "not so: %s\n", #condition); \
			abort();                                     \
		}                                                    \
	} while (0)

/* the format: what is in a copy before its records, in words */
enum { GENERATION, CRC, LEN, N_FILES, NEXT_INO, NEXT_ID, HEAD_WORDS };

#define MAX_RECORDS ((size_t)1 << 16)

struct reading {
	void *again; /* a table that gets each file, NULL for none */
	uint64_t n;
	uint64_t sum; /* of all that is told */
};

static uint64_t sum_of(const struct mem_table_file *f)
{
	uint64_t sum = f->ino * 3 + f->len * 5 + (uint64_t)f->mtime_ns * 7 +
		       (uint64_t)f->ctime_ns * 11 + (uint64_t)f->atime_ns * 13 +
		       f->mode * 17 + f->uid * 19 + f->gid * 23;

	for (const char *c = f->name; *c; c++)
		sum = sum * 31 + (unsigned char)*c;
	for (unsigned int i = 0; i < f->n_chunks; i++)
		sum = sum * 37 + f->chunks[i].off + f->chunks[i].len * 3 +
		      f->chunks[i].id * 5;
	return sum;
}

static int take(void *arg, const struct mem_table_file *f)
{
	struct reading *r = arg;

	r->n++;
	r->sum = r->sum * 41 + sum_of(f);
	MUST(!r->again || !mem_table_add(r->again, f));
	return 0;
}

static void *make(void)
{
	void *map;
	int fd;

	MUST(!mem_table_new(&fd, &map));
	close(fd);
	return map;
}

/* The records as the valid copy of a table; the other one is none. */
static void fill(void *map, const uint8_t *data, size_t size)
{
	uint64_t word = 3, *copies[2], *c;

	for (int i = 0; i < 2; i++)
		copies[i] = (uint64_t *)((char *)map + MEM_TABLE_HEAD_BYTES +
					 (size_t)i * MEM_TABLE_COPY_BYTES);
	memcpy((char *)map + 16, &word, sizeof(word));
	memset(copies[0], 0, HEAD_WORDS * sizeof(*c));
	c = copies[1];
	c[GENERATION] = word;
	c[LEN] = HEAD_WORDS * sizeof(*c) + ((size + 7) & ~(size_t)7);
	c[N_FILES] = data[0];
	c[NEXT_INO] = data[1];
	c[NEXT_ID] = data[2];
	memset(c + HEAD_WORDS, 0, c[LEN] - HEAD_WORDS * sizeof(*c));
	memcpy(c + HEAD_WORDS, data + 3, size - 3);
	c[CRC] = crc_words(crc_words(0, &c[GENERATION], 1), &c[LEN],
			   c[LEN] / sizeof(*c) - LEN);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void *map, *again;
	struct mem_table_head head, head_again;
	struct reading one = { 0 }, two = { 0 };
	char why[256];

	if (!map) {
		map = make();
		again = make();
	}
	if (size < 3 || size > MAX_RECORDS)
		return 0;
	fill(map, data, size);
	if (mem_table_read(map, &head, take, &one, why, sizeof(why)))
		return 0;
	MUST(one.n == data[0] && !*why);
	mem_table_begin(again, &head);
	two.again = again;
	MUST(!mem_table_read(map, &head, take, &two, why, sizeof(why)));
	mem_table_commit(again);
	two = (struct reading){ 0 };
	MUST(!mem_table_read(again, &head_again, take, &two, why, sizeof(why)));
	MUST(two.n == one.n && two.sum == one.sum);
	MUST(head_again.next_ino == head.next_ino);
	MUST(head_again.next_chunk_id == head.next_chunk_id);
	return 0;
}
