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
 * @lost:      BIT(i): resource i was claimed at load and could not be again
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
	u32 lost;
	u32 cfg[BS_CFG_DWORDS];
	struct bs_res res[PCI_NUM_RESOURCES];
};

/* A port of a chain. Immutable but for what struct bs_dev and fields say. */
struct bs_bridge {
	struct list_head node; /* chain->bridges */
	struct bs_dev dev;
	bool is_root;
	bool is_open; /* its windows may forward. rescan lock + map_lock */
	u16 switched_on; /* bits of COMMAND that were off. slot->lock */
	bool was_busmaster; /* as Linux knew it, before that. slot->lock */
};

/* A window without the slot's two ranges is at most so many pieces. */
#define BS_MAX_PIECES 3

/**
 * struct bs_chain - everything below one root port
 * @node:     in slot->chains
 * @bridges:  top-down; bridges shared by two dies are here once
 * @pieces:   placeholders over what the root port's windows were at load, but
 *            for the slot: nobody else is given it. Rescan lock
 * @n_pieces: how many
 * @stranger: why it was never taken over, or empty. slot->lock; immutable
 *            after load
 */
struct bs_chain {
	struct list_head node;
	struct list_head bridges;
	struct resource pieces[2 * BS_MAX_PIECES];
	unsigned int n_pieces;
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
 * @is_mappable: BAR1 shows its memory. map_lock
 * @is_virtual: BAR1 goes through the GPU's MMU. map_lock
 * @is_unusable: never to be touched. info_lock
 * @is_blocked: not to be touched while a stranger is there. info_lock
 * @has_mark:  its PRAMIN window holds our mark (regs.c). info_lock
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
	bool is_mappable;
	bool is_virtual;
	bool is_unusable;
	bool is_blocked;
	bool has_mark;
	bool has_vram;
	struct bs_die_info info;
};

/* One open file. */
struct bs_client {
	struct bs_slot *slot;
	u64 seen_event; /* slot->event at its last QUERY. info_lock */
	bool sees_driver_mem; /* may touch a driver's die; set once. no lock */
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

/* When a die's bus is reset at its first acquire since load. */
enum bs_first_sbr {
	BS_SBR_NEVER,
	BS_SBR_AUTO, /* if it does not do as told, once */
	BS_SBR_ALWAYS,
};

/**
 * struct bs_power - what suspend and reboot have done by a work item
 * @sleep:    vacates the slot; the turn is held
 * @reboot:   puts everything back
 * @done:     @sleep is over
 * @rebooted: @reboot is over
 * @ret:      of @sleep. info_lock
 * @is_waited_for: else @sleep gives the turn back. info_lock
 * @has_turn: from suspend to resume. Of the PM notifier, which runs alone
 */
struct bs_power {
	struct work_struct sleep;
	struct work_struct reboot;
	struct completion done;
	struct completion rebooted;
	int ret;
	bool is_waited_for;
	bool has_turn;
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
	enum bs_first_sbr first_sbr;
	bool is_dry;
	bool is_verbose; /* a line a swap */
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
	/* rescan lock + map_lock once loaded */
	struct resource hold[2]; /* placeholders while vacant */
	bool is_restored; /* everything was put back. lock */
	struct workqueue_struct *wq; /* immutable */
	struct bs_reset reset;
	struct bs_power power;

	struct rw_semaphore map_lock;
	struct bs_die *active; /* map_lock; a hint under lock; NULL: vacant */
	u64 wc_size; /* bytes of BAR1 with a memtype reserved. map_lock */
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

#endif /* _BS_H */
