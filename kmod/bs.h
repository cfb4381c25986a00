/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of bar_swap share.
 *
 * Lock order, outermost first:
 *
 *	turn		one ACQUIRE or RELEASE at a time, first come first
 *			served; not a lock but a queue (turn.c), because its
 *			waiters must be interruptible and a reset outlives
 *			the caller that asked for it
 *	slot->lock	mutex: who may change what is in the slot
 *	rescan lock	pci_lock_rescan_remove(): no device comes or goes
 *	device_lock	of the dies involved: no driver binds or unbinds
 *	config access	of the dies and bridges involved: no setpci
 *	slot->map_lock	rwsem; write: program, vacate; read: fault
 *	slot->info_lock	spinlock, leaf: all that is told without waiting
 *
 * The bus notifier comes with the rescan lock or a device_lock held and takes
 * map_lock and info_lock only. pci_reset_bus() runs under slot->lock alone.
 * No user memory is touched under map_lock: a page fault takes mmap_lock and
 * then map_lock.
 */
#ifndef _BS_H
#define _BS_H

#include <linux/build_bug.h>
#include <linux/completion.h>
#include <linux/fs.h>
#include <linux/list.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/mount.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/pci.h>
#include <linux/rwsem.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "compat.h"
#include "region.h"
#include "uapi/bar_swap.h"
#include "window.h"

#define BS_RELEASE    "1.0"
#define BS_MAX_DEPTH  8 /* bridges above a die, the root port included */
#define BS_MAX_IDS    16
#define BS_CFG_DWORDS 16 /* the header every PCI function has */

/* GPU registers, offsets into BAR0. Source: envytools, nouveau. */
#define BS_REG_BOOT   0x000000 /* chip id */
#define BS_REG_PRAMIN 0x001700 /* VRAM address >> 16 of the window below */
#define BS_REG_BAR1   0x001704 /* bit 31: BAR1 through the GPU's MMU */
#define BS_BAR1_VM    BIT(31)
#define BS_PRAMIN     0x700000 /* 1 MiB of VRAM */
#define BS_PRAMIN_END 0x800000

/* A resource as found at load. */
struct bs_res {
	resource_size_t start;
	resource_size_t end;
	unsigned long flags;
	bool was_claimed;
};

/**
 * struct bs_dev - a PCI function we manage, and how we found it
 * @pdev:      reference held; replaced on adoption under rescan lock + map_lock
 * @is_gone:   removed; never touched again. Written like @pdev
 * @is_kept:   in use from snapshot to restore. slot->lock
 * @is_cfg_locked: bs_hw_lock() holds its config access. slot->lock
 * @is_dev_locked: bs_hw_lock() holds its device_lock. slot->lock
 * @has_cfg:   @cfg is worth writing back (the device answered)
 * @had_d3cold: D3cold was allowed before we forbade it
 * @cfg:       config dwords as found
 * @res:       resources as found
 */
struct bs_dev {
	struct pci_dev *pdev;
	bool is_gone;
	bool is_kept;
	bool is_cfg_locked;
	bool is_dev_locked;
	bool has_cfg;
	bool had_d3cold;
	u32 cfg[BS_CFG_DWORDS];
	struct bs_res res[PCI_NUM_RESOURCES];
};

/* A port of a chain. Immutable but for what struct bs_dev says and is_open. */
struct bs_bridge {
	struct list_head node; /* chain->bridges */
	struct bs_dev dev;
	bool is_root;
	bool is_open; /* its windows may forward. rescan lock + map_lock */
};

/**
 * struct bs_chain - everything below one root port
 * @node:     in slot->chains
 * @bridges:  top-down; bridges shared by two dies are here once
 * @stranger: why it must not be touched, or empty. slot->lock; written at
 *            load and when a stranger is found later
 */
struct bs_chain {
	struct list_head node;
	struct list_head bridges;
	char stranger[128];
};

/**
 * struct bs_die - one die
 * @id:        0 .. n_dies - 1 in PCI address order
 * @path:      bridges above it, root port first; immutable
 * @bar_size:  bytes of each memory BAR as sized, 0 for none. slot->lock
 * @bar_type:  low nibble of each BAR register. slot->lock
 * @is_sized:  the two above are known. slot->lock
 * @is_fresh:  never reset nor acquired since load. slot->lock
 * @has_driver: a driver is bound or binding. map_lock
 * @holds_module: that driver's reference on us was got. map_lock
 * @has_leftover: a driver left while the die was out; its regions hang below
 *             the BARs. map_lock
 * @is_mappable: BAR1 shows its memory. map_lock
 * @is_virtual: BAR1 goes through the GPU's MMU. map_lock
 * @is_unusable: never to be touched. info_lock
 * @has_vram:  BAR1 showed its memory when last asked. info_lock
 * @info:      what BAR_SWAP_DIE_INFO tells. info_lock
 */
