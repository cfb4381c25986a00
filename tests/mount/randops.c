// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Random operations on all dies from several threads for some seconds, each
 * checked against a model of every byte. Every thread owns one region of every
 * die, so its model is exact whatever the others do; the sequence of each thread
 * depends on the seed alone. Pins and leases are taken and given back around
 * operations on the held die, and thrown out by other threads' "release".
 *
 * With -d it starts the daemon itself, and ends and kills it meanwhile; with -s
 * dies have the faults that the simulator can be ordered, with -k a kernel
 * driver comes and goes. What fails then is forgiven only while it may, and
 * what was answered as synced is held to be there.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/falloc.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "pattern.h"
#include "randops.h"

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
static struct faults faults;

/*
 * What a thread has taken in of the troubles of a die, see catch_up(): all up to
 * @epoch, which is even. What has happened since may be why an operation fails.
 * @is_doubtful: what was written behind may still get lost, which an error will
 * tell.
 */
struct view {
	unsigned int epoch;
	unsigned int losses;
	unsigned int wipes;
	bool is_doubtful;
	bool is_unknown; /* contents were lost and not written since */
};

struct worker {
	pthread_t thread;
	unsigned int id;
	uint64_t random;
	uint64_t base; /* of the region, on every die */
	int fd[MAX_DIES][N_OPENS];
	struct model model[MAX_DIES];
	struct view view[MAX_DIES];
	unsigned int n_kills;
	unsigned int n_ends;
	unsigned char *buf;
	uint64_t n_ops;
	char what[160]; /* the operation now running */
};

static struct worker workers[MAX_THREADS];

uint64_t now_ns(void)
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

static __attribute__((noreturn)) void end_wrong(void)
{
	unsigned int i;

	fputc('\n', stderr);
	for (i = 0; i < n_threads; i++)
		fprintf(stderr,
			"randops: thread %u at operation %" PRIu64 " '%s'\n", i,
			workers[i].n_ops, workers[i].what);
	_exit(1);
}

void give_up(const char *format, ...)
{
	va_list args;

	flockfile(stderr);
	fprintf(stderr, "randops: seed %" PRIu64 ": ", seed);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	end_wrong();
}

