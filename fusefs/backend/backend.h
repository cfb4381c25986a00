/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * backend/ - the hardware as the daemon sees it: backend.c checks, slot.c
 * drives a module's or a simulator's slot, cuda*.c and the copy engine in
 * dma*.c a device that its driver owns.
 * May use: lib, cuda, copy, text and base.
 * Must not know: whose turn it is, files, requests.
 *
 * What the daemon needs of the hardware: bind a die, copy, look after it.
 *
 * Every range and state check is in the wrappers here, so that a backend only
 * does the work. The scheduler alone binds and unbinds, one call at a time;
 * copies run from any thread while the die is bound.
 */
#ifndef K80FS_BACKEND_H
#define K80FS_BACKEND_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/barswap.h"
#include "text/metrics.h"

#define BACKEND_MAX_DIES 16
#define BACKEND_MAX_CHUNK                                   \
	((size_t)1 << 20) /* bytes copied between two looks \
			   * at whether the die still answers */

struct backend;

#define BACKEND_NOWHERE  UINT64_MAX /* where a chunk is that is not mapped */
#define BACKEND_UUID_LEN 16
#define BACKEND_MAX_COPY ((uint64_t)64 << 20) /* of one backend_copy() */

/**
 * struct backend_chunk - memory of a device by itself: it lives as long as
 * @handle, @fd, a copy of @fd or a mapping does, in whatever process
 * @len: a multiple of backend_chunk_unit()
 * @fd:  what others import it by; the chunk's own, closed at exec
 * @off: where in the die's space it is mapped, or BACKEND_NOWHERE
 */
struct backend_chunk {
	uint64_t handle;
	uint64_t len;
	int fd;
	uint64_t off;
};

/**
 * struct backend_device - what a driver that owns a die says about it
 * @driver_version: 1000 * major + 10 * minor
 * @memory_free:    bytes, what this daemon took is not free
 */
struct backend_device {
	const char *name;
	const char *driver;
	unsigned int driver_version;
	uint64_t memory_free, memory_total;
};

/**
 * struct backend_loan - bytes that were read, in memory of the backend's own
 * @data: valid until backend_give_back(); the rest is the backend's
 */
struct backend_loan {
	const void *data;
	void *buf;
	void *reader;
};

/**
 * struct backend_ops - one kind of hardware; every op is required, but for
 * those after @describe
 * @has_slot: dies take turns: the scheduler must bind before a copy
 * @bind:     put @die in and keep it in; flags BS_FORCE_SBR only. Takes the
 *            die that is in out first, after its writes have reached it.
 *            Counts in @acquires what the device counts in its own.
 *            -EAGAIN: another process leases the slot, try again later
 * @unbind:   take it out; 0 if it is not in
 * @rest:     allow other processes to take the slot from @die from now on
 * @read:     copy @len <= BACKEND_MAX_CHUNK bytes out of a bound die, then
 *            make sure that it still answers: -EIO if not, -EAGAIN if
 *            another process took the slot meanwhile; and that it was
 *            allowed: -EBUSY if a driver is bound or BAR1 is virtual, asked
 *            of who knows, after the copy
 * @write:    the other way; returns when the stores have left the CPU, or
 *            when any read will see them: what fails later counts in @lost
 * @zero:     clear memory of a bound die; @len <= BACKEND_MAX_CHUNK * 256
 * @sync:     wait until the writes of every thread have reached a bound die
 * @info:     never waits for hardware; sees events that nobody ordered
 * @poll_fd:  POLLPRI when @info may have changed since the last @poll_ack; -1
 *            if there is none
 * @describe: of a die that a driver owns; never waits for hardware
 * @reader_new: of an open file, which may turn out to read in sequence; NULL
 *            if there is no memory. @reader_end: it was closed
 * @lend:     as @read, into memory of the backend's, until @give_back
 * @push:     writes were answered: do what could wait until then
 * @request_buf: @len bytes for the calling thread's next request: a write
 *            from there may exchange the memory for other; NULL: none is left
 * @lease_fd: as bs_lease_fd()
 * @has_chunks and those behind it: as the backend_ functions of these names
 */
