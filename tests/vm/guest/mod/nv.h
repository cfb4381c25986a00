/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A stand-in for the vendor's driver that tells: whenever it reads a register
 * of its die, it looks who answers. If that is another die, or nobody, then
 * somebody has swapped the die out while the driver needed it: on a real card
 * the machine may hang there.
 *
 * Module "nvidia", in /proc/driver/nvidia: version, gpus/BDF/information as
 * the vendor's, and touches, which counts. Parameters: reader, irq, nodes.
 */
#ifndef RIG_NV_H
#define RIG_NV_H

#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/workqueue.h>

struct proc_dir_entry;

/* Why a register is read. The last two are told apart from the others. */
enum nv_why {
	NV_PROBE,
	NV_OPEN,
	NV_CALL,
	NV_CLOSE,
	NV_REMOVE,
	NV_UVM,
	NV_READER,
	NV_IRQ,
	NV_N_WHYS
};

/**
 * struct nv_gpu - a die that the driver is bound to
 * @minor:   of /dev/nvidiaN
 * @die:     its own number, from configuration space
 * @lock:    guards all below
 * @users:   open files and memory maps
 * @is_lost: it was not there when it was needed: nothing works until it is
 *           bound anew
 * @reader:  what the vendor's driver does once a second while it is open
 */
struct nv_gpu {
	struct pci_dev *pdev;
	unsigned int minor;
	u32 die;
	void __iomem *regs;
	struct proc_dir_entry *proc;
	struct mutex lock;
	unsigned int users;
	bool is_leaving;
	bool is_lost;
	struct delayed_work reader;
};

/**
 * nv_touch() - read a register of the die
 * Return: 0; -EIO it was not there, which is told and counted.
 */
int nv_touch(struct nv_gpu *gpu, enum nv_why why);

/** nv_touch_or_lose() - the same; a die that was not there is lost */
int nv_touch_or_lose(struct nv_gpu *gpu, enum nv_why why);

/** nv_count_training(), nv_count_open() - for /proc/driver/nvidia/touches */
void nv_count_training(void);
void nv_count_open(void);

/** nv_touch_init() - make /proc/driver/nvidia; nv_touch_exit() removes it */
int nv_touch_init(void);
void nv_touch_exit(void);

/** nv_proc_add() - what is to be known of a die; nv_proc_del() the end of it */
void nv_proc_add(struct nv_gpu *gpu);
void nv_proc_del(struct nv_gpu *gpu);

/**
 * nv_get() - one more user of a die; the first sets it up and trains its memory
 * Return: the die; ERR_PTR: -ENODEV there is none of this number, -EIO.
 */
struct nv_gpu *nv_get(unsigned int minor);

/** nv_put() - the last user's end tears down what the first has set up */
void nv_put(struct nv_gpu *gpu);

/** nv_add() - a die that was bound; nv_del() waits until nobody uses it */
int nv_add(struct nv_gpu *gpu);
void nv_del(struct nv_gpu *gpu);

/** nv_file_init() - the nodes' major; nv_node_add() a node */
int nv_file_init(void);
void nv_file_exit(void);
void nv_node_add(unsigned int minor);
void nv_node_del(unsigned int minor);

#endif /* RIG_NV_H */
