/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * owner/ - CUDA contexts on dies that share a slot, what runs in them, and
 * the programs k80-owner and, in worker/, k80-worker.
 * May use: lib, text and base; worker/ uses cuda too.
 * Must not know: the daemon's scheduler and engine; compute/ stands between.
 * repl.c, modules.c and ptx.c are pure.
 *
 * The owner: a worker process for each die, with a CUDA context and two
 * resident buffers, and work that goes on while the die is out of the slot.
 *
 * CUDA opens every device that a process sees when it starts and closes them
 * when it ends, and both need the die in the slot: hence a process a die, that
 * sees only that one (k80-worker). A kernel that goes astray costs its own.
 *
 * Calls for one die come from one thread at a time; those for different dies
 * may run side by side. None waits for a kernel: whoever wants its result asks
 * owner_poll() until it has ended. What it looks at is a byte in shared memory
 * that the GPU writes behind each kernel, so that asking needs no window.
 */
#ifndef OWNER_OWNER_H
#define OWNER_OWNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "owner/launch.h"

#define OWNER_LINE_LEN 512 /* longest line that is logged, NUL included */

/* what `work` launches: enough threads to hide latency, few enough that six
 * dies fit side by side on one large GPU */
#define OWNER_WORK_BLOCKS  32
#define OWNER_WORK_THREADS 256

struct owner;

/**
 * struct owner_window - how a die gets the slot for the time of a call
 * @enter: return when it is in and kept in: 0 or -errno. NULL: there is no slot
 * @leave: after an @enter that returned 0
 */
struct owner_window {
	int (*enter)(void *arg, unsigned int die);
	void (*leave)(void *arg, unsigned int die);
	void *arg;
};

/**
 * struct owner_config - what there is
 * @n_dies:     1 .. OWNER_MAX_DIES
 * @is_streams: dies are streams of one process and, on one device, of one
 *              context; the module's dies never are
 * @node:       of the module whose dies they are: each is bound to the vendor's
 *              driver, and its worker sees that one device. NULL: die N is CUDA
 *              device N modulo their number
 * @bdf:        with @node: PCI addresses
 * @uuid:       without @node: of the device of each die, unless they are
 *              streams; NULL: by number, as above
 * @lease_fd:   with @node: the open file whose lease @window takes
 * @log:        takes a line of what is about to be done, was done or failed,
 *              from the die's thread: nothing is done before it returns.
 *              @log_arg is its first argument
 */
struct owner_config {
	unsigned int n_dies;
	bool is_streams;
	const char *node;
	const char (*bdf)[16];
	const uint8_t (*uuid)[16];
	int lease_fd;
	struct owner_window window;
	void (*log)(void *arg, unsigned int die, const char *line);
	void *log_arg;
};

/**
 * struct owner_result - what a check found
 * @sync_ns: what waiting for the stream took once the die was in
 */
struct owner_result {
	uint32_t seed, iters;
	size_t n_wrong;
	uint64_t sync_ns;
};

enum owner_state { OWNER_OFFLINE, OWNER_IDLE, OWNER_RUNNING, OWNER_FAILED };

/**
 * struct owner_view - what status shows of a die
 * @device:   number of the CUDA device, or of the node; -1 while offline
 * @launches: kernels launched since start
 * @verified: 1 passed, 0 failed, -1 never looked
 */
struct owner_view {
	enum owner_state state;
	int device;
	char device_name[64];
	char kernel[PTX_NAME_LEN];
	uint64_t launches;
	bool has_module;
	int verified;
	uint64_t sync_ns;
	char error[OWNER_LINE_LEN];
};

/**
 * owner_open() - prepare; no driver and no CUDA is touched yet
 * @cfg: copied, but for what it points to
 * Return: 0; -ENOMEM; -EINVAL.
 */
int owner_open(struct owner **out, const struct owner_config *cfg);

/**
 * owner_free() - end every worker in order, give driver_override back
 *
 * Each takes the slot by itself to leave its die, so nobody may hold that while
 * this waits. Drivers stay loaded and bound. NULL does nothing.
 *
 * Return: 0; -ETIMEDOUT a worker is left that waits for the slot.
 */
int owner_free(struct owner *o);

/**
 * owner_count() - number of CUDA devices that there are for dies
 *
 * With a module: those that workers see; a process that sees all would touch
 * dies that are out. Without: what a process sees that starts now.
 *
 * Return: 0; -ENODEV there is no CUDA, the log of die 0 says why.
 */
int owner_count(struct owner *o, int *count);

/**
 * owner_probe() - bind a die to the driver; count what a process sees that
 * sees only this one, or without a module all
 * Return: 0; -ENODEV; -EBUSY; -EIO; what the window says.
 */
int owner_probe(struct owner *o, unsigned int die, int *count);

/**
 * owner_online() - bind the driver; worker, context, stream, buffers (zeroed)
 * and built-in kernels
 *
 * Nothing to do for a die that is online; one that failed gets a new worker,
 * without a module of the user's.
 *
 * Return: 0; -ENODEV no device for it; -ENOMEM; -EBUSY another driver has it;
 * -EIO; what @window says.
 */
int owner_online(struct owner *o, unsigned int die);

