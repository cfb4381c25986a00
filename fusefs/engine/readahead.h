/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading ahead on a die that is about to leave the slot.
 *
 * `dd if=die0/vram of=die1/vram` alternates between two dies, and would swap
 * twice a block. When sequential reads of an open file had to wait for a swap
 * twice, the next one that has to reads on into a buffer while the die is in,
 * and the reads that follow are answered from there. One read(2) may come as
 * several requests, of which only the first waits: those that follow it change
 * nothing, unless they are as long as what would be read ahead.
 *
 * A GPU changes its memory behind our back, so what was read ahead is used
 * only until the client comes back from the other die that it asks in turn:
 * for a short time after what was read ahead there, and never after any write,
 * clearing, reset or ctl command of that die through the mount.
 */
#ifndef K80FS_READAHEAD_H
#define K80FS_READAHEAD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define READAHEAD_LEN     ((size_t)16 << 20) /* bytes read on */
#define READAHEAD_MAX     2 /* buffers in all */
#define READAHEAD_KEEP_NS 50000000ULL /* after a fill, its own or another's */
#define READAHEAD_MAX_NS  250000000ULL /* how old it may be at all */
#define READAHEAD_DIES    16

/**
 * struct readahead_pool - what all files share
 * @in_use:  buffers handed out
 * @version: of each die's contents as far as this mount changes them
 * @filled_at: when the last fill from each die ended
 */
struct readahead_pool {
	_Atomic unsigned int in_use;
	_Atomic uint64_t version[READAHEAD_DIES];
	_Atomic uint64_t filled_at[READAHEAD_DIES];
};

/**
 * struct readahead - of one open file
 * @next:   where a sequential reader goes on
 * @streak: sequential reads that had to wait for a swap
 * @passed: bytes of those that followed the last of them without a wait
 * @buf:    READAHEAD_LEN bytes, NULL when there is none
 * @is_filling: somebody copies into @buf
 * @lent:   reads that are being answered from @buf
 */
struct readahead {
	pthread_mutex_t lock; /* guards all below; never held across a copy */
	pthread_cond_t unused; /* neither filling nor lent any more */
	uint64_t next;
	unsigned int streak;
	uint64_t passed;
	char *buf;
	uint64_t start;
	uint64_t len;
	uint64_t version;
	uint64_t read_at; /* its oldest byte */
	uint64_t filled_at;
	bool is_filling;
	unsigned int lent;
};

void readahead_init(struct readahead *ra);

/** readahead_free() - give the buffer back, once no answer needs it */
void readahead_free(struct readahead *ra, struct readahead_pool *pool);

/** readahead_touch() - the contents of @die change: before and after it */
void readahead_touch(struct readahead_pool *pool, unsigned int die);

/** readahead_is_empty() - readahead_get() would give nothing */
bool readahead_is_empty(struct readahead *ra);

/**
 * readahead_get() - answer a read from what was read ahead
 *
 * Return: @len bytes, valid until readahead_put(); NULL if they are not there.
 */
const void *readahead_get(struct readahead *ra, struct readahead_pool *pool,
			  unsigned int die, uint64_t off, size_t len,
			  uint64_t now);

/** readahead_put() - the bytes of readahead_get() are not needed any more */
void readahead_put(struct readahead *ra);

/**
 * readahead_note() - a read is about to run on the die
 * @was_parked: it had to wait for a swap
 *
 * Return: true if reading ahead behind it is worth it.
 */
bool readahead_note(struct readahead *ra, uint64_t off, size_t len,
		    bool was_parked);

typedef int (*readahead_fn)(void *arg, uint64_t off, void *buf, size_t len);

/**
 * readahead_fill() - read on from @off; the die is in
 * @limit: end of the file
 * @fn:    reads @len bytes at @off into @buf, 0 or -errno
 *
 * Failures leave the buffer empty: the reader will meet them itself.
 */
void readahead_fill(struct readahead *ra, struct readahead_pool *pool,
		    unsigned int die, uint64_t off, uint64_t limit,
		    readahead_fn fn, void *arg);

#endif /* K80FS_READAHEAD_H */
