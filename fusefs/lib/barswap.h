/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libbarswap: GPU dies that share one MMIO slot, from user space.
 *
 * A context talks to the bar_swap kernel module or to a simulator of it. Only
 * the die in the slot shows its memory; touching the mapping of any other die
 * gives SIGBUS, never another die's bytes.
 *
 * Every function accepts NULL for a context or gpu and any die number. All may
 * be called from several threads at once, except bs_free() beside others.
 */
#ifndef BARSWAP_H
#define BARSWAP_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BS_LIB_VERSION "1.1" /* of this header */

typedef struct bs_context bs_context;

/**
 * struct bs_gpu - a die that was put into the slot by bs_acquire()
 * @die_id:           0 .. bs_num_dies() - 1
 * @bar1_addr:        CPU address of its VRAM aperture
 * @bar1_size:        bytes of the aperture, more than the memory behind it
 * @vram:             its memory, MAP_SHARED; NULL if it could not be mapped.
 *                    Valid until bs_free(), also while the die is out (SIGBUS)
 * @vram_mapped_size: bytes mapped at @vram: the usable memory
 * @mem_fd:           descriptor behind the mapping; do not close
 */
typedef struct bs_gpu {
	int die_id;
	uint64_t bar1_addr;
	uint64_t bar1_size;
	void *vram;
	size_t vram_mapped_size;
	int mem_fd;
} bs_gpu;

/** bs_version() - BS_LIB_VERSION of the library that runs, "MAJOR.MINOR" */
const char *bs_version(void);

/**
 * bs_init() - open the device named by the environment
 *
 * $BARSWAP_DEVICE, or /dev/bar_swap if that is not set; see bs_init_device().
 * BARSWAP_FORCE=1 in the environment is bs_set_flags(ctx, BS_FORCE).
 *
 * Return: a context, or NULL with errno set.
 */
bs_context *bs_init(void);

/**
 * bs_init_device() - open a device by name
 * @device: path of the module's node, or "sim[:NAME=VALUE,...]" for the
 *          simulator: dies=6 (1..16), vram=12G (bytes, suffix K M G, a
 *          multiple of 4096), resmem=0 (carve-out at its end, rounded up as
 *          the module does), swap_us=0 (time a swap takes), dir=DIR (keep
 *          the memory in DIR/dieN; without it unlinked files in $TMPDIR or
 *          /var/tmp), ctl=PATH (a stream socket that takes bs_sim_order()
 *          lines and answers each with "ok" or "error: ...")
 *
 * The simulator's dies live in this context; the slot starts vacant.
 *
 * Return: a context, or NULL with errno set: ENOENT, ENXIO the module is not
 * loaded; EPROTO it speaks another version; EINVAL a bad sim option,
 * ENAMETOOLONG a path in one; EACCES, ENOMEM, EMFILE, ENOSPC as the system says.
 */
bs_context *bs_init_device(const char *device);

/**
 * bs_init_why() - why this thread's last bs_init() or bs_init_device() failed
 *
 * Return: one line that names the file, valid until this thread's next call of
 * either; "" where errno is all there is to say.
 */
const char *bs_init_why(void);

/** bs_free() - unmap, end this context's leases, close; the die stays in */
void bs_free(bs_context *ctx);

/** bs_num_dies() - number of dies, 0 for NULL */
uint32_t bs_num_dies(const bs_context *ctx);

/** bs_num_slots() - number of slots, 1; 0 for NULL */
uint32_t bs_num_slots(const bs_context *ctx);

/** bs_is_mapped() - 1 if the die is in the slot, else 0; asks the device */
int bs_is_mapped(const bs_context *ctx, int die_id);

/** bs_active_die() - the die in the slot, -1 if vacant; asks the device */
int bs_active_die(bs_context *ctx);

/**
 * bs_refresh() - ask the device again how many dies there are and who is in
 * Return: 0, or -1 with errno set.
 */
int bs_refresh(bs_context *ctx);

/**
 * bs_set_flags() - how the calls behave that have no flags of their own
 * @flags: BS_FORCE or 0, for bs_acquire(), bs_release() and bs_release_die()
 *
 * Return: 0; -EINVAL NULL context or another flag.
 */