static void fail(const struct worker *w, const char *format, ...)
{
	va_list args;

	flockfile(stderr);
	fprintf(stderr,
		"randops: seed %" PRIu64 " thread %u operation %" PRIu64
		" (%u of %u ends, %u of %u kills) '%s': ",
		seed, w->id, w->n_ops, w->n_ends, n_ends, w->n_kills, n_kills,
		w->what);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	end_wrong();
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

static bool is_over(unsigned int then, unsigned int now)
{
	return then == now && !(now & 1);
}

/* Nothing that may cost data, or make an answer fail, has happened since */
static bool is_calm(const struct worker *w, unsigned int die)
{
	return is_over(w->view[die].epoch, troubles[die].epoch) &&
	       is_over(w->n_kills, n_kills);
}

/* The worst of what may have happened to a die since it was looked at */
static enum risk risk_of(const struct worker *w, unsigned int die)
{
	unsigned int from = w->view[die].epoch, to = troubles[die].epoch;

	if (is_over(from, to))
		return RISK_NONE;
	/* the first one after that, and others */
	if (from / 2 != (to - 1) / 2)
		return RISK_WIPED;
	return (enum risk)troubles[die].risks[from / 2 % N_RISKS];
}

static bool is_in(int error, const int *errors, size_t n)
{
	while (n > 0)
		if (errors[--n] == error)
			return true;
	return false;
}

/*
 * Whether @error is what may come of what has happened since. With a mount that
 * is let go only what opens a file by its name fails.
 */
static bool is_forgiven(const struct worker *w, unsigned int die, int error,
			bool by_name)
{
	static const int of_die[] = { EIO,    ENXIO,  EBUSY,  ESTALE,
				      EAGAIN, ENOMEM, ENODEV, ETIMEDOUT };
	/* EIO is the kernel's, of an answer that the kill cut short */
	static const int of_kill[] = { ENOTCONN, ECONNABORTED, ENOENT, EIO };

	if (!is_over(w->n_kills, n_kills) &&
	    is_in(error, of_kill, sizeof(of_kill) / sizeof(int)))
		return true;
	if (by_name && !is_over(w->n_ends, n_ends) && error == ENOENT)
		return true;
	return risk_of(w, die) != RISK_NONE &&
	       is_in(error, of_die, sizeof(of_die) / sizeof(int));
}

/* An answer to a write, fsync or close; EIO may be for an earlier write */
static bool is_written(struct worker *w, unsigned int die, ssize_t got,
		       size_t wanted)
{
	if (got == (ssize_t)wanted)
		return true;
	if (got >= 0) {
		if (is_calm(w, die))
			fail(w, "%zd of %zu bytes", got, wanted);
		return false;
	}
	if (errno == EIO && w->view[die].is_doubtful)
		model_lost(&w->model[die]);
	else if (!is_forgiven(w, die, errno, false))
		fail(w, "%s", strerror(errno));
	return false;
}

static void read_and_compare(struct worker *w, unsigned int die, int fd,
			     size_t at, size_t len)
{
	ssize_t n = pread(fd, w->buf, len, (off_t)(w->base + at));
	bool is_strict;
	char wanted[128];
	size_t i;

	if (n < 0) {
		if (!is_forgiven(w, die, errno, false))
			fail(w, "%s", strerror(errno));
		return;
	}
	if ((size_t)n != len && is_calm(w, die))
		fail(w, "%zd of %zu bytes", n, len);
	if (risk_of(w, die) == RISK_WIPED)
		return;
	is_strict = !w->view[die].is_doubtful && risk_of(w, die) < RISK_LOST &&
		    is_over(w->n_kills, n_kills);
	i = model_compare(&w->model[die], at, w->buf, (size_t)n, is_strict);
	if (i == (size_t)n)
		return;
	model_describe(&w->model[die], at + i, wanted, sizeof(wanted));
	fail(w, "die %u byte %" PRIu64 " is 0x%02x, wanted %s", die,
	     w->base + at + i, w->buf[i], wanted);
}

static int draw_open(struct worker *w, unsigned int die, unsigned int *how)
{
	*how = (unsigned int)draw(w, N_OPENS);
	return w->fd[die][*how];
}

static void do_read(struct worker *w, unsigned int die)
{
	unsigned int how;
	int fd = draw_open(w, die, &how);
	size_t at, len;

	draw_range(w, draw_max_len(w), &at, &len);
	doing(w, "read die %u open %u at %zu len %zu", die, how, at, len);
	if (fd >= 0)
		read_and_compare(w, die, fd, at, len);
}

/* Write new bytes; @flags as of pwritev2(), @is_sync: or of the open file */
static bool write_pattern(struct worker *w, unsigned int die, int fd, size_t at,
			  size_t len, int flags, bool is_sync)
{
	struct model *model = &w->model[die];
	struct iovec iov = { w->buf, len };

	pattern_fill(w->buf, len, w->base + at, w->random);
	model_begin(model, at, w->buf, len);
	if (!is_written(w, die,
			pwritev2(fd, &iov, 1, (off_t)(w->base + at), flags), len))
		return false;
	model_end(model, at, NULL, 0, len);
	if (is_sync && is_calm(w, die))
		model_synced(model, at, len);
	return true;
}

static void do_write(struct worker *w, unsigned int die)
{
	static const int flags[] = { 0, 0, 0, RWF_DSYNC, RWF_SYNC };
	int f = flags[draw(w, sizeof(flags) / sizeof(*flags))];
	unsigned int how;
	int fd = draw_open(w, die, &how);
	size_t at, len;

	draw_range(w, draw_max_len(w), &at, &len);
	doing(w, "write die %u open %u flags %d at %zu len %zu", die, how, f,
	      at, len);
	if (fd >= 0)
		write_pattern(w, die, fd, at, len, f,
			      f || open_flags[how] & O_SYNC);
}

static void do_zero(struct worker *w, unsigned int die)
{
	int punch = (int)draw(w, 2), fd = w->fd[die][0];
	uint64_t start = now_ns();
	size_t at, len;

	draw_range(w, draw_max_len(w), &at, &len);
	doing(w, "%s die %u at %zu len %zu", punch ? "punch" : "zero range",
	      die, at, len);
	if (fd < 0)
		return;
	model_begin(&w->model[die], at, NULL, len);
	/* it does not wait for a hold of another die, as it keeps the file */
	while (fallocate(fd,
			 punch ? FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE
			       : FALLOC_FL_ZERO_RANGE,
			 (off_t)(w->base + at), (off_t)len)) {
		if (errno == EBUSY && now_ns() - start < PATIENCE_NS) {
			usleep(1000);
			continue;
		}
		is_written(w, die, -1, 0);
		return;
	}
	model_end(&w->model[die], at, NULL, 0, len);
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
	if (w->fd[die][0] < 0 || w->fd[to][0] < 0)
		return;
	model_begin_copy(&w->model[to], to_at, &w->model[die], at, len);
	while (done < len) {
		off_t from_off = (off_t)(w->base + at + done);
		off_t to_off = (off_t)(w->base + to_at + done);
		ssize_t n = copy_file_range(w->fd[die][0], &from_off,
					    w->fd[to][0], &to_off, len - done, 0);

		if (n <= 0) {
			if (!n)
				fail(w, "end of file");
			if (!is_forgiven(w, die, errno, false))
				is_written(w, to, n, len);
			break;
		}
		done += (size_t)n;
	}
	if (done == len)
		model_end(&w->model[to], to_at, &w->model[die], at, len);
	if (is_calm(w, die) && !w->view[die].is_doubtful)
		return;
	/* what was copied may have been what was there before a loss */
	if (risk_of(w, die) == RISK_WIPED)
		model_wiped(&w->model[to]);
	else
		model_copied_old(&w->model[to], to_at, &w->model[die], at, len);
}

static void do_sync(struct worker *w, unsigned int die)
{
	unsigned int how;

	doing(w, "fsync die %u", die);
	for (how = 0; how < N_OPENS; how++)
		if (w->fd[die][how] < 0 ||
		    !is_written(w, die, fsync(w->fd[die][how]), 0))
			return;
	if (risk_of(w, die) >= RISK_LOST || !is_over(w->n_kills, n_kills))
		return;
	model_synced(&w->model[die], 0, REGION);
	w->view[die].is_doubtful = false;
}

/* Open a file of the tree; -1 if that fails as it may just now */
static int open_file(struct worker *w, unsigned int die, const char *name,
		     int flags)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/die%u/%s", root, die, name);
	fd = open(path, flags | O_CLOEXEC);
	if (fd < 0 && !is_forgiven(w, die, errno, true))
		fail(w, "open %s: %s", path, strerror(errno));
	return fd;
}

