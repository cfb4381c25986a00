/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * k80-copybench: every copy routine on ordinary memory, or on a device's
 * memory that the user names. Rounds visit all routines in turn; a figure is
 * the median over rounds.
 *
 * Writes what it found there before, and puts it back at the end.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"
#include "copy/copy.h"
#include "lib/barswap.h"

#define ROUNDS_MAX 99
#define BLOCK_MAX  MIB
/* an odd place and length: what heads and tails cost */
#define ODD_OFF 3
#define ODD_LEN 100

static struct {
	uint64_t cell_ns;
	uint64_t size;
	uint64_t off;
	int rounds;
	int die;
	bool is_read_only;
} cfg = { .cell_ns = 20 * NSEC_PER_MSEC, .size = 64 * MIB, .rounds = 5 };

/**
 * struct target - memory under test
 * @mem:  start
 * @len:  bytes
 * @ctx, @gpu: of libbarswap, if it is a die
 */
struct target {
	uint8_t *mem;
	size_t len;
	bs_context *ctx;
	bs_gpu *gpu;
};

enum direction {
	READ,
	WRITE,
	ZERO,
	DIRECTIONS,
};

static const size_t blocks[] = { ODD_LEN, 4 * KIB, 128 * KIB, BLOCK_MAX };

static __attribute__((noreturn)) void fail(const char *what, const char *name,
					   int err)
{
	fprintf(stderr, "copybench: %s %s: %s\n", what, name, strerror(err));
	exit(1);
}

/* a die of the module or of the simulator, kept in the slot while we run */
static void open_die(struct target *t, const char *name)
{
	int err;

	t->ctx = bs_init_device(name);
	if (!t->ctx)
		fail("open", name, errno);
	err = bs_acquire_flags(t->ctx, cfg.die, BS_LEASE | BS_NOWAIT, &t->gpu);
	if (err)
		fail("lease a die of", name, -err);
	if (!t->gpu->vram)
		fail("map a die of", name, ENODEV);
	t->mem = t->gpu->vram;
	t->len = t->gpu->vram_mapped_size;
}

/* a file of sysfs, a device node, or any other file */
static void open_file(struct target *t, const char *name)
{
	struct stat st;
	int fd;

	fd = open(name, (cfg.is_read_only ? O_RDONLY : O_RDWR) | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st))
		fail("open", name, errno);
	t->len = cfg.off + cfg.size;
	if (S_ISREG(st.st_mode) && t->len > (uint64_t)st.st_size)
		t->len = (size_t)st.st_size;
	t->mem = mmap(NULL, t->len,
		      PROT_READ | (cfg.is_read_only ? 0 : PROT_WRITE),
		      MAP_SHARED, fd, 0);
	if (t->mem == MAP_FAILED)
		fail("mmap", name, errno);
	close(fd);
}

