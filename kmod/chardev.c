// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/bar_swap: ioctl numbers to calls, and nothing else. User memory is
 * touched here only, with no lock held.
 */
#include "chardev.h"

#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "acquire.h"
#include "info.h"
#include "mmap.h"
#include "slot.h"
#include "turn.h"

static struct bs_slot *the_slot;

static int bs_open(struct inode *inode, struct file *file)
{
	struct bs_client *client = kzalloc(sizeof(*client), GFP_KERNEL);

	if (!client)
		return -ENOMEM;
	client->slot = the_slot;
	file->private_data = client;
	file->f_mapping = the_slot->inode->i_mapping;
	return nonseekable_open(inode, file);
}

/* Without a lease nothing changes: a driver's teardown finds its BARs. */
static int bs_close(struct inode *inode, struct file *file)
{
	struct bs_client *client = file->private_data;

	bs_lease_drop(client->slot, client, NULL);
	kfree(client);
	return 0;
}

static __poll_t bs_poll(struct file *file, struct poll_table_struct *table)
{
	struct bs_client *client = file->private_data;

	poll_wait(file, &client->slot->poll_wq, table);
	return bs_info_changed(client) ? EPOLLPRI : 0;
}

static int do_query(struct bs_client *client, void __user *arg)
{
	struct bs_query_info info;

	bs_info_query(client, &info);
	return copy_to_user(arg, &info, sizeof(info)) ? -EFAULT : 0;
}

static int do_acquire(struct bs_client *client, void __user *arg, bool nowait)
{
	struct bs_acquire_req req;
	int ret;

	if (copy_from_user(&req, arg, sizeof(req)))
		return -EFAULT;
	ret = bs_slot_acquire(client, &req, nowait);
	if (ret)
		return ret;
	return copy_to_user(arg, &req, sizeof(req)) ? -EFAULT : 0;
}

static int do_release(struct bs_client *client, void __user *arg, bool nowait)
{
	struct bs_release_req req;

	if (copy_from_user(&req, arg, sizeof(req)))
		return -EFAULT;
	return bs_slot_release(client, &req, nowait);
}

static int do_unlease(struct bs_client *client, void __user *arg)
{
	struct bs_release_req req;

	if (copy_from_user(&req, arg, sizeof(req)))
		return -EFAULT;
	if (req.flags)
		return -EINVAL;
	return bs_slot_unlease(client, req.die_id);
}

static int do_version(void __user *arg)
{
	struct bs_version version = {
		.abi_major = BS_ABI_MAJOR,
		.abi_minor = BS_ABI_MINOR,
		.release = BS_RELEASE,
	};

	return copy_to_user(arg, &version, sizeof(version)) ? -EFAULT : 0;
}

static int do_die_info(struct bs_client *client, void __user *arg)
{
	struct bs_die_info info;
	struct bs_die *die;

	if (copy_from_user(&info, arg, sizeof(info)))
		return -EFAULT;
	die = bs_slot_die(client->slot, info.die_id);
	if (!die)
		return -ENODEV;
	bs_info_get(client, die, &info);
	return copy_to_user(arg, &info, sizeof(info)) ? -EFAULT : 0;
}

/* @len: of the caller's struct, which may be that of an older contract */
static int do_check(struct bs_client *client, void __user *arg, size_t len)
{
	struct bs_check check = {};
	int ret;

	if (copy_from_user(&check, arg, len))
		return -EFAULT;
	if (check.flags)
		return -EINVAL;
	ret = bs_slot_check_die(client->slot, &check);
	if (ret)
		return ret;
	return copy_to_user(arg, &check, len) ? -EFAULT : 0;
}

/* One of our numbers with another size or direction is a caller's mistake. */
static bool is_ours(unsigned int cmd)
{
	static const unsigned int ours[] = {
		BAR_SWAP_QUERY,   BAR_SWAP_ACQUIRE,  BAR_SWAP_RELEASE,
		BAR_SWAP_VERSION, BAR_SWAP_DIE_INFO, BAR_SWAP_UNLEASE,
		BAR_SWAP_CHECK,
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(ours); i++) {
		if (_IOC_TYPE(cmd) == _IOC_TYPE(ours[i]) &&
		    _IOC_NR(cmd) == _IOC_NR(ours[i]))
			return true;
	}
	return false;
}

static long bs_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct bs_client *client = file->private_data;
	bool nowait = file->f_flags & O_NONBLOCK;
	void __user *user = (void __user *)arg;

	switch (cmd) {
	case BAR_SWAP_QUERY:
		return do_query(client, user);
	case BAR_SWAP_ACQUIRE:
		return do_acquire(client, user, nowait);
	case BAR_SWAP_RELEASE:
		return do_release(client, user, nowait);
	case BAR_SWAP_VERSION:
		return do_version(user);
	case BAR_SWAP_DIE_INFO:
		return do_die_info(client, user);
	case BAR_SWAP_UNLEASE:
		return do_unlease(client, user);
	case BAR_SWAP_CHECK:
	case BAR_SWAP_CHECK_MINOR0:
		return do_check(client, user, _IOC_SIZE(cmd));
	}
	return is_ours(cmd) ? -EINVAL : -ENOTTY;
}

static const struct file_operations fops = {
	.owner = THIS_MODULE,
	.open = bs_open,
	.release = bs_close,
	.unlocked_ioctl = bs_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.mmap = bs_mmap,
	.get_unmapped_area = thp_get_unmapped_area,
	.poll = bs_poll,
};

static struct miscdevice misc = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "bar_swap",
	.fops = &fops,
	.mode = 0600,
};

int bs_chardev_register(struct bs_slot *slot)
{
	the_slot = slot;
	return misc_register(&misc);
}

void bs_chardev_unregister(void)
{
	misc_deregister(&misc);
}