struct backend_ops {
	const char *name;
	bool has_slot;
	int (*open)(struct backend *be, const char *device);
	void (*close)(struct backend *be);
	int (*bind)(struct backend *be, unsigned int die, unsigned int flags);
	int (*unbind)(struct backend *be, unsigned int die);
	void (*rest)(struct backend *be, unsigned int die);
	int (*read)(struct backend *be, unsigned int die, uint64_t off,
		    void *buf, size_t len);
	int (*write)(struct backend *be, unsigned int die, uint64_t off,
		     const void *buf, size_t len);
	int (*zero)(struct backend *be, unsigned int die, uint64_t off,
		    uint64_t len);
	int (*sync)(struct backend *be, unsigned int die);
	int (*info)(struct backend *be, unsigned int die, struct bs_info *info);
	int (*poll_fd)(struct backend *be);
	void (*poll_ack)(struct backend *be);
	/* optional */
	void (*describe)(struct backend *be, unsigned int die,
			 struct backend_device *out);
	/* optional, these four together */
	void *(*reader_new)(struct backend *be, unsigned int die);
	void (*reader_end)(struct backend *be, unsigned int die, void *reader);
	int (*lend)(struct backend *be, unsigned int die, void *reader,
		    uint64_t off, size_t len, struct backend_loan *loan);
	void (*give_back)(struct backend *be, unsigned int die,
			  struct backend_loan *loan);
	/* optional */
	void (*push)(struct backend *be, unsigned int die);
	void *(*request_buf)(struct backend *be, size_t len);
	/* optional */
	int (*lease_fd)(struct backend *be);
	/* optional, these together */
	bool (*has_chunks)(const struct backend *be, unsigned int die);
	void (*chunk_why)(struct backend *be, unsigned int die, char *buf,
			  size_t len);
	uint64_t (*chunk_unit)(struct backend *be, unsigned int die);
	int (*chunk_make)(struct backend *be, unsigned int die, uint64_t len,
			  struct backend_chunk *out);
	int (*chunk_import)(struct backend *be, unsigned int die, int fd,
			    uint64_t len, struct backend_chunk *out);
	int (*chunk_map)(struct backend *be, unsigned int die,
			 struct backend_chunk *c, uint64_t off);
	int (*chunk_unmap)(struct backend *be, unsigned int die,
			   struct backend_chunk *c);
	void (*chunk_free)(struct backend *be, unsigned int die,
			   struct backend_chunk *c);
	void (*forget)(struct backend *be, unsigned int die, uint64_t off,
		       uint64_t len);
	void (*reader_limit)(struct backend *be, unsigned int die, void *reader,
			     uint64_t from, uint64_t to);
	int (*copy)(struct backend *be, unsigned int die_from, uint64_t from,
		    unsigned int die_to, uint64_t to, uint64_t len);
	int (*uuid)(struct backend *be, unsigned int die,
		    uint8_t uuid[BACKEND_UUID_LEN]);
	int (*free_memory)(struct backend *be, unsigned int die,
			   uint64_t *available, uint64_t *total);
	int (*vram_fd)(struct backend *be, unsigned int die);
};

/**
 * struct backend_die - what is kept of a die between looks at it
 * @len:           bytes of memory, carve-out included; immutable
 * @vram_bytes:    bytes before the carve-out; immutable
 * @space:         bytes that can have an address, @len and where chunks can be
 *                 mapped; immutable
 * @last_seen_errno: why a copy would have been refused at the last look, 0 if
 * not: no right to one, and no refusal
 * @generation:    as of the last look; changes when the contents were lost
 * @read_bytes:    copied out since start; @written_bytes: copied in
 * @lost:          writes that failed after they had been answered
 * @errors:        copies, clears and syncs that failed for a fault of the die
 * @acquires:      successful ones of @bind: the rest are other programs'
 */
struct backend_die {
	uint64_t len;
	uint64_t vram_bytes;
	uint64_t space;
	_Atomic int last_seen_errno;
	_Atomic uint64_t generation;
	_Atomic uint64_t read_bytes;
	_Atomic uint64_t written_bytes;
	_Atomic uint64_t lost;
	_Atomic uint64_t errors;
	_Atomic uint64_t acquires;
};

struct backend {
	const struct backend_ops *ops;
	void *priv;
	const char *copy_name; /* the copy engine in use */
	bool with_driver; /* bind dies that have a driver, too */
	unsigned int n_dies;
	struct backend_die dies[BACKEND_MAX_DIES];
	_Atomic uint64_t swaps; /* binds that programmed the slot */
	_Atomic uint64_t swap_counts[METRICS_BUCKETS + 1]; /* by duration */
	_Atomic uint64_t swap_ns; /* all of them */
	char why[512]; /* why it cannot be opened, one line; "" if errno says it */
};

