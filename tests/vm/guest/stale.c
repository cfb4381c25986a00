// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * stale - a mapping of a die that is out never shows another die's memory
 *
 * Also after fork, through a descriptor passed over a socket, at high
 * offsets (compared with PRAMIN), and while another process swaps. With the
 * argument "resmem" only a mapping of the carve-out.
 */
#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libbs.h"
#include "libpci.h"

#define PAGE        4096ul
#define HIGH        ((1ull << 30) + PAGE)
#define MINE        0x0d1e0000aaaa0000ull
#define OTHERS      0x0d1e3333bbbb3333ull
#define PRAMIN_BASE 0x1700
#define PRAMIN      0x700000
#define RACE_MS     3000
#define RACE_MAX_MS 20000

static int fd;

static void acquire(unsigned int die)
{
	int ret = bs_acquire(fd, die, 0);

	if (ret)
		errx(2, "acquire of die %u: %s", die, strerror(-ret));
}

static volatile uint64_t *map(unsigned int die, uint64_t off)
{
	volatile uint64_t *p = bs_map(fd, die, off, PAGE);

	if (!p)
		err(2, "mmap of die %u at %" PRIx64, die, off);
	return p;
}

/* what a touch gave: 0 SIGBUS, 1 the word wanted, 2 another word */
static int touch(const volatile uint64_t *p, uint64_t want)
{
	uint64_t got;

	if (!touch_get(p, &got))
		return 0;
	return got == want ? 1 : 2;
}

/* run fn in a child; its return value is the child's status */
static int in_child(int (*fn)(const volatile uint64_t *),
		    const volatile uint64_t *p)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(fn(p));
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static int child_touch(const volatile uint64_t *p)
{
	return touch(p, MINE);
}

static void mapping_follows_the_die(uint64_t off)
{
	volatile uint64_t *p = map(0, off);
	uint64_t got;

	say(!touch_get(p, &got), "nothing is there while the slot is vacant");
	acquire(0);
	say(touch_put(p, MINE), "die 0 is there once acquired");
	acquire(3);
	say_is(touch(p, MINE), 0, "die 0's mapping is SIGBUS with die 3 in");
	say(!touch_put(p, 1), "writing to it is SIGBUS too");
	say_is(in_child(child_touch, p), 0, "SIGBUS in a forked child too");
	*map(3, off) = OTHERS;
	acquire(0);
	say_is(touch(p, MINE), 1, "die 0's mapping works again, data kept");
	say_is(in_child(child_touch, p), 1, "a forked child sees it too");
	acquire(3);
	say_is(*map(3, off) == OTHERS, 1, "the stale write hit no other die");
	bs_release(fd, 3);
	say_is(touch(p, MINE), 0, "SIGBUS after a release");
}

/* The child forked while the die was in; the swap must reach its tables. */
static void swap_reaches_a_running_child(void)
{
	volatile uint64_t *p = map(0, 0);
	int go[2], done[2], status;
	char c = 0;
	pid_t pid;

	acquire(0);
	touch_put(p, MINE);
	if (pipe(go) || pipe(done))
		err(2, "pipe");
	pid = fork();
	if (!pid) {
		int before = touch(p, MINE);

		if (write(done[1], &c, 1) != 1 || read(go[0], &c, 1) != 1)
			_exit(9);
		_exit(before == 1 ? touch(p, MINE) : 8);
	}
	if (read(done[0], &c, 1) != 1)
		err(2, "pipe");
	acquire(3);
	if (write(go[1], &c, 1) != 1)
		err(2, "pipe");
	waitpid(pid, &status, 0);
	say_is(WEXITSTATUS(status), 0,
	       "a child that had touched it gets SIGBUS after the swap");
}

static void pass_fd(int sock, int pass)
{
	char c = 0;
	struct iovec iov = { &c, 1 };
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = control.buf,
			      .msg_controllen = sizeof(control.buf) };
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);

	cmsg->cmsg_level = SOL_SOCKET;
	cmsg->cmsg_type = SCM_RIGHTS;
	cmsg->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(cmsg), &pass, sizeof(int));
	if (sendmsg(sock, &msg, 0) != 1)
		err(2, "sendmsg");
}

static int take_fd(int sock)
{
	char c, buf[CMSG_SPACE(sizeof(int))];
	struct iovec iov = { &c, 1 };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = buf,
			      .msg_controllen = sizeof(buf) };
	int got;

	if (recvmsg(sock, &msg, 0) != 1 || !CMSG_FIRSTHDR(&msg))
		_exit(9);
	memcpy(&got, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(int));
	return got;
}