int bs_set_flags(bs_context *ctx, unsigned int flags);

/**
 * bs_acquire() - put a die into the slot and map its memory
 * @ctx:    context
 * @die_id: which die; another one that is in is taken out first
 *
 * Waits while another process leases the slot. Without a lease of one's own
 * any other process may take the die out again at any moment: take one by
 * bs_acquire_flags(), or copy by bs_read() and bs_write().
 *
 * Return: a handle to give to bs_release(), or NULL with errno set as in
 * bs_acquire_flags().
 */
bs_gpu *bs_acquire(bs_context *ctx, int die_id);

/**
 * bs_release() - free a handle; the last one of its die vacates the slot
 *
 * While this context has another handle of the die, or leases it by a call
 * that gave no handle, only the handle goes; so it does after an implicit
 * release (another die was acquired). A lease taken with a handle ends with
 * the die's last handle.
 *
 * It is freed in any case. What bs_release_die() would return stands in errno,
 * which is left alone on success: set it to 0 before, to know.
 */
void bs_release(bs_context *ctx, bs_gpu *gpu);

#define BS_FORCE_SBR 0x1u /* reset its bus first: VRAM contents are lost */
#define BS_LEASE     0x2u /* keep it in until bs_unlease() or bs_free() */
#define BS_NOWAIT    0x4u /* -EBUSY instead of waiting for a lease */
#define BS_FORCE     0x8u /* although a driver is bound; CAP_SYS_RAWIO */
/*
 * From then on this context may touch a die that a driver is bound to, or
 * whose BAR1 is virtual: for tests and debuggers. CAP_SYS_RAWIO.
 */
#define BS_DRIVER_MEM 0x20u

/**
 * bs_acquire_flags() - put a die into the slot
 * @ctx:    context
 * @die_id: which die
 * @flags:  BS_FORCE_SBR | BS_LEASE | BS_NOWAIT | BS_FORCE | BS_DRIVER_MEM
 * @gpu:    out: a handle as from bs_acquire(); NULL if not wanted
 *
 * Return: 0; -EINVAL NULL context or unknown flag; -ENODEV no such die, or
 * removed; -EBUSY leased by another and BS_NOWAIT, a driver is bound, or the
 * chain is unusable; -EIO the hardware did not answer as written (the slot is
 * vacant, bs_info.last_error says why); -EINTR a signal; -EPERM; -ENOMEM.
 */
int bs_acquire_flags(bs_context *ctx, int die_id, unsigned int flags,
		     bs_gpu **gpu);

/**
 * bs_release_flags() - vacate the slot if this die is in it
 * @flags: 0 or BS_FORCE: although a driver is bound
 *
 * Whatever handles there are. A lease of this context on it ends.
 *
 * Return: 0, also if it is not in; -EBUSY leased by another, or a driver is
 * bound; -ENODEV; -EINVAL NULL context or another flag; -EPERM BS_FORCE with a
 * driver bound and no CAP_SYS_RAWIO.
 */
int bs_release_flags(bs_context *ctx, int die_id, unsigned int flags);

/** bs_release_die() - bs_release_flags() with the flags of bs_set_flags() */
int bs_release_die(bs_context *ctx, int die_id);

/** bs_unlease() - end this context's lease; the die stays in. 0 or -errno */
int bs_unlease(bs_context *ctx, int die_id);

/**
 * struct bs_health - what bs_check() found
 * @in_slot:    1 if the die is in the slot
 * @alive:      1 if it is in and answers
 * @generation: as in struct bs_info
 * @driver:     1 if a kernel driver is bound to it, or binding
 * @bar1_mode:  enum bs_mode, as of now if the die is in and answers
 *
 * A copy beside which @driver was 1 or @bar1_mode BS_MODE_VIRTUAL was not
 * allowed: what it gave is not to be passed on. Whatever else may be added is
 * 0 until then.
 */
struct bs_health {
	int in_slot;
	int alive;
	uint64_t generation;
	int driver;
	int bar1_mode;
	uint64_t reserved[4];
};