/**
 * backend_open() - open the hardware and learn its dies
 * @be:     out
 * @name:   "bar_swap", "sim" or "cuda"
 * @device: what the backend opens, see bs_init_device(); "cuda:KEY[=VALUE],..."
 *          of vram=BYTES or vram=max, what is taken of each device; mem, chunks
 *          are wanted; devices=A+B, only these: an index by PCI address, a PCI
 *          address, a UUID (GPU-...)
 *
 * Return: 0; -EINVAL no such backend; else as bs_init_device() says, or with
 * @be->why set.
 */
int backend_open(struct backend *be, const char *name, const char *device);

/** backend_close() - the die that is in stays in */
void backend_close(struct backend *be);

/**
 * backend_bind() - put a die in; the scheduler's slot thread only
 * Return: 0; -EAGAIN leased by another process; -ENODEV, -EBUSY, -EIO as
 * bs_acquire_flags() says.
 */
int backend_bind(struct backend *be, unsigned int die, unsigned int flags);

/** backend_unbind() - take it out; slot thread only. 0 or -errno */
int backend_unbind(struct backend *be, unsigned int die);

/** backend_rest() - let other processes have the slot */
void backend_rest(struct backend *be, unsigned int die);

/**
 * backend_read() - copy out of a die that is bound and kept so by a count
 * @off: from the start of its memory; [@off, @off + @len) is inside it
 *
 * Return: 0; -EINVAL range; -EIO the die does not answer; -EAGAIN it was taken
 * out meanwhile; -EBUSY BAR1 is virtual, or a driver is bound. On error @buf holds no data.
 */
int backend_read(struct backend *be, unsigned int die, uint64_t off, void *buf,
		 size_t len);

/** backend_write() - as backend_read(), the other way */
int backend_write(struct backend *be, unsigned int die, uint64_t off,
		  const void *buf, size_t len);

/**
 * backend_can_lend() - whether a read of @len bytes can be answered from the
 * backend's own memory
 */
static inline bool backend_can_lend(const struct backend *be, size_t len)
{
	return be->ops->lend && len <= BACKEND_MAX_CHUNK;
}

/**
 * backend_lend() - as backend_read(); only if backend_can_lend() says so
 * @reader: of backend_reader_new(), or NULL
 * @loan:   out: the bytes; on success, backend_give_back() must follow
 */
int backend_lend(struct backend *be, unsigned int die, void *reader,
		 uint64_t off, size_t len, struct backend_loan *loan);

/** backend_give_back() - the bytes are no longer needed; any thread */
void backend_give_back(struct backend *be, unsigned int die,
		       struct backend_loan *loan);

/** backend_reader_new() - for an open file; NULL if the backend has none */
void *backend_reader_new(struct backend *be, unsigned int die);

/** backend_reader_end() - the file is closed; NULL does nothing */
void backend_reader_end(struct backend *be, unsigned int die, void *reader);

/**
 * backend_request_buf() - where the calling thread is to read its next request
 * Return: @len bytes until the next call in this thread; NULL: anywhere.
 */
void *backend_request_buf(struct backend *be, size_t len);

/** backend_lease_fd() - see bs_lease_fd(); -1 if there is none */
int backend_lease_fd(struct backend *be);

/** backend_push() - after writes were answered; may be left out */
void backend_push(struct backend *be, unsigned int die);

/** backend_lost() - how many answered writes of @die failed later */
static inline uint64_t backend_lost(struct backend *be, unsigned int die)
{
	return atomic_load(&be->dies[die].lost);
}

/** backend_zero() - as backend_write() with zeroes; @len may be large */
int backend_zero(struct backend *be, unsigned int die, uint64_t off,
		 uint64_t len);

/** backend_sync() - writes that were made have reached the bound die */
int backend_sync(struct backend *be, unsigned int die);

/**
 * backend_info() - look at a die without waiting; updates what is kept of it
 * Return: 0; -ENODEV.
 */
int backend_info(struct backend *be, unsigned int die, struct bs_info *info);

/**
 * backend_condition() - look at a die without waiting
 * Return: 0; why copies from and to it are refused now: -EIO, -EBUSY, -ENODEV.
 */
int backend_condition(struct backend *be, unsigned int die);

/** backend_generation() - as of the last look */
static inline uint64_t backend_generation(struct backend *be, unsigned int die)
{
	return atomic_load_explicit(&be->dies[die].generation,
				    memory_order_acquire);
}

/**
 * backend_others() - how often other programs have acquired @die; looks at it
 * Return: a number that grows when they do; for a die that is being bound it
 * may be one too large.
 */