struct bs_die {
	struct bs_slot *slot;
	struct bs_chain *chain;
	struct bs_dev dev;
	u32 id;
	unsigned int n_path;
	struct bs_bridge *path[BS_MAX_DEPTH];
	u64 bar_size[PCI_STD_NUM_BARS];
	u8 bar_type[PCI_STD_NUM_BARS];
	bool is_sized;
	bool is_fresh;
	bool has_driver;
	bool holds_module;
	bool has_leftover;
	bool is_mappable;
	bool is_virtual;
	bool is_unusable;
	bool has_vram;
	struct bs_die_info info;
};

/* One open file. */
struct bs_client {
	struct bs_slot *slot;
	u64 seen_event; /* slot->event at its last QUERY. info_lock */
};

/* Who keeps a die in. All under info_lock. */
struct bs_lease {
	struct bs_client *owner; /* NULL: nobody */
	struct bs_die *die;
	struct pid *pid;
	char comm[TASK_COMM_LEN];
};

/* The one bus reset that may be under way; it belongs to the turn. */
struct bs_reset {
	struct work_struct work;
	struct completion done;
	struct bs_die *die;
	bool counts; /* raises the generation */
	bool is_orphan; /* its caller left; the work gives the turn. info_lock */
	bool is_over; /* info_lock */
	int ret;
};

/**
 * struct bs_slot - the slot
 */
struct bs_slot {
	/* immutable after load */
	struct bs_slot_geom geom;
	struct bs_range pref;
	struct bs_range nonpref;
	struct bs_region region;
	bool does_first_sbr;
	bool is_dry;
	u32 n_dies;
	struct bs_die *die[BS_MAX_DIES];
	struct list_head chains;
	struct pci_bus *root_bus;
	struct pci_device_id ids[BS_MAX_IDS + 1];
	void __iomem *regs; /* BAR0's place, whoever is in */
	struct inode *inode; /* the one mapping of all opens */
	struct vfsmount *mnt;
	int mnt_count;
	struct notifier_block bus_nb;
	struct notifier_block pm_nb;
	struct notifier_block reboot_nb;

	struct mutex lock;
	struct resource hold[2]; /* placeholders while vacant. lock */
	u64 wc_size; /* bytes of BAR1 with a memtype reserved. lock */
	bool is_restored; /* everything was put back. lock */
	bool pm_has_turn; /* from suspend to resume. lock */
	struct workqueue_struct *wq; /* immutable */
	struct bs_reset reset;

	struct rw_semaphore map_lock;
	struct bs_die *active; /* map_lock; a hint under lock; NULL: vacant */
	bool is_swapping; /* a swap has or wants map_lock. hint, no lock */

	spinlock_t info_lock;
	u32 shown; /* active die as told, or BS_NO_DIE. info_lock */
	bool is_busy; /* somebody has the turn. info_lock */
	struct list_head waiters; /* for the turn. info_lock */
	u32 n_waiters;
	struct bs_lease lease;
	u64 event; /* raised at every change that poll tells. info_lock */
	wait_queue_head_t poll_wq;
};

/* Bytes of a die that may be mapped: what users get and the carve-out. */
static inline u64 bs_mapped_len(const struct bs_slot *slot)
{
	return PAGE_ALIGN(slot->region.usemem_len + slot->region.resmem_len);
}

/* Config writes on behalf of a die. */
struct bs_cfg {
	struct bs_die *die; /* gets the error */
	bool is_dry; /* log, do not write */
	bool is_quiet; /* the device may be gone: no error to report */
};

/* cfg.c */

/**
 * bs_cfg_write() - write a config dword and read it back
 * @c:    on whose behalf
 * @dev:  where
 * @reg:  register, a multiple of 4
 * @val:  what to write
 * @mask: the bits that must read back as written
 *
 * Return: 0; -EIO it reads back otherwise, reported with both values.
 */
int bs_cfg_write(const struct bs_cfg *c, struct bs_dev *dev, int reg, u32 val,
		 u32 mask);

/**
 * bs_cfg_command() - change bits of COMMAND of a die
 * @clear: bits to clear
 * @set:   bits to set
 *
 * Always writes: what reads as off may only be a write that was lost.
 *
 * Return: 0; -EIO as bs_cfg_write().
 */
int bs_cfg_command(const struct bs_cfg *c, u16 clear, u16 set);