/**
 * bs_check() - does the die still answer; pushes posted writes to it
 *
 * A few register reads. Do it after a copy out of bs_gpu.vram: a die that fell
 * off the bus reads as all-ones, without an error. Does not wait for a swap.
 *
 * Return: 0; -ENODEV; -EINVAL.
 */
int bs_check(bs_context *ctx, int die_id, struct bs_health *health);

enum bs_state {
	BS_STATE_IDLE, /* not in the slot */
	BS_STATE_ACTIVE, /* in the slot */
	BS_STATE_DEAD, /* does not answer, or removed */
	BS_STATE_NO_VRAM, /* in the slot; its memory is not initialised */
	BS_STATE_UNUSABLE, /* its chain carries a foreign device */
};

enum bs_mode {
	BS_MODE_UNKNOWN, /* never been in the slot */
	BS_MODE_PHYSICAL, /* BAR1 offset 0 is VRAM offset 0 */
	BS_MODE_VIRTUAL, /* BAR1 goes through the GPU's own page tables */
};

enum bs_cache {
	BS_CACHE_NONE, /* not in the slot, or nobody says */
	BS_CACHE_WC, /* write-combining */
	BS_CACHE_UC, /* uncached: many times slower; last_error says why, or a
		      * driver is bound */
};

/**
 * struct bs_info - what is known of one die
 * @state:        enum bs_state
 * @bar1_mode:    enum bs_mode as of the last acquire
 * @alive:        answered when last asked
 * @leased:       some process leases it; @leased_here: this context does
 * @waiters:      calls of any process waiting for a lease or a swap to end
 * @holder_pid:   who leases it, or 0; @holder_comm: its name
 * @bdf:          PCI address, "0000:03:00.0"
 * @vendor:       PCI ids, also @device, @subvendor, @subdevice
 * @driver:       kernel driver bound to it, or ""
 * @bar0_addr:    addresses and bytes in the slot, also while it is out
 * @vram_bytes:   usable memory; @resmem_bytes: carve-out behind it
 * @generation:   raised whenever the memory's contents were lost, except by
 *                the reset of a first acquire
 * @last_swap_ns: what its last swap in took
 * @last_error:   one line, or ""
 * @bar1_cache:   enum bs_cache, how the CPU sees its memory now
 */
struct bs_info {
	int state;
	int bar1_mode;
	int alive;
	int leased;
	int leased_here;
	uint32_t waiters;
	int holder_pid;
	char holder_comm[16];
	char bdf[16];
	uint16_t vendor, device, subvendor, subdevice;
	char driver[32];
	uint64_t bar0_addr, bar1_addr, bar3_addr;
	uint64_t bar0_size, bar1_size, bar3_size;
	uint64_t vram_bytes, resmem_bytes;
	uint64_t generation;
	uint64_t resets, acquires, swaps_in, swaps_out;
	uint64_t last_swap_ns;
	char last_error[256];
	int bar1_cache;
	uint32_t reserved32;
	uint64_t reserved[7];
};

/**
 * bs_die_info() - never waits for hardware nor for a swap
 * Return: 0; -ENODEV no such die; -EINVAL.
 */
int bs_die_info(bs_context *ctx, int die_id, struct bs_info *info);

/**
 * bs_vram() - the mapping of a die's memory
 * @addr: out: start, the same until bs_free(), whether the die is in or out
 * @len:  out: bytes, = bs_info.vram_bytes; bs_info.resmem_bytes more follow
 *
 * Touching it while the die is out or dead, or while a driver is bound to it
 * or its BAR1 is virtual (but see BS_DRIVER_MEM), raises SIGBUS.
 *
 * Return: 0; -ENODEV; -EINVAL; what mmap said (-ENOMEM, -EIO ...).
 */
int bs_vram(bs_context *ctx, int die_id, void **addr, size_t *len);

