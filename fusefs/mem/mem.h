/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mem/ - device memory with names: mem.c has the dies, names.c the folder of
 * each, file.c the bytes of a file, chunks.c the memory below them, extent.c
 * (pure) the address space, commit.c and recover.c what outlives the daemon,
 * table.c (pure) how that is laid out.
 * May use: backend, keeper and what is below them.
 * Must not know: FUSE, the tree, the scheduler; a device whose memory can be
 * shared has no slot, and nothing here waits for a turn.
 *
 * Each file is a range of its die's address space into which chunks of memory
 * are mapped as it grows. What no chunk covers is a hole. k80-keeper holds a
 * descriptor of every chunk, and the table that says which belongs to which
 * file, so that both are there when the daemon is not.
 */
#ifndef K80FS_MEM_H
#define K80FS_MEM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>

#include "backend/backend.h"

#define MEM_NAME_MAX 255 /* bytes of a name, without the NUL */

/* An inode number: this bit, the die, and a number that its pool never uses
 * again. */
#define MEM_INO_BIT       ((uint64_t)1 << 60)
#define MEM_INO_DIE_SHIFT 56

/** mem_is_ino() - whether it is the number of such a file, be it there or not */
static inline bool mem_is_ino(uint64_t ino)
{
	return ino & MEM_INO_BIT;
}

/** mem_ino_die() - the die in such a number */
static inline unsigned int mem_ino_die(uint64_t ino)
{
	return (unsigned int)((ino & ~MEM_INO_BIT) >> MEM_INO_DIE_SHIFT);
}

struct mem; /* all dies of a mount */
struct mem_die;
struct mem_file; /* counted; a name counts as one */
struct mem_reader; /* an open file, which may turn out to read in sequence */

/**
 * struct mem_config - what the mount wants
 * @keeper_path: socket of k80-keeper; NULL: the usual one
 */
struct mem_config {
	const char *keeper_path;
};

/**
 * struct mem_stat - of a file
 * @len:         bytes
 * @bytes_taken: of the device's memory; less than @len with holes, more where
 *               the last chunk is not full
 * @nlink:       0 once its name is gone
 */
struct mem_stat {
	uint64_t ino;
	uint64_t len, bytes_taken;
	mode_t mode; /* with S_IFREG */
	uid_t uid;
	gid_t gid;
	struct timespec atime, mtime, ctime;
	unsigned int nlink;
};

/**
 * struct mem_view - of a die, for status
 * @why:   why it has no such files, one line; NULL: it has
 * @files: with a name; @bytes: taken, by files without a name too
 * @lost:  files whose memory was not there any more at start
 */
struct mem_view {
	const char *why;
	uint64_t files, bytes, lost;
};

/**
 * mem_start() - find on every die what was there before
 * @be: an open backend, until mem_stop()
 *
 * Makes a trial of each die, finds or starts k80-keeper, reads the table and
 * imports the memory. A die that cannot have files has mem_why(); the others
 * work. Return: 0; -errno if no die can, with *@out set all the same, so that
 * mem_why() can be asked, and mem_stop() must follow; -ENOMEM without.
 */
int mem_start(struct mem **out, struct backend *be, const struct mem_config *cfg);

/**
 * mem_stop() - everything is committed; the memory stays with the keeper
 * No other call runs any more. NULL does nothing.
 */
void mem_stop(struct mem *m);

/** mem_why() - why a die has no files, one line; NULL: it has */
const char *mem_why(struct mem *m, unsigned int die);

/** mem_view() - look at a die without waiting for it */
void mem_view(struct mem *m, unsigned int die, struct mem_view *out);

/** mem_keeper() - who holds the memory: @path: its socket. Return: 0: nobody */
pid_t mem_keeper(struct mem *m, const char **path);

/** mem_max_len() - the longest file of a die, bytes */
uint64_t mem_max_len(struct mem *m, unsigned int die);

/** mem_space() - bytes of a die's memory: all of it, and what nobody took */
int mem_space(struct mem *m, unsigned int die, uint64_t *total, uint64_t *left);

/*
 * Names. A name is 1 to MEM_NAME_MAX bytes, any but '/' and NUL, and neither
 * "." nor "..". The folder of a die is flat.
 */

/** mem_get() - a file by number; counted, NULL: there is none */
struct mem_file *mem_get(struct mem *m, uint64_t ino);

/** mem_lookup() - a file by name; counted. 0; -ENOENT, -ENAMETOOLONG */
int mem_lookup(struct mem *m, unsigned int die, const char *name,
	       struct mem_file **out);

/**
 * mem_create() - make an empty file, or find it
 * @mode: permissions; @excl: it must not be there
 * @out:  counted
 *
 * Return: 0; -EEXIST; -ENOSPC the table is full; -ENAMETOOLONG, -ENOMEM.
 */
int mem_create(struct mem *m, unsigned int die, const char *name, mode_t mode,
	       uid_t uid, gid_t gid, bool excl, struct mem_file **out);

/** mem_unlink() - its memory goes with the last who counts it. 0, -ENOENT */
int mem_unlink(struct mem *m, unsigned int die, const char *name);

/**
 * mem_rename() - as rename(2); a file that was there goes as with mem_unlink()
 * @flags: 0, RENAME_NOREPLACE or RENAME_EXCHANGE
 * Return: 0; -ENOENT, -EEXIST, -EINVAL, -ENAMETOOLONG.
 */
