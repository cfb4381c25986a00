/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One device's memory through the copy engine.
 *
 * Every transfer goes through a pinned buffer that has a stream of its own, so
 * that any number are under way at once. What orders them is the range of
 * device memory that a buffer stands for:
 *
 *  - Writes that were answered but are not done yet (gathered in a buffer, or
 *    on their way) are on one list, and no two of them overlap: whoever wants
 *    to write to such a range, or to read it, first waits for what is there.
 *  - What was read ahead is dropped by whoever begins to write to its range,
 *    in the same step that puts the write on the list; and nothing is read
 *    ahead from a range that is on the list.
 *
 * So a read gives what the last write left that was answered before it began,
 * whoever wrote, and a buffer that was read ahead is never older than that.
 *
 * What the memory is mapped to may change: dma_forget() comes first, and knows
 * of all that the copy engine may still do in a range: the writes, what is
 * being read ahead, and the reads that somebody waits for.
 */
#ifndef K80FS_DMA_H
#define K80FS_DMA_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda/cuda.h"

#define DMA_MAX_LEN ((size_t)1 << 20) /* longest transfer */

/* a transfer, and room for what stands around it in a request */
#define DMA_BUF_LEN (DMA_MAX_LEN + ((size_t)64 << 10))

#define DMA_GATHER_LEN  ((size_t)256 << 10) /* small writes go out together */
#define DMA_GATHER_MAX  ((size_t)64 << 10) /* longest that counts as small */
#define DMA_MAX_BUFS    48 /* of a device: 51 MiB */
#define DMA_MAX_WRITES  8 /* buffers on the list of writes */
#define DMA_MAX_WINDOWS 24 /* buffers read ahead, of all readers */
#define DMA_WINDOWS     3 /* of one reader: the one in use, and two ahead */

enum dma_state {
	DMA_BUSY, /* some thread works on it */
	DMA_GATHERING, /* takes more small writes */
	DMA_FLYING, /* given to the copy engine */
	DMA_READY, /* read ahead: the bytes are there */
};

/**
 * struct dma_buf - a buffer, its stream, and the range it stands for
 * @mem:   DMA_BUF_LEN pinned bytes
 * @data:  in @mem: the byte at @off
 * @off, @end: of device memory
 * @seq:   order of the writes
 * @is_full: gathering: takes no more, goes out next
 * @users: loans of what was read ahead
 * @stale: read ahead, and must not be used any more
 */
struct dma_buf {
	struct dma_buf *next;
	char *mem;
	char *data;
	CUstream stream;
	enum dma_state state;
	uint64_t off, end;
	uint64_t seq;
	bool is_full;
	unsigned int users;
	bool stale;
};

/* A range that the copy engine reads while its owner waits. */
struct dma_span {
	struct dma_span *next;
	uint64_t off, end;
};

/**
 * struct dma_reader - an open file that may turn out to read in sequence
 * @next_off: where it goes on if it does; @streak: how often it did
 * @len:      of its last read
 * @ahead:    end of what was read ahead; @from, @to: where it may be
 * @refs:     the file, and reads that are under way
 */
struct dma_reader {
	struct dma_reader *next;
	uint64_t next_off;
	unsigned int streak;
	size_t len;
	uint64_t ahead;
	uint64_t from, to;
	unsigned int refs;
	bool is_ended;
	struct dma_buf *windows[DMA_WINDOWS];
};

/**
 * struct dma - a device
 * @die:   its number, for messages
 * @ctx: context
 * @mem: what offset 0 is
 * @len: from there, what every reader may read ahead in; all three immutable
 * @lost:  writes that were answered and did not reach the device
 */
struct dma {
	unsigned int die;
	CUcontext ctx;
	CUdeviceptr mem;
	uint64_t len;
	_Atomic uint64_t *lost;
	_Atomic bool is_dead; /* the context is: nothing works any more */

	pthread_mutex_t lock; /* guards all below, buffers and readers */
	pthread_cond_t moved; /* a buffer left a state */
	struct dma_buf *free;
	struct dma_buf *abandoned; /* a dead engine may still touch these */
	unsigned int n_bufs;
	unsigned int n_windows;
	struct dma_buf *writes; /* oldest first */
	struct dma_buf **writes_tail;
	unsigned int n_writes;
	uint64_t seq;
	struct dma_span *reads;
	struct dma_reader *readers;
	char error[256]; /* the newest one, "" for none */
};

/**
 * struct dma_loan - bytes that were read, in a buffer of the device's
 * @data: valid until dma_return()
 */
struct dma_loan {
	const void *data;
	struct dma_buf *buf;
	struct dma_reader *reader;
};

/**
 * dma_init() - a context and memory are there already
 * @lost: counts from then on
 */
