/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * The contract between the bar_swap module and user space.
 *
 * /dev/bar_swap gives several PCI dies turns in one MMIO slot. Numbers and
 * layouts here never change once released; new ioctls and flag bits are added.
 * All structs are free of padding and the same for 32-bit callers.
 */
#ifndef _UAPI_BAR_SWAP_H
#define _UAPI_BAR_SWAP_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define BS_ABI_MAJOR	1	/* raised when an old caller could misread us */
#define BS_ABI_MINOR	1	/* raised when something is added */

#define BS_MAX_DIES	16
#define BS_NO_DIE	0xFFFFFFFFu	/* active_die of a vacant slot */

/**
 * struct bs_query_info - who is in the slot (BAR_SWAP_QUERY)
 * @n_dies:     number of managed dies; ids run from 0 in PCI address order
 * @n_slots:    always 1
 * @mapped:     1 for the die that is in the slot, 0 for every other
 * @active_die: its id, or BS_NO_DIE
 *
 * Never waits for a swap: during one the slot reads as vacant.
 */
struct bs_query_info {
	__u32 n_dies;
	__u32 n_slots;
	__u32 mapped[BS_MAX_DIES];
	__u32 active_die;
};

/* Flags of BAR_SWAP_ACQUIRE. Any other bit is EINVAL. */
#define BS_ACQUIRE_FORCE_SBR	(1u << 0) /* reset its bus first; VRAM is lost */
#define BS_ACQUIRE_LEASE	(1u << 1) /* keep it in until UNLEASE, RELEASE or last close */
#define BS_ACQUIRE_NOWAIT	(1u << 2) /* EBUSY instead of waiting; also O_NONBLOCK */
#define BS_ACQUIRE_FORCE	(1u << 3) /* swap although a driver is bound; CAP_SYS_RAWIO */
#define BS_ACQUIRE_DRY_RUN	(1u << 4) /* log the config writes, make none */
/*
 * ABI minor 1. From this ACQUIRE to its last close this open file may touch
 * the memory of a die that a driver is bound to, or whose BAR1 is virtual:
 * for tests and debuggers. Needs CAP_SYS_RAWIO, since VRAM then holds GPU page
 * tables, and whoever writes them can make the GPU write any host page.
 */
#define BS_ACQUIRE_DRIVER_MEM	(1u << 5)

/**
 * struct bs_acquire_req - put one die into the slot (BAR_SWAP_ACQUIRE)
 * @die_id:    in: 0 .. n_dies - 1
 * @flags:     in: BS_ACQUIRE_*
 * @bar0_addr: out: CPU address of the registers
 * @bar1_addr: out: CPU address of the VRAM aperture
 * @bar1_size: out: bytes of the aperture (a power of two; the memory behind
 *             it is shorter, see bs_die_info.vram_bytes)
 * @bar3_addr: out: CPU address of BAR3
 *
 * The die that was in is taken out first and every user mapping of it gives
 * SIGBUS. Waits, interruptibly and first come first served, while another
 * open file leases the die that is in. A lease ends with the last close of its
 * open file, which a mapping keeps open. A failure leaves the slot vacant,
 * except EBUSY, EINVAL, ENODEV, EPERM and EINTR, which change nothing unless a
 * reset was due and had begun: the slot is vacant then. With NOWAIT a reset
 * that FORCE_SBR did not ask for is begun and not waited for: EBUSY until it is
 * over. A dry run changes nothing whatever it returns; of many in a row not all
 * are logged.
 *
 * Errors: EBUSY a driver is bound to a die involved, the chain is unusable,
 * leased by another and NOWAIT or FORCE_SBR, somebody else's turn and NOWAIT,
 * or a die is locked by others (for 75 s; at once with NOWAIT); EINVAL unknown
 * flag; ENODEV no such die or removed; EIO the die or a bridge does not answer
 * as written; EINTR a signal (a reset under way goes on); EPERM FORCE,
 * FORCE_SBR or DRIVER_MEM without CAP_SYS_RAWIO.
 */
struct bs_acquire_req {
	__u32 die_id;
	__u32 flags;
	__u64 bar0_addr;
	__u64 bar1_addr;
	__u64 bar1_size;
	__u64 bar3_addr;
};

/* Flag of BAR_SWAP_RELEASE, from ABI minor 1. Any other bit is EINVAL. */
#define BS_RELEASE_FORCE	(1u << 0) /* although a driver is bound; CAP_SYS_RAWIO */