static void open_target(struct target *t, const char *name)
{
	const char *base = name ? strrchr(name, '/') : NULL;

	if (!name) {
		t->len = cfg.off + cfg.size;
		t->mem = mmap(NULL, t->len, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (t->mem == MAP_FAILED)
			fail("memory", "", errno);
	} else if (!strncmp(name, "sim", 3) ||
		   (base && !strcmp(base, "/bar_swap"))) {
		open_die(t, name);
	} else {
		open_file(t, name);
	}
	if (cfg.off >= t->len || t->len - cfg.off < 2 * BLOCK_MAX)
		fail("less than 2 MiB at that offset of",
		     name ? name : "memory", EINVAL);
	t->mem += cfg.off;
	t->len = MIN(t->len - cfg.off, cfg.size);
}

/* MiB/s over the target in rising order, block by block */
static double measure(const struct copy_ops *ops, enum direction dir,
		      const struct target *t, size_t block, uint8_t *buf)
{
	size_t stride = block == ODD_LEN ? 2 * ODD_LEN : block;
	size_t off = block == ODD_LEN ? ODD_OFF : 0, at = off;
	uint64_t start = now_ns(), now, bytes = 0;
	int i;

	do {
		for (i = 0; i < 8; i++) {
			if (at + block > t->len)
				at = off;
			if (dir == READ)
				ops->from_dev(buf, t->mem + at, block);
			else if (dir == WRITE)
				ops->to_dev(t->mem + at, buf, block);
			else
				ops->zero(t->mem + at, block);
			at += stride;
			bytes += block;
		}
		now = now_ns();
	} while (now - start < cfg.cell_ns);
	ops->fence();
	return (double)bytes / MIB / ((double)(now - start) / NSEC_PER_SEC);
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void print_table(const struct copy_variant *v, size_t n,
			const struct target *t, enum direction dir)
{
	static const char *const titles[] = { "read", "write", "zero" };
	double cell[16][ARRAY_SIZE(blocks)][ROUNDS_MAX];
	uint8_t *buf = aligned_alloc(BLOCK_MAX, BLOCK_MAX);
	const char *mark;
	size_t i, b;
	int r;

	if (!buf)
		fail("memory", "", ENOMEM);
	memset(buf, 0x5a, BLOCK_MAX);
	for (r = 0; r < cfg.rounds; r++)
		for (b = 0; b < ARRAY_SIZE(blocks); b++)
			for (i = 0; i < n; i++)
				if (v[i].is_usable())
					cell[i][b][r] = measure(&v[i].ops, dir, t,
								blocks[b], buf);
	free(buf);
	printf("\n%-6s MiB/s      odd 100 B      4 KiB    128 KiB      1 MiB\n",
	       titles[dir]);
	for (i = 0; i < n; i++) {
		if (!v[i].is_usable()) {
			printf("  %-12s not on this CPU\n", v[i].ops.name);
			continue;
		}
		mark = &v[i].ops == copy_select(v[i].mem) ? "*" : " ";
		printf("%s %-15s", mark, v[i].ops.name);
		for (b = 0; b < ARRAY_SIZE(blocks); b++) {
			qsort(cell[i][b], (size_t)cfg.rounds, sizeof(double),
			      by_value);
			printf(" %10.1f", cell[i][b][cfg.rounds / 2]);
		}
		printf("   %s\n",
		       dir == READ ? v[i].ops.read_name : v[i].ops.write_name);
	}
	fflush(stdout);
}

static void run(const struct target *t)
{
	const struct copy_variant *v;
	size_t n = copy_variants(&v);
	uint8_t *saved = malloc(t->len);
	enum direction dir;

	if (!saved || n > 16)
		fail("memory", "", ENOMEM);
	copy_select(COPY_MEM_WC)->from_dev(saved, t->mem, t->len);
	if (!cfg.is_read_only) /* also touches ordinary memory once */
		copy_select(COPY_MEM_WC)->to_dev(t->mem, saved, t->len);
	for (dir = READ; dir < DIRECTIONS; dir++)
		if (dir == READ || !cfg.is_read_only)
			print_table(v, n, t, dir);
	if (!cfg.is_read_only)
		copy_select(COPY_MEM_WC)->to_dev(t->mem, saved, t->len);
	free(saved);
}

static __attribute__((noreturn)) void usage(int rc)
{
	fputs("usage: k80-copybench [-r ROUNDS] [-t MS] [-s MIB] [-o MIB]\n"
	      "                     [-d DIE] [-n] [DEVICE]\n"
	      "DEVICE: /dev/bar_swap, sim:..., a BAR as\n"
	      "  /sys/bus/pci/devices/BDF/resource1_wc, or any file; without it\n"
	      "  ordinary memory\n"
	      "-s  bytes used (64 MiB)   -o  where they start (0)\n"
	      "-d  which die (0)         -n  only read\n"
	      "-t  time for one cell (20 ms)\n"
	      "* marks what k80fs takes: a wc- routine on a BAR, a wb- one on\n"
	      "ordinary memory. Contents are put back at the end.\n",
	      rc ? stderr : stdout);
	exit(rc);
}

static uint64_t number(const char *text, uint64_t max)
{
	unsigned long v;
	char *end;

	errno = 0;
	v = strtoul(text, &end, 10);
	if (errno || end == text || *end || v > max)
		usage(2);
	return v;
}

int main(int argc, char **argv)
{
	struct target t = { 0 };
	int opt;

	while ((opt = getopt(argc, argv, "r:t:s:o:d:nh")) != -1) {
		switch (opt) {
		case 'r':
			cfg.rounds = (int)number(optarg, ROUNDS_MAX);
			break;
		case 't':
			cfg.cell_ns = number(optarg, 60000) * NSEC_PER_MSEC;
			break;
		case 's':
			cfg.size = number(optarg, 65536) * MIB;
			break;
		case 'o':
			cfg.off = number(optarg, 65536) * MIB;
			break;
		case 'd':
			cfg.die = (int)number(optarg, 15);
			break;
		case 'n':
			cfg.is_read_only = true;
			break;
		case 'h':
			usage(0);
		default:
			usage(2);
		}
	}
	if (argc - optind > 1 || cfg.rounds < 1)
		usage(2);
	open_target(&t, argv[optind]);
	printf("%s, %zu MiB; k80fs takes %s on a BAR, %s on memory\n",
	       argv[optind] ? argv[optind] : "ordinary memory",
	       t.len / (size_t)MIB, copy_select(COPY_MEM_WC)->name,
	       copy_select(COPY_MEM_WB)->name);
	run(&t);
	bs_release(t.ctx, t.gpu);
	bs_free(t.ctx);
	return 0;
}
