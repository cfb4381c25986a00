/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Dies and the chains above them, and what else is there.
 */
#ifndef _BS_DISCOVER_H
#define _BS_DISCOVER_H

#include "bs.h"

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

#define BS_STRANGER_LEN sizeof_field(struct bs_chain, stranger)

/**
 * bs_chain_find_stranger() - is there anything below a chain that is not ours
 * @leaving: a device that is being removed and does not count, or NULL
 * @who:     out: what it is and where; BS_STRANGER_LEN bytes
 */
bool bs_chain_find_stranger(struct bs_slot *slot, struct bs_chain *chain,
			    const struct pci_dev *leaving, char *who);

/* Is a die or window in use by something of the kernel? Sets its stranger. */
bool bs_chain_is_in_use(struct bs_slot *slot, struct bs_chain *chain);

/* Tell every die of a chain that it is unusable. */
void bs_chain_refuse(struct bs_slot *slot, struct bs_chain *chain);

/* Is this resource one that we move? */
bool bs_owns_resource(struct bs_slot *slot, const struct resource *res);

/* May resource @i of this device leave the tree while we manage it? */
bool bs_die_moves(const struct bs_die *die, int i);
bool bs_bridge_moves(const struct bs_bridge *br, int i);

#endif /* _BS_DISCOVER_H */