/**
 * struct bs_release_req - vacate the slot, or end a lease
 * @die_id: 0 .. n_dies - 1
 * @flags:  BS_RELEASE_FORCE or 0; of UNLEASE 0
 *
 * BAR_SWAP_RELEASE takes the die out; 0 with nothing done if it is not in.
 * Waits for its turn as ACQUIRE does, but not for a lease to end. A failure
 * changes nothing. FORCE takes the BARs out with the driver's regions in them;
 * both are back at the next ACQUIRE. The driver must touch nothing meanwhile,
 * nor leave. Of a die without a driver FORCE is ignored. Errors: EBUSY another
 * open file leases it, a driver is bound to it and FORCE is not given, it is
 * locked by others for 75 s, or O_NONBLOCK and it would wait; EINVAL flags;
 * ENODEV no such die or removed; EINTR a signal; EPERM FORCE of a die with a
 * driver without CAP_SYS_RAWIO.
 * BAR_SWAP_UNLEASE ends this open file's lease and leaves the die in the
 * slot; 0 if there was none.
 */
struct bs_release_req {
	__u32 die_id;
	__u32 flags;
};

/**
 * struct bs_version - handshake (BAR_SWAP_VERSION)
 * @abi_major: BS_ABI_MAJOR of the module; a caller refuses another one
 * @abi_minor: BS_ABI_MINOR of the module
 * @release:   its version, NUL-terminated
 */
struct bs_version {
	__u32 abi_major;
	__u32 abi_minor;
	char release[24];
};

enum bs_die_state {
	BS_DIE_IDLE = 0,	/* not in the slot */
	BS_DIE_ACTIVE = 1,	/* in the slot, decoding */
	BS_DIE_DEAD = 2,	/* does not answer, or removed */
	BS_DIE_NO_VRAM = 3,	/* in the slot; BAR1 does not show its memory */
	BS_DIE_UNUSABLE = 4,	/* a stranger is in its chain, or it does not fit */
};

enum bs_bar1_mode {
	BS_BAR1_UNKNOWN = 0,	/* never been in the slot */
	BS_BAR1_PHYSICAL = 1,	/* BAR1 offset 0 is VRAM 0 */
	BS_BAR1_VIRTUAL = 2,	/* through the GPU's MMU: BAR0 + 0x1704 bit 31 */
};

#define BS_DIE_F_ALIVE		(1u << 0) /* answered when last asked */
#define BS_DIE_F_LEASED		(1u << 1) /* some open file leases it */
#define BS_DIE_F_LEASED_HERE	(1u << 2) /* this open file leases it */
/*
 * From ABI minor 1: how users' pages of BAR1 are cached while the die is in.
 * Uncached is many times slower: a driver is bound, or something else maps
 * part of BAR1 uncached (last_error says so). Neither flag: it is not in.
 */
#define BS_DIE_F_BAR1_WC	(1u << 3) /* write-combining */
#define BS_DIE_F_BAR1_UC	(1u << 4) /* uncached */

/**
 * struct bs_die_info - what is known of one die (BAR_SWAP_DIE_INFO)
 * @die_id:       in
 * @state:        enum bs_die_state
 * @flags:        BS_DIE_F_*
 * @bar1_mode:    enum bs_bar1_mode, as of the last acquire, or of when a
 *                driver left the die while it was in
 * @vendor:       PCI ids (@device, @subvendor, @subdevice)
 * @bdf:          "0000:03:00.0"
 * @bar0_addr:    where the BAR is, or would be, in the slot
 *                (@bar1_addr, @bar3_addr)
 * @bar0_size:    bytes (@bar1_size, @bar3_size)
 * @vram_bytes:   usable memory
 * @resmem_bytes: carve-out behind it, 0 if none is configured; may be mapped too
 * @generation:   raised whenever the contents of the memory were lost: every
 *                reset but that of a first acquire, re-adoption, resume
 * @resets:       bus resets made, the first included
 * @acquires:     successful ACQUIREs, no-ops included
 * @swaps_in:     times programmed into the slot
 * @swaps_out:    times taken out of it
 * @last_swap_ns: what the last ACQUIRE that programmed it took
 * @waiters:      calls, of any die, now waiting for their turn: most for a
 *                lease to end, some for another's swap
 * @holder_pid:   who leases it, or 0
 * @holder_comm:  its name
 * @driver:       kernel driver bound to it, or empty
 * @last_error:   time, what was tried, where, wanted and read values; or empty
 *
 * Never waits for hardware nor for a swap. Strings are NUL-terminated.
 */
