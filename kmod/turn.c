// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whose turn it is, and who keeps a die in.
 *
 * A mutex would not do: its waiters are not first come first served, and a
 * reset that goes on after its caller was interrupted must keep everybody
 * else out until it is over.
 */
#include "turn.h"

#include <linux/pid.h>
#include <linux/sched/signal.h>

#include "info.h"

struct waiter {
	struct list_head node; /* slot->waiters; empty once granted */
	struct bs_client *client;
	bool heeds_lease;
	struct completion granted;
};

static bool is_blocked_locked(struct bs_slot *slot, struct bs_client *client,
			      bool heeds_lease)
{
	lockdep_assert_held(&slot->info_lock);
	return heeds_lease && slot->lease.owner && slot->lease.owner != client;
}

static void grant_next_locked(struct bs_slot *slot)
{
	struct waiter *w;

	lockdep_assert_held(&slot->info_lock);
	if (slot->is_busy)
		return;
	list_for_each_entry(w, &slot->waiters, node) {
		if (is_blocked_locked(slot, w->client, w->heeds_lease))
			continue;
		list_del_init(&w->node);
		slot->n_waiters--;
		slot->is_busy = true;
		complete(&w->granted);
		return;
	}
}

int bs_turn_take(struct bs_slot *slot, struct bs_client *client,
		 bool heeds_lease, bool nowait)
{
	struct waiter w = { .client = client, .heeds_lease = heeds_lease };

	spin_lock(&slot->info_lock);
	/* While the turn is free, whoever waits does so for a lease to end. */
	if (!slot->is_busy && !is_blocked_locked(slot, client, heeds_lease)) {
		slot->is_busy = true;
		spin_unlock(&slot->info_lock);
		return 0;
	}
	if (nowait) {
		spin_unlock(&slot->info_lock);
		return -EBUSY;
	}
	init_completion(&w.granted);
	list_add_tail(&w.node, &slot->waiters);
	slot->n_waiters++;
	spin_unlock(&slot->info_lock);

	if (!wait_for_completion_interruptible(&w.granted))
		return 0;

	spin_lock(&slot->info_lock);
	if (list_empty(&w.node)) {
		/* Granted in the same moment: hand it on. */
		bs_turn_give_locked(slot);
	} else {
		list_del(&w.node);
		slot->n_waiters--;
	}
	spin_unlock(&slot->info_lock);
	return -ERESTARTNOHAND;
}

void bs_turn_give_locked(struct bs_slot *slot)
{
	lockdep_assert_held(&slot->info_lock);
	slot->is_busy = false;
	grant_next_locked(slot);
}

void bs_turn_give(struct bs_slot *slot)
{
	spin_lock(&slot->info_lock);
	bs_turn_give_locked(slot);
	spin_unlock(&slot->info_lock);
}

static void end_lease_locked(struct bs_slot *slot)
{
	lockdep_assert_held(&slot->info_lock);
	put_pid(slot->lease.pid);
	slot->lease = (struct bs_lease){};
	bs_info_event_locked(slot);
	grant_next_locked(slot);
}

void bs_lease_take(struct bs_client *client, struct bs_die *die)
{
	struct bs_slot *slot = client->slot;
	struct bs_lease lease = { .owner = client, .die = die };
	struct pid *old;
	bool is_new;

	lease.pid = get_pid(task_tgid(current));
	get_task_comm(lease.comm, current);
	spin_lock(&slot->info_lock);
	/* Removed since it came in: nobody would end the lease. */
	if (slot->shown != die->id) {
		spin_unlock(&slot->info_lock);
		put_pid(lease.pid);
		return;
	}
	/* With the turn in hand there is no lease but perhaps our own. */
	old = slot->lease.pid;
	is_new = slot->lease.owner != client || slot->lease.die != die;
	slot->lease = lease;
	if (is_new)
		bs_info_event_locked(slot);
	spin_unlock(&slot->info_lock);
	put_pid(old);
}

void bs_lease_drop(struct bs_slot *slot, struct bs_client *client,
		   struct bs_die *die)
{
	struct bs_lease *lease = &slot->lease;

	spin_lock(&slot->info_lock);
	if (lease->owner && (!client || lease->owner == client) &&
	    (!die || lease->die == die))
		end_lease_locked(slot);
	spin_unlock(&slot->info_lock);
}

bool bs_lease_is_foreign(struct bs_slot *slot, struct bs_client *client,
			 struct bs_die *die)
{
	bool foreign;

	spin_lock(&slot->info_lock);
	foreign = slot->lease.owner && slot->lease.owner != client &&
		  (!die || slot->lease.die == die);
	spin_unlock(&slot->info_lock);
	return foreign;
}

void bs_lease_prune(struct bs_slot *slot)
{
	spin_lock(&slot->info_lock);
	if (slot->lease.owner && slot->lease.die->id != slot->shown)
		end_lease_locked(slot);
	spin_unlock(&slot->info_lock);
}
