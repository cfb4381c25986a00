// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * touch - how a die's memory is mapped: cache mode and number of faults
 *
 * Needs the test module rigpte.
 */
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "libbs.h"

#define RIGPTE     "/sys/kernel/debug/rigpte"
#define GIB        (1ul << 30)
#define PAGE       4096ul
#define FAULTS_MAX 600

/* "pte WC" and the like, of one address of ours */
static void page_table_entry(volatile void *p, char answer[64])
{
	char ask[64];
	int fd = open(RIGPTE, O_RDWR);
	ssize_t n;

	snprintf(ask, sizeof(ask), "%d %lx", getpid(), (unsigned long)p);
	if (fd < 0 || write(fd, ask, strlen(ask)) < 0)
		err(2, RIGPTE);
	n = pread(fd, answer, 63, 0);
	if (n < 0)
		err(2, RIGPTE);
	answer[n] = '\0';
	answer[strcspn(answer, "\n")] = '\0';
	close(fd);
}

static long faults(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return u.ru_minflt + u.ru_majflt;
}

static void cache_mode(int fd)
{
	volatile uint64_t *p = bs_map(fd, 0, 3 * PAGE, PAGE);
	char answer[64];

	if (!p || !touch_put(p, 1))
		err(2, "touch");
	page_table_entry(p, answer);
	say(strstr(answer, " WC"), "a page is mapped write-combining (%s)",
	    answer);
	bs_acquire(fd, 1, 0);
	page_table_entry(p, answer);
	say(!strcmp(answer, "none"), "a swap leaves no entry behind (%s)",
	    answer);
	bs_acquire(fd, 0, 0);
}

static void fault_count(int fd, uint64_t off, const char *what)
{
	volatile uint8_t *p = bs_map(fd, 0, off, GIB);
	char answer[64];
	int64_t start = now_us();
	long before, n;
	size_t i;

	if (!p)
		err(2, "mmap");
	before = faults();
	for (i = 0; i < GIB; i += PAGE)
		(void)p[i];
	n = faults() - before;
	page_table_entry(p + GIB / 2, answer);
	printf("# %s: %ld faults, %.2f s, %s\n", what, n,
	       (double)(now_us() - start) / 1e6, answer);
	say(n <= FAULTS_MAX, "1 GiB at %s costs at most %d faults", what,
	    FAULTS_MAX);
	say(n > 0, "and it was the fault handler that brought them");
	say(strstr(answer, " WC"), "all of it write-combining");
	munmap((void *)p, GIB);
}

int main(void)
{
	int fd = bs_open();

	if (bs_acquire(fd, 0, 0))
		errx(2, "acquire");
	cache_mode(fd);
	fault_count(fd, 0, "0");
	fault_count(fd, 9 * GIB, "9 GiB");
	return say_status();
}