struct bs_die_info {
	__u32 die_id;
	__u32 state;
	__u32 flags;
	__u32 bar1_mode;
	__u16 vendor;
	__u16 device;
	__u16 subvendor;
	__u16 subdevice;
	char bdf[16];
	__u64 bar0_addr;
	__u64 bar1_addr;
	__u64 bar3_addr;
	__u64 bar0_size;
	__u64 bar1_size;
	__u64 bar3_size;
	__u64 vram_bytes;
	__u64 resmem_bytes;
	__u64 generation;
	__u64 resets;
	__u64 acquires;
	__u64 swaps_in;
	__u64 swaps_out;
	__u64 last_swap_ns;
	__u32 waiters;
	__s32 holder_pid;
	char holder_comm[16];
	char driver[32];
	char last_error[256];
};

/**
 * struct bs_check - does the die in the slot still answer (BAR_SWAP_CHECK)
 * @die_id:     in
 * @flags:      in: must be 0
 * @in_slot:    out: 1 if it is in the slot
 * @alive:      out: 1 if it is in and BAR0 word 0 did not read all-ones
 * @generation: out: as in struct bs_die_info
 * @driver:     out: 1 if a kernel driver is bound to it, or binding
 * @bar1_mode:  out: enum bs_bar1_mode, asked now if the die is in and answers
 * @reserved:   out: 0
 *
 * A few register reads, which also push posted writes before them to the die.
 * Meant for after each copy, which was not allowed if @driver is 1 or
 * @bar1_mode virtual: some of it may have come from, or gone to, a die that
 * was not the caller's any more. Does not wait for a swap: in_slot is 0 then.
 *
 * In ABI minor 0 it ended with @generation. Either size is answered.
 */
struct bs_check {
	__u32 die_id;
	__u32 flags;
	__u32 in_slot;
	__u32 alive;
	__u64 generation;
	__u32 driver;
	__u32 bar1_mode;
	__u32 reserved[2];
};

#define BS_CHECK_SIZE_MINOR0	24

#define BAR_SWAP_IOC_TYPE	0xB5

#define BAR_SWAP_QUERY		_IOR(BAR_SWAP_IOC_TYPE, 1, struct bs_query_info)
#define BAR_SWAP_ACQUIRE	_IOWR(BAR_SWAP_IOC_TYPE, 2, struct bs_acquire_req)
#define BAR_SWAP_RELEASE	_IOW(BAR_SWAP_IOC_TYPE, 3, struct bs_release_req)
#define BAR_SWAP_VERSION	_IOR(BAR_SWAP_IOC_TYPE, 16, struct bs_version)
#define BAR_SWAP_DIE_INFO	_IOWR(BAR_SWAP_IOC_TYPE, 17, struct bs_die_info)
#define BAR_SWAP_UNLEASE	_IOW(BAR_SWAP_IOC_TYPE, 18, struct bs_release_req)
#define BAR_SWAP_CHECK		_IOWR(BAR_SWAP_IOC_TYPE, 19, struct bs_check)
#define BAR_SWAP_CHECK_MINOR0	_IOC(_IOC_READ | _IOC_WRITE, BAR_SWAP_IOC_TYPE, \
				     19, BS_CHECK_SIZE_MINOR0)

/*
 * mmap: offset = (die << 40) + byte offset into its VRAM; MAP_SHARED only,
 * inside vram_bytes + resmem_bytes: the carve-out lies behind the usable part.
 * Pages come at the first touch and only while the die is in the slot, has no
 * driver and a BAR1 that is not virtual (but see BS_ACQUIRE_DRIVER_MEM);
 * otherwise the touch gives SIGBUS. A mapping outlives all of that: it works
 * again when the die is back or the driver has left.
 *
 * poll: POLLPRI when any die's state, lease, driver, alive flag, generation,
 * bar1_mode or last_error, or the active die, changed since this open file's
 * last BAR_SWAP_QUERY. POLLIN is never set.
 */
#define BS_MMAP_DIE_SHIFT	40

#if defined(__KERNEL__) || defined(__cplusplus)
#define BS_ASSERT_SIZE(s, n)	static_assert(sizeof(struct s) == (n), #s)
#else
#define BS_ASSERT_SIZE(s, n)	_Static_assert(sizeof(struct s) == (n), #s)
#endif
BS_ASSERT_SIZE(bs_query_info, 76);
BS_ASSERT_SIZE(bs_acquire_req, 40);
BS_ASSERT_SIZE(bs_release_req, 8);
BS_ASSERT_SIZE(bs_version, 32);
BS_ASSERT_SIZE(bs_die_info, 464);
BS_ASSERT_SIZE(bs_check, 40);

#endif /* _UAPI_BAR_SWAP_H */