static bool close_file(struct worker *w, unsigned int die, int fd)
{

	return is_written(w, die, close(fd), 0);
}

/* Nothing is ever appended to a die */
static void do_append(struct worker *w, unsigned int die)
{
	int fd;

	doing(w, "append to die %u", die);
	fd = open_file(w, die, "vram", O_WRONLY | O_APPEND);
	if (fd < 0)
		return;
	if (write(fd, "x", 1) >= 0)
		fail(w, "it can be made longer");
	if (errno != ENOSPC && !is_forgiven(w, die, errno, false))
		fail(w, "%s", strerror(errno));
	close_file(w, die, fd);
}

/*
 * One piece of a new image that so far ends at *end. Of one that fails nobody
 * knows whether the image is longer now, and what is left out below its end.
 */
static bool write_piece(struct worker *w, unsigned int die, int fd, size_t *end)
{
	struct model *model = &w->model[die];
	size_t at, len, old_end = *end;

	draw_range(w, 65536, &at, &len);
	doing(w, "new image of die %u, which ends at %zu: at %zu len %zu", die,
	      old_end, at, len);
	if (at + len > old_end)
		*end = at + len;
	/* what it leaves out reads as zeros as soon as this is answered */
	if (at > old_end)
		model_begin(model, old_end, NULL, at - old_end);
	if (!write_pattern(w, die, fd, at, len, 0, false)) {
		model_may_clear(model, 0, *end);
		return false;
	}
	if (at > old_end)
		model_end(model, old_end, NULL, 0, at - old_end);
	return true;
}

/*
 * A new image begins at byte 0, so it is for the thread that has the front of
 * the dies; others only open it. What it leaves out is cleared by its own fsync
 * and close alone.
 */
