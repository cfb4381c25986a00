// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Every read and write of 1..257 bytes at every offset 0..63 from the places
 * where addresses are most likely to be cut wrong, against a copy in memory;
 * the bytes before and after must not change.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pattern.h"

#define N_OFFSETS 64
#define MAX_LEN   257
#define MARGIN    64 /* neighbours watched on each side */
#define WINDOW    (2 * MARGIN + N_OFFSETS + MAX_LEN)
#define PAGE      4096
/* from the start of a window to the place that its offsets lie around */
#define BEFORE (MARGIN + N_OFFSETS / 2)

static int fd;
static const char *path;
static const char *how;

static void fail(const char *what, uint64_t off, unsigned int len)
{
	fprintf(stderr, "sweep: %s (%s): %s of %u bytes at %" PRIu64 "\n", path,
		how, what, len, off);
	exit(1);
}

static void check_io(const char *what, ssize_t got, unsigned int wanted,
		     uint64_t off)
{
	if (got < 0)
		fprintf(stderr, "sweep: %s\n", strerror(errno));
	else if ((unsigned int)got != wanted)
		fprintf(stderr, "sweep: got %zd bytes\n", got);
	else
		return;
	fail(what, off, wanted);
}

/* One place: [start, start + WINDOW) of the file, clipped at its end */
static void sweep(uint64_t start, uint64_t size, unsigned int step)
{
	static unsigned char model[WINDOW], seen[WINDOW + 2 * PAGE];
	uint64_t end = start + WINDOW < size ? start + WINDOW : size;
	unsigned int window = (unsigned int)(end - start);
	/* at the start of the file there is nothing before offset 0 */
	unsigned int first = start ? MARGIN : 0;
	unsigned int at, len;

	pattern_fill(model, window, start, 1);
	check_io("write", pwrite(fd, model, window, (off_t)start), window, start);
	for (at = first; at < first + N_OFFSETS; at++) {
		for (len = 1; len <= MAX_LEN; len += step) {
			uint64_t off = start + at;

			if (at + len > window)
				break;
			pattern_fill(model + at, len, off, at * 1000 + len);
			check_io("write", pwrite(fd, model + at, len, (off_t)off),
				 len, off);
			memset(seen, 0xa5, sizeof(seen));
			check_io("read around",
				 pread(fd, seen, window, (off_t)start), window,
				 start);
			if (memcmp(seen, model, window))
				fail("window differs after write", off, len);
			memset(seen + at, 0x5a, len + 1);
			check_io("read", pread(fd, seen + at, len, (off_t)off),
				 len, off);
			if (memcmp(seen + at, model + at, len))
				fail("read differs", off, len);
			if (seen[at + len] != 0x5a)
				fail("read too much", off, len);
		}
	}
}

int main(int argc, char **argv)
{
	uint64_t size, place[8];
	unsigned int n = 0, i, step;
	int flags = O_RDWR;
	struct stat st;

	if (argc < 3) {
		fputs("usage: sweep FILE buffered|direct [LENGTH-STEP]\n",
		      stderr);
		return 2;
	}
	path = argv[1];
	how = argv[2];
	step = argc > 3 ? (unsigned int)atoi(argv[3]) : 1;
	if (!strcmp(how, "direct"))
		flags |= O_DIRECT;
	else if (strcmp(how, "buffered"))
		return 2;
	if (!step)
		return 2;
	fd = open(path, flags);
	if (fd < 0 || fstat(fd, &st)) {
		fprintf(stderr, "sweep: %s: %s\n", path, strerror(errno));
		return 1;
	}
	size = (uint64_t)st.st_size;

	place[n++] = 0;
	place[n++] = size / 2 - BEFORE;
	if (size > (4ULL << 30) + WINDOW)
		place[n++] = (4ULL << 30) - BEFORE;
	if (size > (8ULL << 30) + WINDOW)
		place[n++] = (8ULL << 30) - BEFORE;
	place[n++] = size - PAGE - BEFORE;
	place[n++] = size - (MARGIN + N_OFFSETS - 1 +
			     MAX_LEN); /* up to the last byte */
	for (i = 0; i < n; i++)
		sweep(place[i], size, step);
	printf("sweep: %u places, %s, lengths 1..%d by %u: right\n", n, how,
	       MAX_LEN, step);
	return 0;
}