static void passed_descriptor_behaves_the_same(void)
{
	int pair[2], status;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		err(2, "socketpair");
	pid = fork();
	if (!pid) {
		char c = 0;
		volatile uint64_t *p;
		int in, out;

		close(fd);
		fd = take_fd(pair[1]);
		p = map(0, 0);
		in = touch(p, MINE);
		if (write(pair[1], &c, 1) != 1 || read(pair[1], &c, 1) != 1)
			_exit(9);
		out = touch(p, MINE);
		_exit(in * 10 + out);
	}
	acquire(0);
	touch_put(map(0, 0), MINE);
	pass_fd(pair[0], fd);
	char c;

	if (read(pair[0], &c, 1) != 1)
		err(2, "read");
	acquire(3);
	if (write(pair[0], &c, 1) != 1)
		err(2, "write");
	waitpid(pid, &status, 0);
	say_is(WEXITSTATUS(status), 10,
	       "over a passed descriptor: there while in, SIGBUS when out");
}

static void private_mapping_is_refused(void)
{
	void *p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);

	say(p == MAP_FAILED && errno == EINVAL, "MAP_PRIVATE is EINVAL");
	p = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, fd, 0);
	say(p == MAP_FAILED && errno == EINVAL, "read-only too");
}

static void bounds_are_kept(void)
{
	struct bs_die_info info;

	bs_info(fd, 0, &info);
	say_is(info.vram_bytes, 12ll << 30, "a die has 12 GiB");
	say(!bs_map(fd, 0, info.vram_bytes, PAGE),
	    "nothing can be mapped behind the memory");
	say(!bs_map(fd, 0, info.vram_bytes - PAGE, 2 * PAGE),
	    "nor across its end");
	say(bs_map(fd, 0, info.vram_bytes - PAGE, PAGE), "its last page can");
	say(!bs_map(fd, 6, 0, PAGE), "there is no die 6 to map");
	say(!bs_map(fd, 1u << 20, 0, PAGE), "nor one of a wild number");
}

static void high_offsets_are_the_right_ones(void)
{
	static const uint64_t offs[] = { HIGH, (4ull << 30) + 8 * PAGE,
					 (8ull << 30) + PAGE,
					 (12ull << 30) - PAGE };
	struct bs_die_info info;
	volatile uint32_t *regs;
	size_t i;

	acquire(0);
	bs_info(fd, 0, &info);
	regs = phys_map(info.bar0_addr, 16 << 20);
	for (i = 0; i < sizeof(offs) / sizeof(*offs); i++) {
		uint64_t val = MINE + i, at = offs[i] & 0xfffff, got;

		touch_put(map(0, offs[i]), val);
		regs[PRAMIN_BASE / 4] = (offs[i] - at) >> 16;
		got = regs[(PRAMIN + at) / 4] |
		      (uint64_t)regs[(PRAMIN + at) / 4 + 1] << 32;
		say(got == val, "PRAMIN shows what was written at %" PRIx64,
		    offs[i]);
	}
}

/* One process swaps for ever, one touches: right data or SIGBUS, no third. */
static void race_of_faults_and_swaps(void)
{
	volatile uint64_t *p = map(0, 0), *q = map(3, 0);
	int64_t start = now_us(), t = 0;
	unsigned long seen = 0, bus = 0, wrong = 0;
	pid_t pid;

	acquire(3);
	touch_put(q, OTHERS);
	acquire(0);
	touch_put(p, MINE);
	pid = fork();
	if (!pid) {
		unsigned int k;

		for (k = 0;; k++) {
			acquire(k % 2 ? 0 : 3);
			sleep_ms(k % 5);
		}
	}
	/* on a slow machine it takes longer to see both outcomes */
	while (t < RACE_MS || (!(seen && bus) && t < RACE_MAX_MS)) {
		int a = touch(p, MINE), b = touch(q, OTHERS);

		seen += (a == 1) + (b == 1);
		bus += !a + !b;
		wrong += (a == 2) + (b == 2);
		t = (now_us() - start) / 1000;
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	printf("# %lu touches there, %lu SIGBUS\n", seen, bus);
	say_is(wrong, 0, "no touch ever showed the other die");
	say(seen && bus, "both outcomes were seen");
}

int main(int argc, char **argv)
{
	struct bs_die_info info;

	fd = bs_open();
	if (argc > 1 && !strcmp(argv[1], "resmem")) {
		bs_info(fd, 0, &info);
		mapping_follows_the_die(info.vram_bytes);
		return say_status();
	}
	mapping_follows_the_die(0);
	swap_reaches_a_running_child();
	passed_descriptor_behaves_the_same();
	private_mapping_is_refused();
	bounds_are_kept();
	high_offsets_are_the_right_ones();
	race_of_faults_and_swaps();
	return say_status();
}
