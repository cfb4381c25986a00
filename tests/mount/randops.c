// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Random operations on all dies from several threads for some seconds, each
 * checked against a copy in memory. Every thread owns one region of every die,
 * so its copy is exact whatever the others do; the sequence of each thread
 * depends on the seed alone. Pins and leases are taken and given back around
 * operations on the held die, and thrown out by other threads' "release".
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/falloc.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "pattern.h"

#define MAX_DIES    16
#define MAX_THREADS 32
#define REGION      ((size_t)1 << 20)
#define GUARD       4096 /* bytes at both ends that no operation touches */
#define N_OPENS     3
#define PATIENCE_NS ((uint64_t)60 * 1000000000)

static const int open_flags[N_OPENS] = { O_RDWR, O_RDWR | O_DIRECT,
					 O_RDWR | O_SYNC };

/* Written before the threads start */
static const char *root;
static unsigned int n_dies, n_threads;
static bool has_slot; /* else dies cannot be held */
static uint64_t seed, size, run_ns;
static pthread_barrier_t all_set_up;

struct worker {
	pthread_t thread;
	unsigned int id;
	uint64_t random;
	uint64_t base; /* of the region, on every die */
	int fd[MAX_DIES][N_OPENS];
	unsigned char *model[MAX_DIES];
	unsigned char *buf;
	uint64_t n_ops;
	char what[160]; /* the operation now running */
};

static struct worker workers[MAX_THREADS];

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static uint64_t draw(struct worker *w, uint64_t below)
{
	w->random = pattern_mix(w->random);
	return (w->random >> 11) % below;
}

static void fail(const struct worker *w, const char *format, ...)
{
	va_list args;
	unsigned int i;

	flockfile(stderr);
	fprintf(stderr,
		"randops: seed %" PRIu64 " thread %u operation %" PRIu64
		" '%s': ",
		seed, w->id, w->n_ops, w->what);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	for (i = 0; i < n_threads; i++)
		fprintf(stderr,
			"randops: thread %u at operation %" PRIu64 " '%s'\n", i,
			workers[i].n_ops, workers[i].what);
	_exit(1);
}

static void doing(struct worker *w, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(w->what, sizeof(w->what), format, args);
	va_end(args);
}

/* Draw a stretch of the region that leaves the guards alone */
static void draw_range(struct worker *w, size_t max_len, size_t *at, size_t *len)
{
	size_t room = REGION - 2 * GUARD;

	*len = 1 + draw(w, max_len < room ? max_len : room);
	*at = GUARD + draw(w, room - *len + 1);
}

static size_t draw_max_len(struct worker *w)
{
	static const size_t max[] = { 16, 4096, 65536, 262144, REGION };

	return max[draw(w, sizeof(max) / sizeof(*max))];
}

static void check_count(struct worker *w, ssize_t got, size_t wanted)
{
	if (got < 0)
		fail(w, "%s", strerror(errno));
	if ((size_t)got != wanted)
		fail(w, "%zd of %zu bytes", got, wanted);
}

static void read_and_compare(struct worker *w, unsigned int die, int fd,
			     size_t at, size_t len)
{
	size_t i;

	check_count(w, pread(fd, w->buf, len, (off_t)(w->base + at)), len);
	if (!memcmp(w->buf, w->model[die] + at, len))
		return;
	for (i = 0; w->buf[i] == w->model[die][at + i]; i++)
		;
	fail(w, "die %u byte %" PRIu64 " is 0x%02x, wanted 0x%02x", die,
	     w->base + at + i, w->buf[i], w->model[die][at + i]);
}

static void do_read(struct worker *w, unsigned int die)
{
	unsigned int how = (unsigned int)draw(w, N_OPENS);
	size_t at, len;

	draw_range(w, draw_max_len(w), &at, &len);
	doing(w, "read die %u open %u at %zu len %zu", die, how, at, len);
	read_and_compare(w, die, w->fd[die][how], at, len);
}

static void do_write(struct worker *w, unsigned int die)
{
	unsigned int how = (unsigned int)draw(w, N_OPENS);
	size_t at, len;

	draw_range(w, draw_max_len(w), &at, &len);
	doing(w, "write die %u open %u at %zu len %zu", die, how, at, len);
	pattern_fill(w->model[die] + at, len, w->base + at, w->random);
	check_count(w,
		    pwrite(w->fd[die][how], w->model[die] + at, len,
			   (off_t)(w->base + at)),
		    len);
}