uint64_t backend_others(struct backend *be, unsigned int die);

/*
 * Chunks: memory of a device that is mapped into the die's space, beside what
 * is shown as its vram from offset 0. Of two calls for overlapping ranges of
 * the space or one chunk at a time the caller makes sure that only one maps or
 * unmaps; everything else is any thread's.
 */

/** backend_has_chunks() - whether @die can have any */
bool backend_has_chunks(const struct backend *be, unsigned int die);

/**
 * backend_chunk_why() - the newest call for chunks that failed, one line
 * @buf: out: "cuMemCreate: CUDA_ERROR_..."; "" if none has
 */
void backend_chunk_why(struct backend *be, unsigned int die, char *buf,
		       size_t len);

/** backend_chunk_unit() - what lengths and offsets are multiples of; 2 MiB or
 * more */
uint64_t backend_chunk_unit(struct backend *be, unsigned int die);

/**
 * backend_chunk_make() - take memory of the device; mapped nowhere, not cleared
 *
 * Return: 0; -ENOSPC the device has no more; -ENFILE no descriptor is left;
 * -EINVAL @len; -EIO; -EOPNOTSUPP the die has no chunks.
 */
int backend_chunk_make(struct backend *be, unsigned int die, uint64_t len,
		       struct backend_chunk *out);

/**
 * backend_chunk_import() - a chunk made earlier, in whatever process
 * @fd:  on success it is @out's
 * @len: as it was made with
 *
 * Return: as backend_chunk_make().
 */
int backend_chunk_import(struct backend *be, unsigned int die, int fd,
			 uint64_t len, struct backend_chunk *out);

/**
 * backend_chunk_map() - at @off of the die's space, to be read and written
 *
 * A copy of the struct may be mapped at another place before the first is
 * unmapped; backend_chunk_free() is for one of them. What was written by one
 * place is there for who reads by another after a backend_sync(), a
 * backend_forget() of the first or its backend_chunk_unmap().
 *
 * Return: 0; -EINVAL the range; -EIO.
 */
int backend_chunk_map(struct backend *be, unsigned int die,
		      struct backend_chunk *c, uint64_t off);

/** backend_chunk_unmap() - the whole chunk, after backend_forget() of its range
 * Return: 0, also if it is mapped nowhere; -EIO. */
int backend_chunk_unmap(struct backend *be, unsigned int die,
			struct backend_chunk *c);

/** backend_chunk_free() - mapped nowhere any more: give it up, close its fd */
void backend_chunk_free(struct backend *be, unsigned int die,
			struct backend_chunk *c);

/**
 * backend_forget() - nothing works on [@off, @off + @len) when it returns
 *
 * Waits for copies and what was read ahead, and drops that. A reader whose
 * limit touches the range reads nothing ahead until it has a new one.
 */
void backend_forget(struct backend *be, unsigned int die, uint64_t off,
		    uint64_t len);

/**
 * backend_reader_limit() - read ahead inside [@from, @to) of the space alone
 *
 * 0, 0: nowhere. A new reader has vram's range. NULL does nothing.
 */
void backend_reader_limit(struct backend *be, unsigned int die, void *reader,
			  uint64_t from, uint64_t to);

/**
 * backend_copy() - between two ranges of devices, not through the host if the
 * hardware can; done when it returns
 * @len: at most BACKEND_MAX_COPY; ranges of one die must not overlap
 *
 * Ordered as a read of the one and a write of the other.
 *
 * Return: 0; -EINVAL; -ENOMEM; -EIO.
 */
int backend_copy(struct backend *be, unsigned int die_from, uint64_t from,
		 unsigned int die_to, uint64_t to, uint64_t len);

/** backend_uuid() - of the device; 0; -EOPNOTSUPP */
int backend_uuid(struct backend *be, unsigned int die,
		 uint8_t uuid[BACKEND_UUID_LEN]);

/** backend_free_memory() - what the device has, and has left; 0; -errno */
int backend_free_memory(struct backend *be, unsigned int die,
			uint64_t *available, uint64_t *total);

/** backend_vram_fd() - what vram's memory can be imported by, as one chunk; the
 * backend's own; -1: it cannot be */
int backend_vram_fd(struct backend *be, unsigned int die);

/* implementations */
extern const struct backend_ops backend_bar_swap;
extern const struct backend_ops backend_sim;
extern const struct backend_ops backend_cuda;

#endif /* K80FS_BACKEND_H */
