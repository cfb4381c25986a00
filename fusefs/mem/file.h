/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file's struct, and what writing to one is made of. */
#ifndef K80FS_MEM_FILE_H
#define K80FS_MEM_FILE_H

#include "mem/priv.h"

/** file_new() - empty, without a name, counted by nobody; NULL: no memory */
struct mem_file *file_new(struct mem_die *d);

/** file_free() - with its memory, see chunks_close() */
void file_free(struct mem_file *f, bool is_kept);

/** file_touch() - its contents were changed now */
void file_touch(struct mem_file *f);

/** file_now_ns() - time of day */
int64_t file_now_ns(void);

/**
 * file_prepare() - memory for a write of [@off, @off + @len), and zeroes from
 * the end of the file to there; the file's lock for write
 *
 * Return: bytes that can be written, at least 1; -EFBIG, -ENOSPC, ...
 */
ssize_t file_prepare(struct mem_file *f, uint64_t off, uint64_t len);

/** file_written() - the bytes up to @end are there; lock for write if that is
 * behind the length, else for read */
void file_written(struct mem_file *f, uint64_t end);

#endif /* K80FS_MEM_FILE_H */