static void do_zero(struct worker *w, unsigned int die)
{
	int punch = (int)draw(w, 2);
	uint64_t start = now_ns();
	size_t at, len;

	draw_range(w, draw_max_len(w), &at, &len);
	doing(w, "%s die %u at %zu len %zu", punch ? "punch" : "zero range",
	      die, at, len);
	memset(w->model[die] + at, 0, len);
	/* it does not wait for a hold of another die, as it keeps the file */
	while (fallocate(w->fd[die][0],
			 punch ? FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE
			       : FALLOC_FL_ZERO_RANGE,
			 (off_t)(w->base + at), (off_t)len)) {
		if (errno != EBUSY || now_ns() - start > PATIENCE_NS)
			fail(w, "%s", strerror(errno));
		usleep(1000);
	}
}

static void do_copy(struct worker *w, unsigned int die)
{
	unsigned int to = (unsigned int)draw(w, n_dies);
	size_t at, len, to_at, done = 0;

	draw_range(w, draw_max_len(w), &at, &len);
	to_at = GUARD + draw(w, REGION - 2 * GUARD - len + 1);
	if (to == die && to_at < at + len && at < to_at + len) {
		if (n_dies == 1)
			return; /* overlapping: EINVAL, as for any file */
		to = (die + 1) % n_dies;
	}
	doing(w, "copy_file_range die %u at %zu to die %u at %zu len %zu", die,
	      at, to, to_at, len);
	while (done < len) {
		off_t from_off = (off_t)(w->base + at + done);
		off_t to_off = (off_t)(w->base + to_at + done);
		ssize_t n = copy_file_range(w->fd[die][0], &from_off,
					    w->fd[to][0], &to_off, len - done, 0);

		if (n <= 0)
			fail(w, "%s", n ? strerror(errno) : "end of file");
		done += (size_t)n;
	}
	memcpy(w->model[to] + to_at, w->model[die] + at, len);
}

static void do_sync(struct worker *w, unsigned int die)
{
	doing(w, "fsync die %u", die);
	if (fsync(w->fd[die][0]))
		fail(w, "%s", strerror(errno));
}

static int open_file(struct worker *w, unsigned int die, const char *name,
		     int flags)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/die%u/%s", root, die, name);
	fd = open(path, flags | O_CLOEXEC);
	if (fd < 0)
		fail(w, "open %s: %s", path, strerror(errno));
	return fd;
}

static void command(struct worker *w, int fd, unsigned int die, const char *text)
{
	doing(w, "die %u ctl: %s", die, text);
	check_count(w, write(fd, text, strlen(text)), strlen(text));
}

static void do_data(struct worker *w, unsigned int die)
{
	switch (draw(w, 10)) {
	case 0:
		do_zero(w, die);
		break;
	case 1:
		do_sync(w, die);
		break;
	case 2 ... 5:
		do_read(w, die);
		break;
	default:
		do_write(w, die);
	}
}

/* Hold a die over a few operations on it; another thread may end the hold */
static void do_hold(struct worker *w, unsigned int die, const char *how)
{
	int fd = open_file(w, die, "ctl", O_WRONLY);
	uint64_t i, n = draw(w, 4);

	if (has_slot)
		command(w, fd, die, how);
	for (i = 0; i < n; i++)
		do_data(w, die);
	if (has_slot && !strcmp(how, "pin"))
		command(w, fd, die, "unpin");
	close(fd);
}

static void do_command(struct worker *w, unsigned int die, const char *text)
{
	int fd = open_file(w, die, "ctl", O_WRONLY);

	command(w, fd, die, text);
	close(fd);
}

static void do_status(struct worker *w, unsigned int die)
{
	int fd = open_file(w, die, "status", O_RDONLY);
	char text[4096] = "", wanted[16];
	ssize_t n;

	doing(w, "status of die %u", die);
	n = read(fd, text, sizeof(text) - 1);
	snprintf(wanted, sizeof(wanted), "die %u\n", die);
	if (n <= 0 || strncmp(text, wanted, strlen(wanted)) ||
	    !strstr(text, "\nlast_error "))
		fail(w, "got '%s'", text);
	close(fd);
}

