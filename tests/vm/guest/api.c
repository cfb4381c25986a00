// SPDX-License-Identifier: GPL-2.0-or-later
/* api - the published contract: numbers, structs, errors, poll */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "libbs.h"

static int fd;

static int call(unsigned long nr, void *arg)
{
	return ioctl(fd, nr, arg) ? -errno : 0;
}

static void handshake(void)
{
	struct bs_version v;

	memset(&v, 0xff, sizeof(v));
	say_is(call(BAR_SWAP_VERSION, &v), 0, "VERSION");
	say_is(v.abi_major, BS_ABI_MAJOR, "its major number");
	say_is(v.abi_minor, BS_ABI_MINOR, "its minor number");
	say(memchr(v.release, 0, sizeof(v.release)) && v.release[0],
	    "its release is a string");
}

static void six_dies_and_an_empty_slot(void)
{
	struct bs_query_info q;
	unsigned int i, mapped = 0;

	memset(&q, 0xff, sizeof(q));
	say_is(bs_query(fd, &q), 0, "QUERY");
	say_is(q.n_dies, 6, "six dies");
	say_is(q.n_slots, 1, "one slot");
	say_is(q.active_die, BS_NO_DIE, "which starts empty");
	for (i = 0; i < BS_MAX_DIES; i++)
		mapped |= q.mapped[i];
	say_is(mapped, 0, "no die is mapped");
}

static void acquire_answers_addresses(void)
{
	struct bs_acquire_req r = { .die_id = 2 };
	struct bs_query_info q;

	say_is(call(BAR_SWAP_ACQUIRE, &r), 0, "ACQUIRE");
	say_is(r.bar0_addr, 0xf3000000, "BAR0's address");
	say_is(r.bar1_addr, 0xc00000000, "BAR1's address");
	say_is(r.bar1_size, 16ll << 30, "BAR1's size");
	say_is(r.bar3_addr, 0xf4000000, "BAR3's address");
	bs_query(fd, &q);
	say_is(q.active_die, 2, "QUERY names it");
	say_is(q.mapped[2], 1, "and marks it");
	say_is(q.mapped[1], 0, "and no other");
	r.die_id = 3;
	say_is(call(BAR_SWAP_ACQUIRE, &r), 0, "another is an implicit release");
	say_is(bs_active(fd), 3, "which leaves it alone in the slot");
	say_is(bs_release(fd, 2), 0, "releasing the one that is out is ok");
	say_is(bs_active(fd), 3, "and changes nothing");
	say_is(bs_release(fd, 3), 0, "RELEASE");
	say_is(bs_active(fd), BS_NO_DIE, "vacates the slot");
}

static void info_tells_of_a_die(void)
{
	struct bs_die_info i;
	struct bs_check c;
	uint64_t swaps;

	say_is(bs_info(fd, 4, &i), 0, "DIE_INFO");
	say(!strcmp(i.bdf, "0000:0b:00.0"), "dies are in address order (%s)",
	    i.bdf);
	say_is(i.vendor << 16 | i.device, 0x10de102d, "its ids");
	say_is(i.subvendor << 16 | i.subdevice, 0x10de106c, "its subsystem");
	say_is(i.state, BS_DIE_IDLE, "it is idle");
	say_is(i.vram_bytes, 12ll << 30, "its memory");
	say_is(i.resmem_bytes, 0, "no carve-out");
	say_is(i.bar1_addr, 0xc00000000, "where it would be");
	swaps = i.swaps_in;
	say_is(bs_acquire(fd, 4, 0), 0, "acquired");
	bs_info(fd, 4, &i);
	say_is(i.state, BS_DIE_ACTIVE, "it is active");
	say_is(i.bar1_mode, BS_BAR1_PHYSICAL, "BAR1 is physical");
	say_is(i.swaps_in, swaps + 1, "one more swap in");
	say(i.flags & BS_DIE_F_ALIVE, "alive");
	say(i.last_swap_ns > 0, "which took time");
	bs_acquire(fd, 4, 0);
	bs_info(fd, 4, &i);
	say_is(i.swaps_in, swaps + 1, "acquiring it again is no swap");
	say_is(bs_check(fd, 4, &c), 0, "CHECK");
	say_is(c.in_slot * 2 + c.alive, 3, "in the slot and alive");
	say_is(bs_check(fd, 1, &c), 0, "CHECK of another");
	say_is(c.in_slot * 2 + c.alive, 0, "neither");
	bs_release(fd, 4);
	bs_info(fd, 4, &i);
	say_is(i.swaps_out, i.swaps_in, "as often out as in");
}

