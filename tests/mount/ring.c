// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ring FILE read|write|close [MS]: a call that waits, while an
 * io_uring ring of this process has work to do: after 20 ms and each 20 ms
 * more, ten times. Prints what the call gave. MS: a SIGUSR1 after that time,
 * whose handler does nothing. Exit code 77: no io_uring here.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MIB     ((off_t)1 << 20)
#define N_KICKS 10

static int events[N_KICKS];
static pthread_t waiter;
static unsigned int signal_ms;

static void *kick(void *arg)
{
	unsigned int ms = 0;

	for (int i = 0; i < N_KICKS; i++) {
		usleep(20000);
		ms += 20;
		eventfd_write(events[i], 1);
		if (signal_ms && ms >= signal_ms) {
			pthread_kill(waiter, SIGUSR1);
			signal_ms = 0;
		}
	}
	return arg;
}

static void on_usr1(int number)
{
	(void)number;
}

/* A poll of each event, which the kernel ends in this thread. */
static void fill_ring(void)
{
	struct io_uring_params p = { 0 };
	int ring = (int)syscall(SYS_io_uring_setup, 16, &p);
	struct io_uring_sqe *sqes;
	unsigned int *array, *tail;
	char *sq;

	if (ring < 0)
		exit(77);
	sq = mmap(NULL, p.sq_off.array + p.sq_entries * sizeof(*array),
		  PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQ_RING);
	sqes = mmap(NULL, p.sq_entries * sizeof(*sqes), PROT_READ | PROT_WRITE,
		    MAP_SHARED, ring, IORING_OFF_SQES);
	if (sq == MAP_FAILED || sqes == MAP_FAILED)
		exit(77);
	array = (unsigned int *)(sq + p.sq_off.array);
	tail = (unsigned int *)(sq + p.sq_off.tail);
	for (unsigned int i = 0; i < N_KICKS; i++) {
		events[i] = eventfd(0, EFD_NONBLOCK);
		sqes[i].opcode = IORING_OP_POLL_ADD;
		sqes[i].fd = events[i];
		sqes[i].poll32_events = POLLIN;
		array[i] = i;
	}
	__atomic_store_n(tail, N_KICKS, __ATOMIC_RELEASE);
	if (syscall(SYS_io_uring_enter, ring, N_KICKS, 0, 0, NULL, 0) != N_KICKS)
		exit(77);
}

int main(int argc, char **argv)
{
	struct sigaction sa = { .sa_handler = on_usr1 };
	static char buf[1 << 20];
	pthread_t thread;
	ssize_t got;
	int fd;

	if (argc < 3)
		return 2;
	signal_ms = argc > 3 ? (unsigned int)atoi(argv[3]) : 0;
	sigaction(SIGUSR1, &sa, NULL);
	waiter = pthread_self();
	fill_ring();
	fd = open(argv[1], O_RDWR);
	if (fd < 0) {
		perror(argv[1]);
		return 1;
	}
	if (!strcmp(argv[2], "close") &&
	    (ftruncate(fd, 0) || pwrite(fd, buf, 1, 8 * MIB) != 1)) {
		perror("new image");
		return 1;
	}
	if (pthread_create(&thread, NULL, kick, NULL))
		return 1;
	if (!strcmp(argv[2], "read"))
		got = pread(fd, buf, 4096, 0);
	else if (!strcmp(argv[2], "write"))
		got = pwrite(fd, buf, sizeof(buf), 0);
	else
		got = close(fd);
	printf("%s\n", got < 0 ? strerror(errno) : "done");
	pthread_join(thread, NULL);
	return 0;
}
