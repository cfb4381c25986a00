// SPDX-License-Identifier: GPL-2.0-or-later
/* A die as a vfio-user device: faults, configuration space, registers. */
#include "die.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/pci_regs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "log.h"

#define COLD_BYTES (1u << 20) /* of each end that shows the word in BAR1 */

static int64_t clock_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void memory_drop(struct die *die)
{
	/* a hole reads as zeroes, in the client's mapping too */
	if (fallocate(die->vram_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
		      0, DIE_BAR1_BYTES))
		log_line("%s: VRAM not cleared: %s", die->name, strerror(errno));
}

static void memory_spoil(struct die *die, uint64_t off)
{
	static uint32_t block[COLD_BYTES / sizeof(uint32_t)];
	size_t i;

	for (i = 0; i < sizeof(block) / sizeof(*block); i++)
		block[i] = GK_COLD_WORD;
	if (pwrite(die->vram_fd, block, sizeof(block), off) != sizeof(block))
		log_line("%s: VRAM not spoilt: %s", die->name, strerror(errno));
}

void die_untrain(struct die *die)
{
	log_line("%s: memory untrained", die->name);
	die->is_untrained = true;
	die->train_step = 0;
	memory_drop(die);
	memory_spoil(die, 0);
	memory_spoil(die, DIE_VRAM_BYTES - COLD_BYTES);
}

void die_train(struct die *die)
{
	log_line("%s: memory trained", die->name);
	die->is_untrained = false;
	memory_drop(die);
}

bool die_gone(struct die *die)
{
	return die->faults.gone || clock_ms() < die->back_at_ms;
}

static void delay_us(unsigned int us)
{
	struct timespec t = { us / 1000000, us % 1000000 * 1000 };

	if (us)
		nanosleep(&t, NULL);
}

static int die_read(struct vfu_dev *dev, uint32_t region, uint64_t off,
		    void *buf, uint32_t n)
{
	struct die *die = (struct die *)dev;
	unsigned int slow_us;
	int ret = 0;

	pthread_mutex_lock(&die->lock);
	slow_us = die->faults.slow_us;
	if (region == 0)
		ret = regs_read(die, off, buf, n);
	else if (region != VFU_CONFIG)
		ret = EINVAL; /* BAR1 and BAR3 are mapped by the client */
	else if (die_gone(die))
		memset(buf, CONFIG_READS_AS_GONE, n);
	else
		memcpy(buf, die->cfg.val + off, n);
	pthread_mutex_unlock(&die->lock);
	delay_us(slow_us);
	return ret;
}

static bool is_ignored(const struct die *die, uint64_t off, uint32_t n)
{
	const struct faults *f = &die->faults;

	return f->ignore && off <= f->ignore_off && f->ignore_off < off + n;
}

static void die_config_write(struct die *die, uint64_t off, const void *buf,
			     uint32_t n)
{
	bool gone = die_gone(die), ignored = is_ignored(die, off, n);
	uint32_t val = 0;

	memcpy(&val, buf, n < sizeof(val) ? n : sizeof(val));
	die->config_writes++;
	log_line("%s: cfg[%03llx]/%u <- %x%s", die->name,
		 (unsigned long long)off, n, val,
		 gone      ? " gone"
		 : ignored ? " ignored"
			   : "");
	if (!gone && !ignored)
		config_write(&die->cfg, off, buf, n);
}

static int die_write(struct vfu_dev *dev, uint32_t region, uint64_t off,
		     const void *buf, uint32_t n)
{
	struct die *die = (struct die *)dev;
	int ret = 0;

	pthread_mutex_lock(&die->lock);
	if (region == 0)
		ret = regs_write(die, off, buf, n);
	else if (region == VFU_CONFIG)
		die_config_write(die, off, buf, n);
	else
		ret = EINVAL;
	pthread_mutex_unlock(&die->lock);
	return ret;
}

static void die_reset(struct vfu_dev *dev)
{
	struct die *die = (struct die *)dev;

	pthread_mutex_lock(&die->lock);
	die->resets++;
	log_line("%s: RESET #%llu", die->name, (unsigned long long)die->resets);
	config_power_on(&die->cfg, die->id);
	regs_power_on(die);
	if (die->faults.mute)
		die->faults.mute--;
	if (die->faults.stuck_reset)
		die->faults.gone = true;
	if (die->faults.late_ms)
		die->back_at_ms = clock_ms() + die->faults.late_ms;
	if (die->faults.cold)
		die_untrain(die);
	else if (die->faults.forget)
		memory_drop(die);
	pthread_mutex_unlock(&die->lock);
}

static const struct vfu_ops die_ops = {
	.read = die_read,
	.write = die_write,
	.reset = die_reset,
};

static int memory_open(const char *path, uint64_t bytes)
{
	int fd;

	if (path)
		fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	else
		fd = memfd_create("bar3", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, bytes))
		log_die("%s: %s", path ? path : "bar3", strerror(errno));
	return fd;
}

void die_open(struct die *die, unsigned int id, const char *vram)
{
	struct vfu_region *region = die->dev.region;

	snprintf(die->name, sizeof(die->name), "die%u", id);
	die->id = id;
	pthread_mutex_init(&die->lock, NULL);
	die->bar0 = mmap(NULL, DIE_BAR0_BYTES, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (die->bar0 == MAP_FAILED)
		log_die("%s: mmap: %s", die->name, strerror(errno));
	die->vram_fd = memory_open(vram, DIE_BAR1_BYTES);
	die->dev.name = die->name;
	die->dev.ops = &die_ops;
	die->dev.intx = 1;
	region[0] = (struct vfu_region){ DIE_BAR0_BYTES, -1 };
	region[1] = (struct vfu_region){ DIE_BAR1_BYTES, die->vram_fd };
	region[3] = (struct vfu_region){ DIE_BAR3_BYTES,
					 memory_open(NULL, DIE_BAR3_BYTES) };
	region[VFU_CONFIG] = (struct vfu_region){ DIE_CONFIG_BYTES, -1 };
	config_power_on(&die->cfg, die->id);
	regs_power_on(die);
}