void dma_init(struct dma *d, unsigned int die, CUcontext ctx, CUdeviceptr mem,
	      uint64_t len, _Atomic uint64_t *lost);

/** dma_free() - wait for what is under way, give the buffers back */
void dma_free(struct dma *d);

/** dma_enter() - make its context the calling thread's; 0 or a CUresult */
CUresult dma_enter(struct dma *d);

/** dma_alloc() - DMA_BUF_LEN pinned bytes for a request; NULL: no memory */
char *dma_alloc(struct dma *d);

/**
 * dma_write() - write; dma_push() should follow, when it was answered
 * @off, @len: inside the memory; @len <= DMA_MAX_LEN
 * @src:       the bytes
 * @mem:       the pinned buffer around @src, exchanged for another one of the
 *             same size if @src is sent from there; NULL: @src is ordinary
 *
 * Return: 0, every read sees the bytes; -ENOMEM; -EIO. A failure after that
 * counts in @lost.
 */
int dma_write(struct dma *d, uint64_t off, const void *src, size_t len,
	      char **mem);

/** dma_push() - start to send what is there to be sent */
void dma_push(struct dma *d);

/** dma_zero() - clear; done when it returns. 0, -ENOMEM, -EIO */
int dma_zero(struct dma *d, uint64_t off, uint64_t len);

/**
 * dma_copy() - within a device or to another one; done when it returns
 *
 * The ranges must not overlap in one device.
 *
 * Return: 0; -ENOMEM; -EIO.
 */
int dma_copy(struct dma *src, uint64_t from, struct dma *dst, uint64_t to,
	     uint64_t len);

/**
 * dma_forget() - wait until nothing works on [@off, @end)
 *
 * What was read ahead there is dropped, and a reader whose limit touches the
 * range reads nothing ahead until it gets another.
 */
void dma_forget(struct dma *d, uint64_t off, uint64_t end);

/** dma_sync() - wait for every write so far; 0, or -EIO if one was lost */
int dma_sync(struct dma *d);

/**
 * dma_lend() - read
 * @r:    whose read it is; NULL: nobody's, nothing is read ahead
 * @loan: out: give it back with dma_return()
 *
 * Return: 0; -ENOMEM; -EIO.
 */
int dma_lend(struct dma *d, struct dma_reader *r, uint64_t off, size_t len,
	     struct dma_loan *loan);

/** dma_return() - and read ahead, if that is worth it */
void dma_return(struct dma *d, struct dma_loan *loan);

/** dma_reader_new() - that reads ahead from offset 0 to @len of the device;
 * NULL: no memory */
struct dma_reader *dma_reader_new(struct dma *d);

/** dma_reader_limit() - read ahead in [@from, @to) alone */
void dma_reader_limit(struct dma *d, struct dma_reader *r, uint64_t from,
		      uint64_t to);
void dma_reader_end(struct dma *d, struct dma_reader *r);

/** dma_error() - copy the newest error, one line; "" if there was none */
void dma_error(struct dma *d, char *buf, size_t len);

/*
 * Between the files of the engine. _locked: with d->lock held, which they may
 * drop and take again.
 *
 * dma_buf.c; a buffer that is put back is never used again if the context is
 * dead: the engine may still touch it
 */
void dma_put_locked(struct dma *d, struct dma_buf *b);
CUresult dma_wait(struct dma *d, struct dma_buf *b);
int dma_fail_locked(struct dma *d, const char *what, CUresult err);
int dma_grow_locked(struct dma *d, struct dma_buf **out);
struct dma_buf *dma_overlap_locked(struct dma *d, uint64_t off, uint64_t end,
				   const struct dma_buf *but);
void dma_drop_windows_locked(struct dma *d, uint64_t off, uint64_t end);

/* dma_read.c: a span is on the list of reads until _end_ */
void dma_span_begin_locked(struct dma *d, struct dma_span *s, uint64_t off,
			   uint64_t end);
void dma_span_end_locked(struct dma *d, struct dma_span *s);
void dma_window_end_locked(struct dma *d, struct dma_buf **slot);

/*
 * dma_write.c; dma_begin_locked(): a buffer for [@off, @end), busy, on the list
 * of writes; nothing else there is in its way, and what was read ahead is
 * dropped
 */
int dma_begin_locked(struct dma *d, uint64_t off, uint64_t end, bool is_small,
		     struct dma_buf **out);
void dma_write_ended_locked(struct dma *d, struct dma_buf *b);
void dma_advance_locked(struct dma *d, struct dma_buf *b);
int dma_take_locked(struct dma *d, bool may_wait, struct dma_buf **out);

#endif /* K80FS_DMA_H */