static void an_older_caller_gets_what_it_knows(void)
{
	struct {
		struct bs_check c;
		uint64_t behind;
	} arg;

	memset(&arg, 0xaa, sizeof(arg));
	arg.c.die_id = 4;
	arg.c.flags = 0;
	say_is(call(BAR_SWAP_CHECK_MINOR0, &arg), 0, "CHECK of ABI minor 0");
	say_is(arg.c.in_slot, 0, "is answered");
	say_is(arg.c.driver, 0xaaaaaaaa, "and writes nothing behind its struct");
	say_is(bs_check(fd, 4, &arg.c), 0, "CHECK of today");
	say_is(arg.c.driver, 0, "tells of drivers");
	say_is(arg.c.bar1_mode, BS_BAR1_PHYSICAL, "and of BAR1's mode");
	say_is(arg.c.reserved[0] | arg.c.reserved[1], 0, "the rest is 0");
}

static void bad_calls_are_refused(void)
{
	struct bs_acquire_req a = { .die_id = 0, .flags = 1u << 31 };
	struct bs_release_req r = { .die_id = 0, .flags = 2 };
	struct bs_release_req u = { .die_id = 0, .flags = BS_RELEASE_FORCE };
	struct bs_check c = { .flags = 1 };
	struct bs_die_info i;

	say_is(call(BAR_SWAP_ACQUIRE, &a), -EINVAL, "unknown flag");
	say_is(call(BAR_SWAP_RELEASE, &r), -EINVAL, "flags of RELEASE");
	say_is(call(BAR_SWAP_UNLEASE, &u), -EINVAL, "flags of UNLEASE");
	say_is(call(BAR_SWAP_CHECK, &c), -EINVAL, "flags of CHECK");
	say_is(bs_acquire(fd, 6, 0), -ENODEV, "no die 6");
	say_is(bs_acquire(fd, ~0u, 0), -ENODEV, "no die -1");
	say_is(bs_release(fd, 6), -ENODEV, "RELEASE of no die");
	say_is(bs_info(fd, 99, &i), -ENODEV, "DIE_INFO of no die");
	say_is(bs_check(fd, 99, &c), -ENODEV, "CHECK of no die");
	say_is(call(_IO(BAR_SWAP_IOC_TYPE, 99), NULL), -ENOTTY, "unknown number");
	say_is(call(_IOR(BAR_SWAP_IOC_TYPE, 1, uint64_t), &i), -EINVAL,
	       "right number, wrong size");
	say_is(call(BAR_SWAP_QUERY, NULL), -EFAULT, "NULL");
	say_is(call(BAR_SWAP_ACQUIRE, (void *)8), -EFAULT, "wild pointer");
	say_is(bs_active(fd), BS_NO_DIE, "none of which did anything");
	say_is(read(fd, &i, 8), -1, "there is nothing to read");
}

static bool pri(int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLPRI | POLLIN };

	return poll(&p, 1, ms) == 1 && p.revents == POLLPRI;
}

static void poll_tells_of_changes(void)
{
	struct bs_query_info q;
	int other = bs_open();

	bs_query(fd, &q);
	say(!pri(0), "poll is silent after a QUERY");
	bs_acquire(other, 1, 0);
	say(pri(1000), "a swap by another file is POLLPRI");
	say(pri(0), "until the next QUERY");
	bs_query(fd, &q);
	say(!pri(0), "which re-arms it");
	bs_acquire(other, 1, BS_ACQUIRE_LEASE);
	say(pri(1000), "a lease is POLLPRI");
	bs_query(fd, &q);
	close(other);
	say(pri(1000), "its end is POLLPRI");
	bs_query(fd, &q);
	bs_release(fd, 1);
	say(pri(1000), "a release is POLLPRI");
}

int main(void)
{
	fd = bs_open();
	handshake();
	six_dies_and_an_empty_slot();
	acquire_answers_addresses();
	info_tells_of_a_die();
	an_older_caller_gets_what_it_knows();
	bad_calls_are_refused();
	poll_tells_of_changes();
	return say_status();
}