/* Both windows of a bridge, in an order that never opens too much. */
int bs_cfg_window(const struct bs_cfg *c, struct bs_bridge *br,
		  const struct bs_window *w);

/* One memory BAR of a die, by index. */
int bs_cfg_bar(const struct bs_cfg *c, int bar, u64 addr);

/* All BARs and the ROM of a die to 0. */
int bs_cfg_zero_bars(const struct bs_cfg *c);

/**
 * bs_cfg_size() - learn the sizes of a die's BARs
 *
 * Writes all-ones and puts back what was there. Decode must be off.
 *
 * Return: 0; -EIO the die does not answer.
 */
int bs_cfg_size(const struct bs_cfg *c);

/* Put back the config dwords of the snapshot; COMMAND only if asked. */
int bs_cfg_restore_die(const struct bs_cfg *c);
int bs_cfg_restore_command(const struct bs_cfg *c);
int bs_cfg_restore_bridge(const struct bs_cfg *c, struct bs_bridge *br);

/* A config read with all-ones for a device that is gone. */
u32 bs_cfg_read(struct bs_dev *dev, int reg);

/* info.c */

/* Record and log why something failed: time, then the formatted text. */
__printf(2, 3) void bs_die_error(struct bs_die *die, const char *fmt, ...);

void bs_info_init(struct bs_die *die);
bool bs_info_alive(struct bs_die *die, bool alive); /* true: it changed */
void bs_info_sizes(struct bs_die *die); /* of the BARs, as sized */
void bs_info_unusable(struct bs_die *die, const char *why);
void bs_info_driver(struct bs_die *die, const char *name);
void bs_info_lost(struct bs_die *die); /* its memory's contents */
void bs_info_reset(struct bs_die *die, bool counts);
void bs_info_shown(struct bs_slot *slot, struct bs_die *die);
void bs_info_probed(struct bs_die *die, enum bs_bar1_mode mode, bool has_vram);
void bs_info_swapped(struct bs_die *die, bool in);
void bs_info_acquired(struct bs_die *die, u64 swap_ns);
void bs_info_get(struct bs_client *client, struct bs_die *die,
		 struct bs_die_info *out);
void bs_info_query(struct bs_client *client, struct bs_query_info *out);
bool bs_info_changed(struct bs_client *client);
u64 bs_info_generation(struct bs_die *die);

/* Something that poll tells has changed. Caller holds info_lock. */
void bs_info_event_locked(struct bs_slot *slot);

/* turn.c */

/**
 * bs_turn_take() - wait for the right to change the slot
 * @slot:   the slot
 * @client: who asks; NULL: the module itself
 * @heeds_lease: also wait for another file's lease to end
 * @nowait: -EBUSY instead of waiting
 *
 * First come, first served. The owner of a lease passes those who wait for it
 * to end.
 *
 * Return: 0; -EBUSY; -ERESTARTNOHAND a signal.
 */
int bs_turn_take(struct bs_slot *slot, struct bs_client *client,
		 bool heeds_lease, bool nowait);
void bs_turn_give(struct bs_slot *slot);
void bs_turn_give_locked(struct bs_slot *slot); /* info_lock held */

/* The lease; all take info_lock. */
void bs_lease_take(struct bs_client *client, struct bs_die *die);
/* End a lease on a die that is no longer in. */
void bs_lease_prune(struct bs_slot *slot);
/* End a lease if @client (NULL: whoever) holds it on @die (NULL: any). */
void bs_lease_drop(struct bs_slot *slot, struct bs_client *client,
		   struct bs_die *die);
/* Does another file than @client hold a lease on @die (NULL: any)? */
bool bs_lease_is_foreign(struct bs_slot *slot, struct bs_client *client,
			 struct bs_die *die);

/* discover.c */

/**
 * bs_discover() - find dies and chains
 *
 * Reads only. Chains that carry a stranger are marked, not refused.
 *
 * Context: rescan lock held.
 * Return: 0; -ENODEV no die; -ENOMEM.
 */
int bs_discover(struct bs_slot *slot);
void bs_forget(struct bs_slot *slot); /* drops every reference */

/* Is there anything below this chain that is not ours? Sets its stranger. */
bool bs_chain_has_stranger(struct bs_slot *slot, struct bs_chain *chain);

/* Is a die or window in use by something of the kernel? Sets its stranger. */
bool bs_chain_is_in_use(struct bs_slot *slot, struct bs_chain *chain);

/* Tell every die of a chain that it is unusable. */
void bs_chain_refuse(struct bs_slot *slot, struct bs_chain *chain);

/* Is this resource one that we move? */
bool bs_owns_resource(struct bs_slot *slot, const struct resource *res);