/**
 * owner_offline() - end its worker in order, have the driver let go of it
 * Return: 0, also if it is offline; -EBUSY somebody else uses it; -errno.
 */
int owner_offline(struct owner *o, unsigned int die);

/**
 * owner_warm() - have the driver set up a cold die's memory
 *
 * Binds it, opens it once and lets go of it, all while it is in. The die is
 * offline.
 *
 * Return: 0; -EOPNOTSUPP there is no module; as owner_probe().
 */
int owner_warm(struct owner *o, unsigned int die);

/** owner_modules() - the driver's modules that are loaded, blanks between */
void owner_modules(struct owner *o, char *buf, size_t len);

/** owner_builtin() - the PTX text of the kernels that are always loaded */
const char *owner_builtin(void);

/**
 * owner_load() - replace the user's module
 * @text: PTX of @len bytes, at most OWNER_MAX_PTX; the compiler's complaints
 *        go to the log
 *
 * The die must be idle.
 *
 * Return: 0; -EINVAL it does not compile; -EBUSY; -ENXIO offline; -EIO; ...
 */
int owner_load(struct owner *o, unsigned int die, const char *text, size_t len);

/**
 * owner_launch() - queue a kernel of the user's module, or a built-in one
 * Return: 0; -ENOENT no such kernel; -EINVAL its arguments are others, or the
 * GPU does not take this grid; -ENXIO offline; -EIO; ...
 */
int owner_launch(struct owner *o, unsigned int die,
		 const struct owner_launch *launch);

/**
 * struct owner_memory - device memory that somebody else has, in chunks
 * @len:    bytes of it that are meant, at most those of all chunks
 * @uuid:   of the device
 * @chunks: behind one another; @id: never that of other memory of the device;
 *          @fd: a descriptor to import it by
 */
struct owner_memory {
	uint64_t len;
	uint8_t uuid[16];
	unsigned int n;
	struct owner_chunk {
		uint64_t len;
		uint64_t id;
		int fd;
	} * chunks;
};

/** owner_memory_free() - close the descriptors, free the list */
void owner_memory_free(struct owner_memory *m);

/**
 * owner_map() - have the die's worker map memory for kernels to come
 * @m:   its descriptors stay the caller's
 * @key: out: for struct owner_arg; good until owner_unmap()
 *
 * The same chunks again give the same key, whatever runs.
 *
 * Return: 0; -EINVAL it is empty; -EXDEV it is on another device; -EOPNOTSUPP;
 * -ENXIO offline; -ENOMEM; -EIO; ...
 */
int owner_map(struct owner *o, unsigned int die, const struct owner_memory *m,
	      uint64_t *key);

/** owner_has_ranges() - whether something is mapped; the die's thread */
bool owner_has_ranges(struct owner *o, unsigned int die);

/**
 * owner_unmap() - unmap it all, if nothing runs
 * Return: 0; -EAGAIN something runs; else it is gone with the worker.
 */
int owner_unmap(struct owner *o, unsigned int die);

/**
 * owner_work() - fill @in from the seed, launch k80_add; no wait
 * @iters: at most WORK_MAX_ITERS
 * @delay: steps of its delay loop
 *
 * The die must be idle.
 */
int owner_work(struct owner *o, unsigned int die, uint32_t seed, uint32_t iters,
	       uint64_t delay);

/**
 * owner_poll() - has everything ended?
 * Return: 0; -EAGAIN not yet; -ENXIO offline; -EIO a kernel failed; ...
 */
int owner_poll(struct owner *o, unsigned int die);

/**
 * owner_verify() - copy @out back and compare it with the last owner_work()
 *
 * The die must be idle.
 *
 * Return: 0, also if results are wrong; -ENODATA there was no work; -EBUSY; ...
 */
int owner_verify(struct owner *o, unsigned int die, struct owner_result *result);

/**
 * owner_read() - copy out of a buffer
 * @off, @len: bytes, inside OWNER_BYTES
 *
 * The die must be idle.
 *
 * Return: 0; -EBUSY; -ENXIO offline; -EIO; ...
 */
int owner_read(struct owner *o, unsigned int die, enum owner_buffer which,
	       size_t off, void *buf, size_t len);

/** owner_write() - the other way */
int owner_write(struct owner *o, unsigned int die, enum owner_buffer which,
		size_t off, const void *buf, size_t len);

/** owner_view() - never waits; any thread */
void owner_view(struct owner *o, unsigned int die, struct owner_view *view);

/**
 * owner_list() - the kernels that can be launched, names with blanks between
 * @buf: out: cut at @len
 */
void owner_list(struct owner *o, unsigned int die, char *buf, size_t len);

/**
 * owner_signature() - the @index'th kernel of owner_list(): its name and the
 * types of its arguments, "k80_fill i64 i32 f32"
 * @buf: out: cut at @len
 *
 * Return: whether there is one.
 */
bool owner_signature(struct owner *o, unsigned int die, unsigned int index,
		     char *buf, size_t len);

/**
 * owner_stamp() - a line of a log: UTC to the microsecond, then @line
 * @text: out: ends in a newline, cut at @size
 *
 * Return: its length.
 */
size_t owner_stamp(char *text, size_t size, const char *line);

#endif /* OWNER_OWNER_H */
