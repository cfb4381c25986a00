/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of a pool: names, lengths, rights and chunks of its files, in
 * memory that outlives who writes it. Pure, but for the memory it is given.
 *
 * A memfd that cannot change its size holds a word and two copies. The word is
 * a generation and so names the valid copy; a commit writes the other one and
 * then stores the word, once. A writer that is killed at any instant leaves the
 * table before its commit or the one after it.
 *
 * One thread writes at a time, and nobody else: who writes has claimed the pool
 * (keeper_claim()).
 */
#ifndef MEM_TABLE_H
#define MEM_TABLE_H

#include <stddef.h>
#include <stdint.h>

#define MEM_TABLE_HEAD_BYTES ((size_t)4096)
#define MEM_TABLE_COPY_BYTES ((size_t)16 << 20)
#define MEM_TABLE_BYTES      (MEM_TABLE_HEAD_BYTES + 2 * MEM_TABLE_COPY_BYTES)

/* a chunk begins and ends at multiples of this */
#define MEM_TABLE_UNIT ((uint64_t)2 << 20)

#define MEM_TABLE_NAME_MAX 255 /* bytes, without the NUL */

/* in a mode: other programs may have the file's memory mapped */
#define MEM_TABLE_SHARED ((uint32_t)1 << 31)

/**
 * struct mem_table_chunk - where a chunk is in its file
 * @off: bytes into the file; @off and @len are multiples of MEM_TABLE_UNIT
 * @id:  the keeper's, 1 .. next_chunk_id - 1; of no other chunk of the pool
 */
struct mem_table_chunk {
	uint64_t off, len, id;
};

/**
 * struct mem_table_file - one file
 * @name:   1 to MEM_TABLE_NAME_MAX bytes but '/', neither "." nor ".."; of no
 *          other file of the pool
 * @ino:    the pool's counter alone, without the die: 1 .. next_ino - 1; of no
 *          other file
 * @len:    bytes, at most INT64_MAX
 * @mode:   permissions (07777), with S_IFREG or without, and MEM_TABLE_SHARED
 * @chunks: by offset, none over another; between them are holes
 */
struct mem_table_file {
	char name[MEM_TABLE_NAME_MAX + 1];
	uint64_t ino, len;
	uint32_t mode, uid, gid;
	int64_t mtime_ns, ctime_ns, atime_ns;
	unsigned int n_chunks;
	const struct mem_table_chunk *chunks;
};

/**
 * struct mem_table_head - what is never given twice in a pool's life
 *
 * Both are 1 in a new table.
 */
struct mem_table_head {
	uint64_t next_ino, next_chunk_id;
};

/**
 * mem_table_new() - make an empty table
 * @fd:  out: a memfd, closed by exec
 * @map: out: it, mapped; for mem_table_unmap()
 *
 * Return: 0; -errno.
 */
int mem_table_new(int *fd, void **map);

/**
 * mem_table_open() - map a table that another process has made
 * @fd:  stays the caller's
 * @map: out: for mem_table_unmap()
 *
 * Return: 0; -EBADMSG it is not one: no memfd of that size which keeps it, or
 * another magic; -EPROTO of another version; -errno.
 */
int mem_table_open(int fd, void **map);

/** mem_table_unmap() - @map may be NULL */
void mem_table_unmap(void *map);

/**
 * mem_table_begin() - begin a new copy, where the valid one is not
 *
 * One that was begun and not committed is forgotten.
 */
void mem_table_begin(void *map, const struct mem_table_head *head);

/**
 * mem_table_add() - the next file of the new copy
 *
 * Return: 0; -EINVAL the file alone says that mem_table_read() would refuse it;
 * -ENOSPC the table is full. Then the copy may still be committed, without it.
 */
int mem_table_add(void *map, const struct mem_table_file *f);

/** mem_table_commit() - make the new copy the valid one */
void mem_table_commit(void *map);

/**
 * mem_table_read() - what is in the valid copy
 * @head: out
 * @file: called for each file, in the order of mem_table_add(); what it gets is
 *        its until it returns. Anything but 0 ends the reading
 * @why:  out: empty, or a line on what was wrong with the copy that the word
 *        names, from which the other one was taken
 *
 * Nothing of a copy is handed out before all of it was found to be right: its
 * CRC, every length, every number, no chunk over another or off the unit, no
 * name, ino or chunk id twice.
 * Return: 0; what @file returned; -EBADMSG neither copy is right; -ENOMEM.
 */
int mem_table_read(const void *map, struct mem_table_head *head,
		   int (*file)(void *arg, const struct mem_table_file *f),
		   void *arg, char *why, size_t why_len);

#endif /* MEM_TABLE_H */