static void do_image(struct worker *w, unsigned int die)
{
	int flags = O_RDWR | O_TRUNC | (draw(w, 2) ? O_DIRECT : 0);
	uint64_t i, n = w->base ? 0 : draw(w, 6);
	size_t end = 0;
	int fd;

	doing(w, "new image of die %u", die);
	fd = open_file(w, die, "vram", flags);
	if (fd < 0)
		return;
	for (i = 0; i < n && write_piece(w, die, fd, &end); i++) {
		if (!draw(w, 3))
			do_read(w, die);
		doing(w, "fsync of a new image of die %u", die);
		if (!draw(w, 4) && is_written(w, die, fsync(fd), 0) &&
		    is_calm(w, die))
			model_synced(&w->model[die], 0, end);
	}
	doing(w, "close of a new image of die %u, %zu bytes", die, end);
	if (close_file(w, die, fd) && is_calm(w, die))
		model_synced(&w->model[die], 0, end);
	else
		model_doubt(&w->model[die], 0, end);
}

/* An end cuts the wait for another's hold short */
static bool command(struct worker *w, int fd, unsigned int die, const char *text)
{
	ssize_t n;

	doing(w, "die %u ctl: %s", die, text);
	n = write(fd, text, strlen(text));
	if (n == (ssize_t)strlen(text))
		return true;
	if (n >= 0)
		fail(w, "%zd bytes", n);
	if (is_over(w->n_ends, n_ends) && !is_forgiven(w, die, errno, false))
		fail(w, "%s", strerror(errno));
	return false;
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

	if (fd < 0)
		return;
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

	if (fd < 0)
		return;
	command(w, fd, die, text);
	close(fd);
}

static void do_status(struct worker *w, unsigned int die)
{
	int fd = open_file(w, die, "status", O_RDONLY);
	char text[4096] = "", wanted[16];
	ssize_t n;

	doing(w, "status of die %u", die);
	if (fd < 0)
		return;
	n = read(fd, text, sizeof(text) - 1);
	snprintf(wanted, sizeof(wanted), "die %u\n", die);
	if (n < 0 && is_forgiven(w, die, errno, false))
		goto out;
	if (n <= 0 || strncmp(text, wanted, strlen(wanted)) ||
	    !strstr(text, "\nlast_error "))
		fail(w, "got '%s'", text);
out:
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
	case 27:
		do_append(w, die);
		break;
	case 28 ... 33:
		do_image(w, die);
		break;
	default:
		do_data(w, die);
	}
}

static void close_die(struct worker *w, unsigned int die)
{
	unsigned int how;

	doing(w, "closing die %u", die);
	for (how = 0; how < N_OPENS; how++) {
		if (w->fd[die][how] >= 0)
			close_file(w, die, w->fd[die][how]);
		w->fd[die][how] = -1;
	}
}

static void open_die(struct worker *w, unsigned int die)
{
	unsigned int how;

	doing(w, "opening die %u", die);
	for (how = 0; how < N_OPENS; how++)
		w->fd[die][how] = open_file(w, die, "vram", open_flags[how]);
}

static void fill_region(struct worker *w, unsigned int die)
{
	int fd = w->fd[die][0];

	doing(w, "filling its region of die %u", die);
	if (fd >= 0 && write_pattern(w, die, fd, 0, REGION, RWF_DSYNC, true))
		w->view[die].is_unknown = !is_calm(w, die);
	draw(w, 2); /* and other bytes the next time */
}

/* Close all files, for the daemon's end waits for that, and use the next one */
static void change_daemon(struct worker *w)
{
	bool was_killed;
	unsigned int die;

	for (die = 0; die < n_dies; die++)
		close_die(w, die);
	while (n_ends & 1 || n_kills & 1)
		usleep(500);
	was_killed = w->n_kills != n_kills;
	w->n_ends = n_ends;
	w->n_kills = n_kills;
	for (die = 0; die < n_dies; die++) {
		/* one that was told to end has lost nothing that was sure */
		if (was_killed || w->view[die].is_doubtful)
			model_lost(&w->model[die]);
		else
			model_synced(&w->model[die], 0, REGION);
		w->view[die].is_doubtful = false;
		open_die(w, die);
	}
}

/* Take in what has happened to a die */
static void see_trouble(struct worker *w, unsigned int die)
{
	struct view *v = &w->view[die];

	if (v->losses == troubles[die].losses)
		return;
	v->losses = troubles[die].losses;
	v->is_doubtful = true;
	model_lost(&w->model[die]);
	if (v->wipes != troubles[die].wipes) {
		v->wipes = troubles[die].wipes;
		v->is_unknown = true;
		model_wiped(&w->model[die]);
	}
	close_die(w, die);
	open_die(w, die);
}

