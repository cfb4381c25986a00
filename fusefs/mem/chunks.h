/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory below a file: chunks, and where in the die's space they are. All
 * but those that say otherwise are called with the file's lock for write.
 */
#ifndef K80FS_MEM_CHUNKS_H
#define K80FS_MEM_CHUNKS_H

#include "mem/priv.h"

/**
 * struct run - a range of a file that is one piece: memory, or a hole
 * @is_hole: its last piece ends at UINT64_MAX
 */
struct run {
	uint64_t from, to;
	bool is_hole;
};

/** chunks_run() - the piece that @off is in; file's lock for read is enough */
struct run chunks_run(const struct mem_file *f, uint64_t off);

/** chunks_at() - where in the die's space a byte is that has memory; as above */
uint64_t chunks_at(const struct mem_file *f, uint64_t off);

/** chunks_len() - bytes of a new chunk at @off, if nothing is in its way */
uint64_t chunks_len(uint64_t off, uint64_t unit);

/**
 * chunks_fill() - memory for all of [@from, @to), which is zero where it is new
 * @done: out: as far as it got, from @from on
 * Return: 0; -ENOSPC, -ENFILE, -ENOMEM, -EIO.
 */
int chunks_fill(struct mem_file *f, uint64_t from, uint64_t to, uint64_t *done);

/** chunks_zero() - clear what memory of [@from, @to) there is. 0, -errno */
int chunks_zero(struct mem_file *f, uint64_t from, uint64_t to);

/**
 * chunks_remove() - give the chunks back that are inside [@from, @to)
 *
 * A chunk in which the file ends counts as inside if what is of the file is;
 * the table is committed first. Return: 0; -EIO.
 */
int chunks_remove(struct mem_file *f, uint64_t from, uint64_t to);

/** chunks_undo() - those with an id from @first_id on go; nobody has seen them */
void chunks_undo(struct mem_file *f, uint64_t first_id);

/**
 * chunks_adopt() - one that was imported is mapped and is the file's last
 * @extent of @f is long enough. Return: 0; -errno, and @c is still the caller's
 */
int chunks_adopt(struct mem_file *f, struct mem_chunk *c);

/** chunks_extent() - have an extent for @end bytes; what is mapped moves */
int chunks_extent(struct mem_file *f, uint64_t end);

/**
 * chunks_close() - nobody has the file any more, and the table does not name it
 * @is_kept: the keeper goes on holding them
 */
void chunks_close(struct mem_file *f, bool is_kept);

/** chunks_stop_readers() - nothing is read ahead until the next read */
void chunks_stop_readers(struct mem_file *f);

#endif /* K80FS_MEM_CHUNKS_H */
