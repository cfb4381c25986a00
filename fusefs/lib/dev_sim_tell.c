// SPDX-License-Identifier: GPL-2.0-or-later
/* What is told of simulated dies. */
#include "lib/dev_sim_tell.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* The slot and the dies of SPEC.md, sections 1 and 3. */
#define BAR0_ADDR     0xF3000000ULL
#define BAR0_SIZE     (16 * MIB)
#define BAR1_ADDR     0xC00000000ULL
#define BAR3_ADDR     0xF4000000ULL
#define BAR3_SIZE     (32 * MIB)
#define PCI_VENDOR    0x10de
#define PCI_DEVICE    0x102d
#define PCI_SUBVENDOR 0x10de
#define PCI_SUBDEVICE 0x106c

#define TIME_LEN 20 /* "2026-11-29 14:00:00" and its NUL */

void sim_event_open(struct sim *s)
{
	int fd[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fd))
		return;
	if (send(fd[1], "", 1, MSG_OOB) == 1 &&
	    recv(fd[0], &(char){ 0 }, 1, MSG_OOB) == 1) {
		s->poll_fd = fd[0];
		s->event_fd = fd[1];
		return;
	}
	close(fd[0]);
	close(fd[1]);
}

void sim_event_close(struct sim *s)
{
	if (s->poll_fd < 0)
		return;
	close(s->poll_fd);
	close(s->event_fd);
}

void sim_event_locked(struct sim *s)
{
	if (s->poll_fd < 0 || s->is_event_told)
		return;
	s->is_event_told = send(s->event_fd, "", 1, MSG_OOB) == 1;
}

void sim_event_rearm_locked(struct sim *s)
{
	char byte;

	if (s->is_event_told)
		recv(s->poll_fd, &byte, 1, MSG_OOB);
	s->is_event_told = false;
}

void sim_error_locked(struct sim *s, struct sim_die *die, const char *format, ...)
{
	int saved_errno = errno; /* for %m */
	time_t now = time(NULL);
	char when[TIME_LEN] = "";
	struct tm tm;
	va_list args;
	int len;

	if (localtime_r(&now, &tm))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &tm);
	len = snprintf(die->last_error, sizeof(die->last_error),
		       "%s die %d %s: ", when, die->id, die->bdf);
	errno = saved_errno;
	va_start(args, format);
	vsnprintf(die->last_error + len, sizeof(die->last_error) - (size_t)len,
		  format, args);
	va_end(args);
	sim_event_locked(s);
}

void sim_alive_locked(struct sim *s, struct sim_die *die, bool is_alive)
{
	if (die->is_alive == is_alive)
		return;
	die->is_alive = is_alive;
	die->generation += is_alive;
	sim_event_locked(s);
}

void sim_tell_bar1(const struct sim *s, struct bs_dev_bar1 *bar1)
{
	bar1->addr = BAR1_ADDR;
	/* one BAR over all of it, as the die has */
	bar1->size = bs_pow2_ceil(s->vram_bytes);
}

int sim_state_locked(struct sim *s, const struct sim_die *die)
{
	if (die->is_unusable)
		return BS_STATE_UNUSABLE;
	if (!die->is_alive)
		return BS_STATE_DEAD;
	if (s->active != die->id)
		return BS_STATE_IDLE;
	return die->has_vram ? BS_STATE_ACTIVE : BS_STATE_NO_VRAM;
}

/* As the module, which leaves BAR1 to a driver that is bound. */
static int cache_locked(const struct sim *s, const struct sim_die *die)
{
	if (s->active != die->id)
		return BS_CACHE_NONE;
	return *die->driver ? BS_CACHE_UC : BS_CACHE_WC;
}

void sim_tell_info(struct sim *s, const struct sim_die *die, struct bs_info *info)
{
	memcpy(info->bdf, die->bdf, sizeof(info->bdf));
	info->vendor = PCI_VENDOR;
	info->device = PCI_DEVICE;
	info->subvendor = PCI_SUBVENDOR;
	info->subdevice = PCI_SUBDEVICE;
	info->bar0_addr = BAR0_ADDR;
	info->bar0_size = BAR0_SIZE;
	info->bar1_addr = BAR1_ADDR;
	/* one BAR over all of it, as the die has */
	info->bar1_size = bs_pow2_ceil(s->vram_bytes);
	info->bar3_addr = BAR3_ADDR;
	info->bar3_size = BAR3_SIZE;
	info->vram_bytes = s->region.usemem_len;
	info->resmem_bytes = s->region.resmem_len;

	sim_take(s);
	info->state = sim_state_locked(s, die);
	info->bar1_mode = die->bar1_mode;
	info->alive = die->is_alive;
	if (s->lease_pid && s->lease_die == die->id) {
		info->leased = 1;
		info->leased_here = s->leased_here;
		info->holder_pid = s->lease_pid;
		memcpy(info->holder_comm, s->lease_comm,
		       sizeof(info->holder_comm));
	}
	info->waiters = s->waiters;
	memcpy(info->driver, die->driver, sizeof(info->driver));
	info->generation = die->generation;
	info->resets = die->resets;
	info->acquires = die->acquires;
	info->swaps_in = die->swaps_in;
	info->swaps_out = die->swaps_out;
	info->last_swap_ns = die->last_swap_ns;
	memcpy(info->last_error, die->last_error, sizeof(info->last_error));
	info->bar1_cache = cache_locked(s, die);
	sim_drop(s);
}