static void do_one(struct worker *w)
{
	unsigned int die = (unsigned int)draw(w, n_dies);

	switch (draw(w, 100)) {
	case 0 ... 5:
		do_command(w, die, "acquire");
		break;
	case 6 ... 8:
		do_command(w, die, "release");
		break;
	case 9 ... 11:
		do_hold(w, die, "pin");
		break;
	case 12 ... 14:
		do_hold(w, die, "lease");
		break;
	case 15 ... 16:
		do_status(w, die);
		break;
	case 17 ... 26:
		do_copy(w, die);
		break;
	default:
		do_data(w, die);
	}
}

static void *work(void *arg)
{
	struct worker *w = arg;
	unsigned int die, how;
	uint64_t stop_ns;

	for (die = 0; die < n_dies; die++) {
		doing(w, "setting up die %u", die);
		for (how = 0; how < N_OPENS; how++)
			w->fd[die][how] =
				open_file(w, die, "vram", open_flags[how]);
		pattern_fill(w->model[die], REGION, w->base, seed + die);
		check_count(w,
			    pwrite(w->fd[die][0], w->model[die], REGION,
				   (off_t)w->base),
			    REGION);
	}
	pthread_barrier_wait(&all_set_up);
	stop_ns = now_ns() + run_ns;
	while (now_ns() < stop_ns) {
		do_one(w);
		w->n_ops++;
	}
	for (die = 0; die < n_dies; die++) {
		int fd = open_file(w, die, "vram", O_RDONLY);

		doing(w, "last look at die %u", die);
		read_and_compare(w, die, fd, 0, REGION);
		close(fd);
		for (how = 0; how < N_OPENS; how++)
			if (close(w->fd[die][how]))
				fail(w, "close: %s", strerror(errno));
	}
	return NULL;
}

static bool read_has_slot(void)
{
	char path[4096], text[4096] = "";
	int fd;

	snprintf(path, sizeof(path), "%s/status", root);
	fd = open(path, O_RDONLY);
	if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0)
		return true;
	close(fd);
	return !strstr(text, "\nslots 0\n");
}

static void prepare(struct worker *w, unsigned int id)
{
	unsigned int die;

	w->id = id;
	w->random = pattern_mix(seed * MAX_THREADS + id);
	/* spread over the die, at odd places; the last one ends with it */
	w->base = id == n_threads - 1 ? size - REGION
				      : id * (size / n_threads) + id * 37;
	w->buf = aligned_alloc(4096, REGION);
	for (die = 0; die < n_dies; die++)
		w->model[die] = malloc(REGION);
}

int main(int argc, char **argv)
{
	char path[4096];
	uint64_t total = 0;
	struct stat st;
	unsigned int i;

	if (argc != 6) {
		fputs("usage: randops ROOT SEED SECONDS THREADS DIES\n", stderr);
		return 2;
	}
	root = argv[1];
	seed = strtoull(argv[2], NULL, 0);
	n_threads = (unsigned int)atoi(argv[4]);
	n_dies = (unsigned int)atoi(argv[5]);
	if (!n_threads || n_threads > MAX_THREADS || !n_dies || n_dies > MAX_DIES)
		return 2;
	snprintf(path, sizeof(path), "%s/die0/vram", root);
	if (stat(path, &st)) {
		fprintf(stderr, "randops: %s: %s\n", path, strerror(errno));
		return 1;
	}
	size = (uint64_t)st.st_size;
	has_slot = read_has_slot();
	if (size / n_threads < REGION + MAX_THREADS * 37) {
		fprintf(stderr, "randops: %s is too small\n", path);
		return 2;
	}
	run_ns = strtoull(argv[3], NULL, 0) * 1000000000;
	pthread_barrier_init(&all_set_up, NULL, n_threads);
	for (i = 0; i < n_threads; i++) {
		prepare(&workers[i], i);
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i])) {
			fputs("randops: cannot start a thread\n", stderr);
			return 1;
		}
	}
	for (i = 0; i < n_threads; i++) {
		pthread_join(workers[i].thread, NULL);
		printf("randops: thread %u: %" PRIu64 " operations right\n", i,
		       workers[i].n_ops);
		total += workers[i].n_ops;
	}
	if (total < n_threads) {
		fputs("randops: almost nothing was done\n", stderr);
		return 1;
	}
	return 0;
}
