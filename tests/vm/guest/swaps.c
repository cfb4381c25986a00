// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * swaps SWAPS PROCESSES SEED - many processes swap dies and never mix data
 *
 * Each process owns some pages of every die, spread over its memory. A turn
 * leases a random die, compares some of its own pages word by word, rewrites
 * one of them, and lets go. At the end every page of every die is compared.
 */
#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libbs.h"

#define DIES       6
#define PAGES      16 /* of a process on one die */
#define PROCS_MAX  16
#define PAGE       4096
#define WORDS      (PAGE / 8)
#define LOOK_PAGES 3

/* what every process has written, shared so that the parent can compare */
static struct {
	uint32_t version[PROCS_MAX][DIES][PAGES];
	uint64_t swaps[PROCS_MAX];
	uint64_t wrong;
} * shared;

static uint64_t vram_bytes;

/* pages of all processes spread over the memory, the last one at its end */
static uint64_t page_off(unsigned int proc, unsigned int page)
{
	uint64_t slots = PROCS_MAX * PAGES - 1;
	uint64_t step = (vram_bytes - PAGE) / slots / PAGE * PAGE;
	uint64_t k = (uint64_t)page * PROCS_MAX + proc;

	return k == slots ? vram_bytes - PAGE : k * step;
}

static uint64_t word(unsigned int proc, unsigned int die, unsigned int page,
		     unsigned int i)
{
	uint32_t v = shared->version[proc][die][page];

	return (uint64_t)die << 56 | (uint64_t)proc << 48 |
	       (uint64_t)page << 40 | (uint64_t)v << 16 | i;
}

static void page_write(volatile uint8_t *vram, unsigned int proc,
		       unsigned int die, unsigned int page)
{
	volatile uint64_t *p = (void *)(vram + page_off(proc, page));
	unsigned int i;

	for (i = 0; i < WORDS; i++)
		p[i] = word(proc, die, page, i);
}

static void page_compare(volatile uint8_t *vram, unsigned int proc,
			 unsigned int die, unsigned int page)
{
	volatile uint64_t *p = (void *)(vram + page_off(proc, page));
	unsigned int i;

	for (i = 0; i < WORDS; i++) {
		uint64_t got = p[i], want = word(proc, die, page, i);

		if (got == want)
			continue;
		__atomic_add_fetch(&shared->wrong, 1, __ATOMIC_RELAXED);
		printf("# die %u at %" PRIx64 ": got %016" PRIx64
		       ", want %016" PRIx64 "\n",
		       die, page_off(proc, page) + i * sizeof(*p), got, want);
		return;
	}
}

static void map_all(int fd, volatile uint8_t *vram[DIES])
{
	unsigned int die;

	for (die = 0; die < DIES; die++) {
		vram[die] = bs_map(fd, die, 0, vram_bytes);
		if (!vram[die])
			err(1, "mmap of die %u", die);
	}
}

static void lease(int fd, unsigned int die)
{
	int ret = bs_acquire(fd, die, BS_ACQUIRE_LEASE);

	if (ret)
		errx(1, "acquire of die %u: %d", die, ret);
}

static void turns(unsigned int proc, unsigned int n, unsigned int seed)
{
	volatile uint8_t *vram[DIES];
	int fd = bs_open();
	unsigned int k, page, die;

	map_all(fd, vram);
	srandom(seed + proc);
	while (n--) {
		die = random() % DIES;
		lease(fd, die);
		for (k = 0; k < LOOK_PAGES; k++)
			page_compare(vram[die], proc, die, random() % PAGES);
		page = random() % PAGES;
		shared->version[proc][die][page]++;
		page_write(vram[die], proc, die, page);
		if (bs_unlease(fd, die))
			errx(1, "unlease");
		shared->swaps[proc]++;
	}
	exit(0);
}

static void each_page(int fd, unsigned int procs,
		      void (*fn)(volatile uint8_t *, unsigned int, unsigned int,
				 unsigned int))
{
	volatile uint8_t *vram[DIES];
	unsigned int die, proc, page;

	map_all(fd, vram);
	for (die = 0; die < DIES; die++) {
		lease(fd, die);
		for (proc = 0; proc < procs; proc++)
			for (page = 0; page < PAGES; page++)
				fn(vram[die], proc, die, page);
		bs_unlease(fd, die);
	}
}

int main(int argc, char **argv)
{
	unsigned int n = argc > 1 ? atoi(argv[1]) : 1000;
	unsigned int procs = argc > 2 ? atoi(argv[2]) : 4;
	unsigned int seed = argc > 3 ? atoi(argv[3]) : 1, i;
	uint64_t done = 0;
	struct bs_die_info info;
	int fd = bs_open(), status, bad = 0;
	int64_t start;

	if (!procs || procs > PROCS_MAX || bs_info(fd, 0, &info))
		return 2;
	vram_bytes = info.vram_bytes;
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		err(2, "mmap");
	printf("# seed %u\n", seed);
	each_page(fd, procs, page_write);
	start = now_us();
	fflush(stdout);
	for (i = 0; i < procs; i++)
		if (!fork())
			turns(i, n / procs, seed);
	while (wait(&status) > 0)
		bad += status != 0;
	for (i = 0; i < procs; i++)
		done += shared->swaps[i];
	printf("# %" PRIu64 " turns in %.1f s\n", done,
	       (double)(now_us() - start) / 1e6);
	say(!bad, "every process ran to its end");
	say_is(done, n / procs * procs, "%u turns of %u processes", n, procs);
	each_page(fd, procs, page_compare);
	say_is(shared->wrong, 0, "every byte of every die is right");
	return say_status();
}
