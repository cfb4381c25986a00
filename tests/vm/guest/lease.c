// SPDX-License-Identifier: GPL-2.0-or-later
/* lease - a die is kept in by an open file, and by nothing longer than it */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libbs.h"

#define SOON_MS 100

static int fd; /* the bystander that looks and tries */

static void must(int ret, const char *what)
{
	if (ret)
		errx(2, "%s: %s", what, strerror(-ret));
}

static int leased(unsigned int die)
{
	struct bs_die_info info;

	must(bs_info(fd, die, &info), "info");
	return !!(info.flags & BS_DIE_F_LEASED);
}

static int try_other(void)
{
	return bs_acquire(fd, 3, BS_ACQUIRE_NOWAIT);
}

/* a child that leases die 0 and sleeps; returns once it has it */
static pid_t holder(void)
{
	int ready[2];
	pid_t pid;
	char c = 0;

	if (pipe(ready))
		err(2, "pipe");
	pid = fork();
	if (!pid) {
		must(bs_acquire(bs_open(), 0, BS_ACQUIRE_LEASE), "lease");
		if (write(ready[1], &c, 1) != 1)
			_exit(9);
		for (;;)
			pause();
	}
	if (read(ready[0], &c, 1) != 1)
		err(2, "holder");
	close(ready[0]);
	close(ready[1]);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void lease_keeps_others_out(void)
{
	pid_t pid = holder();
	struct bs_die_info info;
	int nonblock;

	say_is(try_other(), -EBUSY, "nowait: EBUSY while another leases");
	say_is(bs_active(fd), 0, "and nothing has changed");
	nonblock = open("/dev/bar_swap", O_RDWR | O_NONBLOCK);
	say_is(bs_acquire(nonblock, 3, 0), -EBUSY, "O_NONBLOCK: EBUSY too");
	close(nonblock);
	say_is(bs_release(fd, 0), -EBUSY, "another may not release it");
	say_is(bs_acquire(fd, 0, BS_ACQUIRE_FORCE_SBR | BS_ACQUIRE_NOWAIT),
	       -EBUSY, "nor reset it");
	say_is(bs_release(fd, 3), 0, "release of a die that is out is ok");
	must(bs_info(fd, 0, &info), "info");
	say_is(info.holder_pid, pid, "info names the holder");
	say(!strcmp(info.holder_comm, "lease"), "by its name too");
	say(!(info.flags & BS_DIE_F_LEASED_HERE), "which is not this file");
	end(pid);
}

static void lease_dies_with_its_process(void)
{
	pid_t pid = holder();

	say_is(leased(0), 1, "leased by a process");
	end(pid);
	say_is(leased(0), 0, "kill -9 ends its lease");
	say_is(bs_active(fd), 0, "the die stays in the slot");
	say_is(try_other(), 0, "another die can come in at once");
}

static void no_op(int sig)
{
	(void)sig;
}

static void blocked_acquire_is_interruptible(void)
{
	struct sigaction sa = { .sa_handler = no_op };
	pid_t pid = holder(), waiter;
	int64_t start;
	int status;

	waiter = fork();
	if (!waiter) {
		sigaction(SIGALRM, &sa, NULL);
		alarm(1);
		start = now_us();
		status = bs_acquire(fd, 3, 0);
		if (now_us() - start < 900000)
			_exit(1);
		_exit(status == -EINTR ? 0 : 2);
	}
	waitpid(waiter, &status, 0);
	say_is(status, 0, "a waiting acquire ends with EINTR on a signal");
	say_is(leased(0), 1, "the lease it waited for is untouched");

	waiter = fork();
	if (!waiter)
		_exit(bs_acquire(fd, 3, 0) ? 2 : 0);
	sleep_ms(SOON_MS);
	start = now_us();
	kill(waiter, SIGKILL);
	waitpid(waiter, &status, 0);
	say(now_us() - start < 1000000, "kill -9 of a waiter works");
	end(pid);
}

static void waiter_gets_its_turn(void)
{
	pid_t pid = holder(), waiter;
	struct bs_die_info info;
	int status;

	waiter = fork();
	if (!waiter)
		_exit(bs_acquire(fd, 3, 0) ? 2 : 0);
	do {
		sleep_ms(10);
		must(bs_info(fd, 0, &info), "info");
	} while (!info.waiters && !waitpid(waiter, &status, WNOHANG));
	say_is(info.waiters, 1, "info counts the waiter");
	end(pid);
	waitpid(waiter, &status, 0);
	say_is(status, 0, "a waiter gets the slot when the lease ends");
	say_is(bs_active(fd), 3, "with its die in");
}

static void first_come_is_first_served(void)
{
	pid_t pid = holder(), waiter[3];
	int order[2], i, status;
	char got[4] = "";
	struct bs_die_info info;

	if (pipe(order))
		err(2, "pipe");
	for (i = 0; i < 3; i++) {
		waiter[i] = fork();
		if (!waiter[i]) {
			char c = 'a' + i;

			must(bs_acquire(bs_open(), i + 1, BS_ACQUIRE_LEASE),
			     "wait");
			if (write(order[1], &c, 1) != 1)
				_exit(9);
			_exit(0);
		}
		do {
			sleep_ms(10);
			must(bs_info(fd, 0, &info), "info");
		} while (info.waiters < (unsigned int)i + 1);
	}
	end(pid);
	for (i = 0; i < 3; i++)
		waitpid(waiter[i], &status, 0);
	if (read(order[0], got, 3) != 3)
		err(2, "order");
	say(!strcmp(got, "abc"), "first come is first served (%s)", got);
}

static void lease_outlives_dup_and_fork(void)
{
	int a = bs_open(), b = dup(a), status;
	pid_t pid;
	int go[2];
	char c = 0;

	must(bs_acquire(a, 0, BS_ACQUIRE_LEASE), "lease");
	close(a);
	say_is(leased(0), 1, "a duplicate keeps the lease");
	if (pipe(go))
		err(2, "pipe");
	pid = fork();
	if (!pid) {
		close(go[1]);
		_exit(read(go[0], &c, 1) == 1 ? 0 : 9);
	}
	close(b);
	say_is(leased(0), 1, "a child that inherited it keeps it");
	if (write(go[1], &c, 1) != 1)
		err(2, "pipe");
	waitpid(pid, &status, 0);
	say_is(leased(0), 0, "the last close ends it");
}

static void unlease_gives_up(void)
{
	int a = bs_open();

	must(bs_acquire(a, 0, BS_ACQUIRE_LEASE), "lease");
	say_is(bs_acquire(a, 3, 0), 0, "the holder itself may swap");
	must(bs_acquire(a, 0, BS_ACQUIRE_LEASE), "lease");
	say_is(bs_unlease(a, 0), 0, "unlease");
	say_is(leased(0), 0, "ends the lease");
	say_is(bs_active(fd), 0, "and leaves the die in");
	say_is(bs_unlease(a, 0), 0, "a second unlease is ok");
	must(bs_acquire(a, 0, BS_ACQUIRE_LEASE), "lease");
	say_is(bs_release(a, 0), 0, "the holder may release");
	say_is(leased(0), 0, "which ends the lease");
	say_is(bs_active(fd), BS_NO_DIE, "and vacates the slot");
	close(a);
}

static void write_1(const char *path)
{
	int at = open(path, O_WRONLY);

	if (at < 0 || write(at, "1", 1) != 1)
		err(2, "%s", path);
	close(at);
}

/* The slot reads as vacant during a reset; the lease goes on. */
static void removal_elsewhere_ends_no_lease(void)
{
	int a = bs_open(), status;
	struct bs_die_info info;
	uint64_t resets;
	pid_t pid;

	must(bs_acquire(a, 0, BS_ACQUIRE_LEASE), "lease");
	must(bs_info(fd, 0, &info), "info");
	resets = info.resets;
	pid = fork();
	if (!pid)
		_exit(bs_acquire(a, 0, BS_ACQUIRE_FORCE_SBR) ? 2 : 0);
	while (bs_active(fd) == 0)
		sleep_ms(10);
	write_1("/sys/bus/pci/devices/0000:0c:00.0/remove");
	must(bs_info(fd, 0, &info), "info");
	say_is(info.resets, resets, "a die is removed during another's reset");
	waitpid(pid, &status, 0);
	say_is(status, 0, "the reset goes well");
	say_is(leased(0), 1, "the lease of the die that was reset goes on");
	write_1("/sys/bus/pci/rescan");
	close(a);
}

int main(void)
{
	fd = bs_open();
	lease_keeps_others_out();
	lease_dies_with_its_process();
	blocked_acquire_is_interruptible();
	waiter_gets_its_turn();
	first_come_is_first_served();
	lease_outlives_dup_and_fork();
	unlease_gives_up();
	removal_elsewhere_ends_no_lease();
	return say_status();
}