/* May resource @i of this device leave the tree while we manage it? */
bool bs_die_moves(const struct bs_die *die, int i);
bool bs_bridge_moves(const struct bs_bridge *br, int i);

/* room.c */

/**
 * bs_slot_find_room() - is the slot's place free
 *
 * Context: rescan lock held.
 * Return: 0; -ENXIO no host bridge window contains it; -EBUSY something else
 * is there. Both are logged with names.
 */
int bs_slot_find_room(struct bs_slot *slot);

/* The placeholders. Rescan lock held. */
int bs_hold_place(struct bs_slot *slot);
void bs_drop_place(struct bs_slot *slot);

/* restore.c */

/* Forbid the core to power a device down. */
void bs_hold_power(struct bs_dev *dev);

/* Remember registers and resources of all; no powering down. */
void bs_keep_all(struct bs_slot *slot);
void bs_unkeep_all(struct bs_slot *slot);

/* Take what moves of a die or bridge out of the tree and blank it. */
void bs_blank_die(struct bs_die *die);
void bs_blank_bridge(struct bs_bridge *br);
/* The same for all, bottom-up. */
void bs_blank_all(struct bs_slot *slot);
/* Structs as found and claimed again, top-down. */
void bs_unblank_all(struct bs_slot *slot);
/* Registers as found, decode off; then the structs; then COMMAND. */
void bs_restore_all(struct bs_slot *slot);

/* hw.c */

/**
 * bs_hw_lock() - rescan lock, device locks and config access
 * @dies: BIT(id) of each die involved; its bridges come with it
 * @flags: BS_HW_*
 *
 * The device locks are tried, never waited for with the rescan lock held: a
 * reset through sysfs holds one and waits for pciehp, which waits for the
 * rescan lock.
 *
 * Context: slot->lock held.
 * Return: 0; -EBUSY not within 75 s, or NOWAIT; -ERESTARTNOHAND a signal.
 */
int bs_hw_lock(struct bs_slot *slot, u32 dies, unsigned int flags);
#define BS_HW_NOWAIT  BIT(0)
#define BS_HW_SIGNALS BIT(1) /* a signal ends the wait */
#define BS_HW_ANYWAY  BIT(2) /* after 75 s go on with what could be had */
void bs_hw_unlock(struct bs_slot *slot, u32 dies);

/* chain.c */

/**
 * bs_chain_enable() - put a die into the vacant slot
 *
 * Claims before the first register is written, decode on last. On failure
 * everything is as before and the reason is the die's last error.
 *
 * Context: bs_hw_lock() and map_lock for write.
 * Return: 0; -EIO.
 */
int bs_chain_enable(struct bs_die *die);

/**
 * bs_chain_disable() - take a die out of the slot
 * @is_quiet: an earlier error is the one to keep
 *
 * Goes on after an error: what can be closed is closed. A die that is gone is
 * not touched, its surviving bridges are.
 *
 * Context: as bs_chain_enable().
 * Return: 0; -EIO some register did not read back as written.
 */
int bs_chain_disable(struct bs_die *die, bool is_quiet);

/**
 * bs_chain_sweep() - close and release what an earlier die left behind
 * @die: gets the errors
 *
 * A die that is removed while it is in leaves its ports open and claimed; a
 * port may have refused to close; a rescan may have given a closed window
 * something. The place is held afterwards.
 *
 * Context: bs_hw_lock(), map_lock for write, no die in.
 * Return: 0; -EIO a port does not close: no other chain may be opened.
 */
int bs_chain_sweep(struct bs_die *die);

/* Do the registers of a die look as after a reset? */
bool bs_die_was_reset(struct bs_die *die);

/* A register that does not read as we left it; reg 0: none. */
struct bs_change {
	int reg;
	u32 wanted;
	u32 got;
};

/**
 * bs_chain_is_intact() - is the die that is in still programmed as we left it
 * @change: set to the first register that is not
 *
 * COMMAND, BAR0 and both halves of BAR1: four config reads.
 */
bool bs_chain_is_intact(struct bs_die *die, struct bs_change *change);

/* Close both windows of a port; an error is added to @ret if that is 0. */
void bs_bridge_close(const struct bs_cfg *c, struct bs_bridge *br, int *ret);

/* Log every config write of a swap, from the snapshot; ten times in 5 s. */
void bs_chain_dry_run(struct bs_die *from, struct bs_die *to);

/* Decode off; BUS_MASTER stays if a driver is bound. */
int bs_die_decode_off(const struct bs_cfg *c);

/* COMMAND 0 and BARs 0, over whatever a reset's restore left. */
int bs_die_settle(struct bs_die *die);