int mem_rename(struct mem *m, unsigned int die, const char *from,
	       const char *to, unsigned int flags);

/**
 * mem_next() - walk a folder
 * @cursor: 0 at first; updated. A file that is there all the time is seen once
 *          whatever else is made, renamed and removed meanwhile
 * Return: whether there was another one.
 */
bool mem_next(struct mem *m, unsigned int die, uint64_t *cursor,
	      char name[MEM_NAME_MAX + 1], uint64_t *ino);

/** mem_count() - one more counts on it */
void mem_count(struct mem_file *f);

/** mem_put() - one no longer counts on it: the last one frees it */
void mem_put(struct mem_file *f);

/** mem_put_many() - @n at once */
void mem_put_many(struct mem_file *f, uint64_t n);

unsigned int mem_die(const struct mem_file *f);
uint64_t mem_ino(const struct mem_file *f);

/** mem_mark() - a mark of the caller's, false at first */
_Atomic bool *mem_mark(struct mem_file *f);

/*
 * Files. Any thread; reads and writes that do not make a file longer run side
 * by side. Errors, unless said otherwise: -EIO the device failed; -ENOSPC,
 * -EFBIG, -ENFILE (no more descriptors); -ENOMEM.
 */

void mem_stat(struct mem_file *f, struct mem_stat *st);

/** what mem_setattr() is to change */
enum mem_set {
	MEM_SET_MODE = 1,
	MEM_SET_UID = 2,
	MEM_SET_GID = 4,
	MEM_SET_ATIME = 8,
	MEM_SET_MTIME = 16,
};

/** mem_setattr() - @what: of enum mem_set; ctime is now */
int mem_setattr(struct mem_file *f, const struct mem_stat *st, unsigned int what);

int mem_truncate(struct mem_file *f, uint64_t len);

/** mem_reader_new() - for an open file, which must be counted; NULL: -ENOMEM */
struct mem_reader *mem_reader_new(struct mem_file *f);
void mem_reader_end(struct mem_reader *r);

/**
 * struct mem_loan - bytes that were read
 * @data: valid until mem_give_back(); the rest is not the caller's
 */
struct mem_loan {
	const void *data;
	struct mem_die *d;
	struct backend_loan loan;
	void *copy;
};

/**
 * mem_read() - read; holes are zeroes
 * @len: at most BACKEND_MAX_CHUNK
 * Return: bytes, fewer at the end of the file; on success mem_give_back().
 */
ssize_t mem_read(struct mem_reader *r, uint64_t off, size_t len,
		 struct mem_loan *loan);

/** mem_give_back() - the file may be closed already */
void mem_give_back(struct mem_loan *loan);

/**
 * mem_write() - write; @len: at most BACKEND_MAX_CHUNK
 * Return: bytes: fewer than @len if there was memory for so many.
 */
ssize_t mem_write(struct mem_file *f, uint64_t off, const void *buf, size_t len);

/** mem_allocate() - memory for a range; @keep_len: the length stays */
int mem_allocate(struct mem_file *f, uint64_t off, uint64_t len, bool keep_len);

/** mem_punch() - the range reads as zeroes; whole chunks are given back */
int mem_punch(struct mem_file *f, uint64_t off, uint64_t len);

/** mem_zero() - the range is zeroes, and its memory is there */
int mem_zero(struct mem_file *f, uint64_t off, uint64_t len, bool keep_len);

/** mem_seek() - @whence: SEEK_DATA or SEEK_HOLE. Offset, -ENXIO, -EINVAL */
off_t mem_seek(struct mem_file *f, uint64_t off, int whence);

/**
 * struct mem_place - where a copy goes from or to
 * @file: NULL: the memory of @die, which is not a file's
 */
struct mem_place {
	struct mem_file *file;
	unsigned int die;
	uint64_t off;
};

/**
 * mem_copy() - by the device, at most one step
 * Return: bytes, fewer than @len most of the time; 0 at the end of @from.
 */
ssize_t mem_copy(const struct mem_place *from, const struct mem_place *to,
		 uint64_t len);

/** mem_sync() - what was written outlives the daemon */
int mem_sync(struct mem_file *f);

/*
 * Sharing.
 */

/**
 * struct mem_share - a file's memory for other programs
 * @len:    of the file, bytes, when it was taken
 * @uuid:   of the device
 * @chunks: in order and without gaps from offset 0; together at least @len
 */
struct mem_share {
	uint64_t len;
	uint8_t uuid[16];
	unsigned int n;
	struct mem_share_chunk {
		uint64_t off, len;
		uint64_t id; /* of the memory: never used again in its pool */
		int fd;
	} * chunks;
};

/**
 * mem_share_get() - fill the holes of a file, and hand out its memory
 * @out: descriptors of the caller's, CLOEXEC; mem_share_free() closes them
 *
 * No lock is held after the return: the file may lose this memory, and who has
 * a descriptor keeps it. Return: 0, with @out->n 0 if the file is empty; else
 * as above.
 */
int mem_share_get(struct mem_file *f, struct mem_share *out);
void mem_share_free(struct mem_share *s);

#endif /* K80FS_MEM_H */