static void catch_up(struct worker *w)
{
	unsigned int die, epoch;

	if (!w->model[0].flags)
		return;
	for (die = 0; die < n_dies; die++) {
		epoch = troubles[die].epoch;
		/* while something is done, what was before it is not known */
		if (epoch == w->view[die].epoch || epoch & 1)
			continue;
		w->view[die].epoch = epoch;
		see_trouble(w, die);
	}
	if (w->n_ends != n_ends || w->n_kills != n_kills)
		change_daemon(w);
	for (die = 0; die < n_dies; die++)
		if (w->view[die].is_unknown)
			fill_region(w, die);
}

static void set_up(struct worker *w)
{
	unsigned int die;

	for (die = 0; die < n_dies; die++) {
		open_die(w, die);
		fill_region(w, die);
	}
}

static void look_last(struct worker *w)
{
	unsigned int die;

	for (die = 0; die < n_dies; die++) {
		int fd = open_file(w, die, "vram", O_RDONLY);

		doing(w, "last look at die %u", die);
		read_and_compare(w, die, fd, 0, REGION);
		close(fd);
		close_die(w, die);
	}
}

static void *work(void *arg)
{
	struct worker *w = arg;
	uint64_t stop_ns;

	set_up(w);
	pthread_barrier_wait(&all_set_up);
	stop_ns = now_ns() + run_ns;
	while (now_ns() < stop_ns || !faults_are_over) {
		catch_up(w);
		do_one(w);
		w->n_ops++;
	}
	catch_up(w);
	look_last(w);
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
		model_init(&w->model[die], faults.daemon);
}

static int look_at_tree(void)
{
	char path[4096];
	struct stat st;

	snprintf(path, sizeof(path), "%s/die0/vram", root);
	if (stat(path, &st)) {
		fprintf(stderr, "randops: %s: %s\n", path, strerror(errno));
		return -1;
	}
	size = (uint64_t)st.st_size;
	has_slot = read_has_slot();
	if (size / n_threads < REGION + MAX_THREADS * 37) {
		fprintf(stderr, "randops: %s is too small\n", path);
		return -1;
	}
	return 0;
}

static int run(void)
{
	pthread_t thread;
	uint64_t total = 0;
	unsigned int i;

	pthread_barrier_init(&all_set_up, NULL, n_threads + 1);
	for (i = 0; i < n_threads; i++) {
		prepare(&workers[i], i);
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
			give_up("cannot start a thread");
	}
	pthread_barrier_wait(&all_set_up);
	if (faults.daemon) {
		if (pthread_create(&thread, NULL, faults_run, &faults))
			give_up("cannot start a thread");
		pthread_join(thread, NULL);
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

static int parse(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "d:s:k:f:")) != -1) {
		switch (c) {
		case 'd':
			faults.daemon = optarg;
			break;
		case 's':
			faults.sock = optarg;
			break;
		case 'k':
			faults.driver = optarg;
			break;
		case 'f':
			faults.flip = optarg;
			break;
		default:
			return -1;
		}
	}
	if (argc - optind != 5)
		return -1;
	argv += optind;
	root = argv[0];
	seed = strtoull(argv[1], NULL, 0);
	run_ns = strtoull(argv[2], NULL, 0) * 1000000000;
	n_threads = (unsigned int)atoi(argv[3]);
	n_dies = (unsigned int)atoi(argv[4]);
	faults.root = root;
	faults.seed = seed;
	faults.run_ns = run_ns;
	faults.n_dies = n_dies;
	faults_are_over = !faults.daemon;
	return n_threads && n_threads <= MAX_THREADS && n_dies && n_dies <= MAX_DIES
		       ? 0
		       : -1;
}

int main(int argc, char **argv)
{
	int ret;

	if (parse(argc, argv)) {
		fputs("usage: randops [-d DAEMON [-s SOCKET] [-k DRIVER] "
		      "[-f DIE0]] ROOT SEED SECONDS THREADS DIES\n",
		      stderr);
		return 2;
	}
	if (faults.daemon && faults_mount(&faults))
		return 1;
	if (look_at_tree())
		return 1;
	ret = run();
	if (faults.daemon && faults_unmount(&faults))
		return 1;
	return ret;
}