/**
 * bs_read() - copy out of a die's memory, with every check
 * @off: bytes; [@off, @off + @len) inside vram_bytes + resmem_bytes
 * @buf: out: partly undefined on failure
 *
 * By streaming loads where the memory is write-combined, which plain ones read
 * at a crawl. A fault of the mapping fails the call instead of ending the
 * process: the first call installs a handler of SIGBUS, which passes what is
 * not its own to the handler that was there. A handler that a program installs
 * later has to do the same.
 *
 * The die must be in the slot, and nothing keeps it there but a lease.
 *
 * Return: 0; -EINVAL out of range, NULL; -ENODEV; -ENXIO not in the slot, or
 * not any more; -EBUSY a driver is bound or BAR1 is virtual, and no
 * BS_DRIVER_MEM; -EIO it does not answer, has no memory, or was away or reset
 * for a moment.
 */
int bs_read(bs_context *ctx, int die_id, uint64_t off, void *buf, size_t len);

/**
 * bs_write() - copy into a die's memory; has reached it on return
 *
 * As bs_read(). After a failure any part may have been written.
 */
int bs_write(bs_context *ctx, int die_id, uint64_t off, const void *buf,
	     size_t len);

/**
 * bs_zero() - clear memory the cheapest way the device has
 * @off, @len: bytes, inside vram_bytes + resmem_bytes
 *
 * The die must be in the slot. Not interruptible: keep @len small.
 *
 * Return: 0; -EOPNOTSUPP write zeroes through the mapping instead (module);
 * -EINVAL out of range; -ENXIO not in the slot; -EBUSY a driver is bound or
 * BAR1 is virtual; -EIO.
 */
int bs_zero(bs_context *ctx, int die_id, uint64_t off, uint64_t len);

/** bs_poll_fd() - readable events (POLLPRI) when a die's state may have
 * changed since the last bs_refresh(); -1 if there is none (simulator, on
 * Linux before 5.15) */
int bs_poll_fd(const bs_context *ctx);

/**
 * bs_lease_fd() - the open file that this context's leases belong to
 *
 * A lease lasts while a duplicate of it is open anywhere: give one to a process
 * that uses the die on your behalf, and it keeps the die in if you are killed.
 * Do not close it.
 *
 * Return: the descriptor; -1 if there is none (simulator).
 */
int bs_lease_fd(const bs_context *ctx);

/** bs_device_name() - "bar_swap" or "sim"; "" for NULL */
const char *bs_device_name(const bs_context *ctx);

/**
 * bs_sim_order() - order a fault of the simulator
 * @order: one of
 *   "fail DIE N ERRNO"  the Nth next acquire that programs DIE (1 = the next)
 *                       fails so, once; ERRNO by name, e.g. EIO
 *   "dead DIE"          falls off the bus at once: SIGBUS; who acquires or
 *                       checks it is told; "revive DIE" answers again, with
 *                       its contents
 *   "reset DIE"         an unexpected reset: contents lost, generation + 1
 *   "driver DIE NAME"   a kernel driver is bound; "driver DIE none" unbinds
 *   "virtual DIE"       BAR1 goes virtual; the next acquire without a driver
 *                       makes it physical again, as does "physical DIE"
 *   "stuck DIE"         BAR1 is virtual and stays so until "physical DIE"
 *   "novram DIE"        not initialised: acquire works, state NO_VRAM;
 *                       "vram DIE" goes back
 *   "remove DIE"        removed from the bus: ENODEV; "return DIE"
 *   "unusable DIE"      a stranger sits on its card: both its dies are
 *                       unusable; "usable DIE" it has left
 *   "cap 0|1|own"       without CAP_SYS_RAWIO, with it, or as the calling
 *                       thread has it (the default)
 *   "swap_us N"         from now on a swap takes N microseconds
 *   "lease DIE PID"     a foreign process acquires DIE with a lease; it waits
 *                       5 s at most for ours to end; "unlease DIE" lets go
 *
 * Return: 0; -EINVAL malformed; -ENODEV no such die, or removed; -EOPNOTSUPP
 * not sim; what the foreign process's acquire says.
 */
int bs_sim_order(bs_context *ctx, const char *order);

#ifdef __cplusplus
}
#endif

#endif /* BARSWAP_H */