/* Does it answer config reads? Recorded. */
bool bs_die_answers(struct bs_die *die);

/* claim.c */

/* Structs of a die and its path filled and claimed, top-down. */
int bs_claim_all(struct bs_die *die);
/* Out of the tree, bottom-up, blanked, and the place held again. */
void bs_unclaim_all(struct bs_die *die);

/* quiesce.c */

#define BS_SLOT_BARS 3
extern const int bs_slot_bars[BS_SLOT_BARS];
u64 bs_slot_bar_addr(const struct bs_slot *slot, int bar);
u64 bs_slot_bar_size(const struct bs_slot *slot, int bar);

/* Why a sized die cannot be in the slot, or NULL. */
const char *bs_die_misfit(struct bs_die *die);
/* First contact at load: decode off, sizes, BARs 0, windows closed. */
void bs_chain_quiesce_all(struct bs_slot *slot);

/* regs.c */

/**
 * bs_regs_probe() - ask the die that is in who it is
 *
 * Reads the chip id and BAR1's mode and, without a driver, compares one word
 * of VRAM through PRAMIN and through BAR1. Sets is_mappable, is_virtual.
 *
 * Context: map_lock for write, die decoding.
 * Return: 0; -EIO it reads all-ones.
 */
int bs_regs_probe(struct bs_die *die);

/* One register read: pushes posted writes; false if all-ones. */
bool bs_regs_answer(struct bs_slot *slot);

/* reset.c */

int bs_reset_init(struct bs_slot *slot);
void bs_reset_exit(struct bs_slot *slot); /* waits for one under way */

/**
 * bs_reset_run() - reset a die's bus and wait for it
 * @counts: it raises the generation
 *
 * Context: turn held, no lock.
 * Return: 0; -EIO the die did not come back; -EBUSY it was locked by others
 * for a second, or a driver has been bound; -ENODEV it was removed;
 * -EINPROGRESS a signal: the reset goes on, and the turn is no longer the
 * caller's.
 */
int bs_reset_run(struct bs_die *die, bool counts);

/* acquire.c */

int bs_slot_acquire(struct bs_client *client, struct bs_acquire_req *req,
		    bool nowait);

/* slot.c */

void bs_slot_init(struct bs_slot *slot);
struct bs_die *bs_slot_die(struct bs_slot *slot, u32 id); /* or NULL */
int bs_slot_release(struct bs_client *client, u32 die_id, bool nowait);
int bs_slot_unlease(struct bs_client *client, u32 die_id);
int bs_slot_check_die(struct bs_slot *slot, struct bs_check *check);

/*
 * map_lock for write, with every user mapping of the die that is in zapped and
 * the slot told as vacant; and back, telling who is in.
 */
void bs_slot_lock_map(struct bs_slot *slot);
void bs_slot_unlock_map(struct bs_slot *slot);

/* What is in leaves. map_lock held for write, hardware locked. */
void bs_slot_take_out_locked(struct bs_slot *slot);

/* Does a driver keep @die (NULL: no) where it is? @wanted gets the reason. */
bool bs_slot_has_driver(struct bs_die *die, struct bs_die *wanted);

/* Zap every user mapping of the die that is in. map_lock held for write. */
void bs_slot_revoke_locked(struct bs_slot *slot);

/**
 * bs_slot_vacate() - take out whatever is in
 * @how: BS_HW_*
 *
 * Context: slot->lock held.
 * Return: 0; -EBUSY a driver is bound to it; as bs_hw_lock().
 */
int bs_slot_vacate(struct bs_slot *slot, unsigned int how);

/* Vacate and put everything back, once. Caller holds slot->lock. */
void bs_slot_restore(struct bs_slot *slot);

/* BIT(id) of every die of a chain that is managed. */
u32 bs_slot_all(struct bs_slot *slot);

/* notify.c */

int bs_notify_register_bus(struct bs_slot *slot);
void bs_notify_unregister_bus(struct bs_slot *slot);
int bs_notify_register_power(struct bs_slot *slot);
void bs_notify_unregister_power(struct bs_slot *slot);
/* Note the driver a die has at load; its device_lock is held. */
void bs_notify_found_driver(struct bs_die *die);
void bs_notify_forget_driver(struct bs_die *die);

/* mmap.c */

int bs_mmap_init(struct bs_slot *slot);
void bs_mmap_exit(struct bs_slot *slot);
int bs_mmap(struct file *file, struct vm_area_struct *vma);

/* chardev.c */

int bs_chardev_register(struct bs_slot *slot);
void bs_chardev_unregister(void);

#endif /* _BS_H */
