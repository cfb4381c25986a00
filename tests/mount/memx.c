// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * memx: processes that each do at random what can be done to files, and know
 * every byte that must be there; the daemon is killed under them.
 *
 * usage: memx MOUNTPOINT FOLDER SEED SECONDS PROCESSES [KILLS DAEMON [ARG]...]
 *
 * FOLDER is below MOUNTPOINT. With DAEMON it is started, in the foreground, on
 * MOUNTPOINT, and so often killed and started again at random instants.
 *
 * What was synced is there after a kill. A byte that was changed since then is
 * what it was at any time since, and so is the length. Names are there when
 * they were answered.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_LEN  ((size_t)7 << 20) /* of a file: some chunks */
#define MAX_OP   ((size_t)256 << 10) /* of a write: one request */
#define MAX_LOG  64 /* changes since the last sync */
#define N_FILES  3 /* of a process */
#define N_PROCS  16
#define MOUNT_MS 60000 /* for a daemon to come */
#define MAX_OPS  120 /* between two kills */
#define STALL_MS 3000

/* What a change has overwritten. */
struct change {
	size_t off, len; /* of @old */
	size_t old_len; /* of the file */
	bool may_stop; /* in the middle: the length may be any between */
	unsigned char *old;
};

struct file {
	char name[32];
	int fd;
	bool is_there;
	size_t len;
	unsigned char *now; /* MAX_LEN bytes, zero behind @len */
	struct change log[MAX_LOG];
	unsigned int n_log;
};

static struct shared {
	/* odd while there is no daemon, or it is about to be killed */
	_Atomic unsigned int kills;
	_Atomic bool is_over;
	_Atomic uint64_t n_ops, n_checks;
} * shared;

static const char *mountpoint, *folder;
static unsigned int who, seen; /* the process, and kills that it knows of */
static uint64_t rng;
static struct file files[N_FILES];
static const char *doing = "";
static bool is_killing;

static void __attribute__((format(printf, 1, 2), noreturn))
give_up(const char *format, ...)
{
	va_list ap;

	fprintf(stderr, "memx: process %u, %s: ", who, doing);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fprintf(stderr, "\n");
	exit(1);
}

static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

static void sleep_us(unsigned int us)
{
	struct timespec ts = { us / 1000000, us % 1000000 * 1000L };

	nanosleep(&ts, NULL);
}

/* xorshift64* */
static uint64_t random_below(uint64_t n)
{
	rng ^= rng >> 12;
	rng ^= rng << 25;
	rng ^= rng >> 27;
	return (rng * 0x2545f4914f6cdd1dULL >> 16) % n;
}

static bool was_killed(void)
{
	return shared->kills != seen;
}

/* ---- the model ------------------------------------------------------------ */

static void forget_log(struct file *f)
{
	while (f->n_log)
		free(f->log[--f->n_log].old);
}

/* [@off, @off + @len) is about to change, and the length to be @new_len. */
static void begin(struct file *f, size_t off, size_t len, bool may_stop)
{
	struct change *c = &f->log[f->n_log++];

	*c = (struct change){ off, len, f->len, may_stop, malloc(len + 1) };
	memcpy(c->old, f->now + off, len);
}

/* It was refused: it is as it was. */
static void take_back(struct file *f)
{
	struct change *c = &f->log[--f->n_log];

	memcpy(f->now + c->off, c->old, c->len);
	f->len = c->old_len;
	free(c->old);
}

static bool may_have_len(const struct file *f, size_t len)
{
	size_t after = f->len;

	if (len == f->len)
		return true;
	for (unsigned int i = f->n_log; i-- > 0;) {
		const struct change *c = &f->log[i];

		if (len == c->old_len ||
		    (c->may_stop && len > c->old_len && len < after))
			return true;
		after = c->old_len;
	}
	return false;
}

/* What was behind the end is no excuse: a length comes after its bytes. */
static bool may_be(const struct file *f, size_t at, unsigned char value)
{
	if (f->now[at] == value)
		return true;
	for (unsigned int i = 0; i < f->n_log; i++) {
		const struct change *c = &f->log[i];

		if (at >= c->off && at - c->off < c->len && at < c->old_len &&
		    c->old[at - c->off] == value)
			return true;
	}
	return false;
}

/* ---- files ---------------------------------------------------------------- */

static char *path_of(const char *name)
{
	static char paths[2][4096];
	static unsigned int turn;
	char *path = paths[turn++ % 2];

	snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
	return path;
}

/* Whether it has an open descriptor now. */
static bool open_file(struct file *f)
{
	if (f->fd < 0)
		f->fd = open(path_of(f->name), O_RDWR | O_CLOEXEC);
	if (f->fd < 0 && !was_killed())
		give_up("open %s: %s", f->name, strerror(errno));
	return f->fd >= 0;
}

static void close_file(struct file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
}

static unsigned char buf[MAX_LEN + 4096];

/* Compares all of a file with what it may be, and takes what it is for truth. */
static void adopt(struct file *f)
{
	struct stat st;
	size_t len;

	if (fstat(f->fd, &st))
		return;
	len = (size_t)st.st_size;
	if (!may_have_len(f, len))
		give_up("%s is %zu bytes after a kill, not %zu (%u changes)",
			f->name, len, f->len, f->n_log);
	if (pread(f->fd, buf, len, 0) != (ssize_t)len)
		return;
	if (was_killed())
		return;
	for (size_t i = 0; i < len; i++)
		if (!may_be(f, i, buf[i]))
			give_up("%s has 0x%02x at %zu after a kill, not 0x%02x (%zu of %zu bytes, %u changes)",
				f->name, buf[i], i, f->now[i], len, f->len,
				f->n_log);
	memcpy(f->now, buf, len);
	memset(f->now + len, 0, MAX_LEN - len);
	f->len = len;
	forget_log(f);
	shared->n_checks++;
}

/* A new daemon is there: the files are what they may be. */
static void after_kill(void)
{
	doing = "after a kill";
	do {
		while (shared->kills % 2 && !shared->is_over)
			sleep_us(1000);
		seen = shared->kills;
		for (unsigned int i = 0; i < N_FILES; i++) {
			struct file *f = &files[i];

			close_file(f);
			if (!f->is_there)
				continue;
			if (open_file(f))
				adopt(f);
		}
	} while (was_killed() && !shared->is_over);
}

/* Of a call that has failed: because of a kill, or for no good reason. */
static bool excused(struct file *f, const char *what)
{
	int err = errno;

	if (!was_killed() && err != EINTR)
		give_up("%s of %s: %s", what, f->name, strerror(err));
	return true;
}

static void op_write(struct file *f)
{
	size_t off = random_below(MAX_LEN - MAX_OP);
	size_t len = 1 + random_below(random_below(4) ? 5000 : MAX_OP);
	unsigned char seed = (unsigned char)(1 + random_below(255));
	ssize_t n;

	if (!random_below(3))
		off = f->len < MAX_LEN - MAX_OP ? f->len : off;
	for (size_t i = 0; i < len; i++)
		buf[i] = (unsigned char)(seed + i * 7 + (i >> 8));
	begin(f, off, len, true);
	memcpy(f->now + off, buf, len);
	if (off + len > f->len)
		f->len = off + len;
	n = pwrite(f->fd, buf, len, (off_t)off);
	if (n < 0)
		excused(f, "write");
	else if ((size_t)n != len)
		give_up("wrote %zd of %zu", n, len);
}

static void op_read(struct file *f)
{
	size_t off = random_below(MAX_LEN), len = 1 + random_below(MAX_OP);
	size_t want = off >= f->len ? 0 : f->len - off;
	ssize_t n = pread(f->fd, buf, len, (off_t)off);

	want = want < len ? want : len;
	if (n < 0) {
		excused(f, "read");
		return;
	}
	if (was_killed())
		return;
	if ((size_t)n != want)
		give_up("read %zd at %zu of %zu, not %zu", n, off, f->len, want);
	for (size_t i = 0; i < want; i++)
		if (buf[i] != f->now[off + i])
			give_up("%s has 0x%02x at %zu, not 0x%02x (%zu bytes)",
				f->name, buf[i], off + i, f->now[off + i],
				f->len);
}

/* By the page cache. A page that is not there because of a kill would be a
 * signal: only where nothing is killed. */
static void op_map(struct file *f)
{
	size_t at, len;
	unsigned char *map;

	if (!f->len || is_killing)
		return;
	at = random_below(f->len) / 4096 * 4096;
	len = f->len - at < MAX_OP ? f->len - at : MAX_OP;
	map = mmap(NULL, len, PROT_READ, MAP_PRIVATE, f->fd, (off_t)at);
	if (map == MAP_FAILED)
		give_up("mmap: %s", strerror(errno));
	for (size_t i = 0; i < len; i++)
		if (map[i] != f->now[at + i])
			give_up("%s has 0x%02x at %zu of a mapping, not 0x%02x",
				f->name, map[i], at + i, f->now[at + i]);
	munmap(map, len);
}

static void op_truncate(struct file *f)
{
	size_t len = random_below(4) ? random_below(MAX_LEN)
				     : random_below(f->len + 1);

	if (len < f->len) {
		begin(f, len, f->len - len, false);
		memset(f->now + len, 0, f->len - len);
	} else {
		begin(f, 0, 0, false);
	}
	f->len = len;
	if (ftruncate(f->fd, (off_t)len))
		excused(f, "truncate");
}

static void op_fallocate(struct file *f)
{
	static const int modes[] = {
		0,
		FALLOC_FL_KEEP_SIZE,
		FALLOC_FL_ZERO_RANGE,
		FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE,
		FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
		FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
	};
	int mode = modes[random_below(sizeof(modes) / sizeof(*modes))];
	size_t off = random_below(MAX_LEN - 1);
	size_t len = 1 + random_below(MAX_LEN - off);
	bool clears = mode & (FALLOC_FL_ZERO_RANGE | FALLOC_FL_PUNCH_HOLE);

	begin(f, off, clears ? len : 0, true);
	if (clears)
		memset(f->now + off, 0, len);
	if (!(mode & FALLOC_FL_KEEP_SIZE) && off + len > f->len)
		f->len = off + len;
	if (!fallocate(f->fd, mode, (off_t)off, (off_t)len))
		return;
	if (errno == ENOSPC)
		take_back(f);
	else
		excused(f, "fallocate");
}

/* Inside one file, or from one to another. */
static void op_copy(struct file *f)
{
	struct file *from = &files[random_below(N_FILES)];
	size_t len = 1 + random_below(MAX_OP);
	size_t off_in = random_below(MAX_LEN - MAX_OP);
	size_t off = random_below(MAX_LEN - MAX_OP);
	off_t in = (off_t)off_in, out = (off_t)off;
	ssize_t n;

	if (!from->is_there || !open_file(from) || off_in >= from->len)
		return;
	len = len < from->len - off_in ? len : from->len - off_in;
	if (from == f && off_in < off + len && off < off_in + len)
		return;
	begin(f, off, len, true);
	memcpy(f->now + off, from->now + off_in, len);
	if (off + len > f->len)
		f->len = off + len;
	n = copy_file_range(from->fd, &in, f->fd, &out, len, 0);
	if (n < 0) {
		excused(f, "copy_file_range");
	} else if ((size_t)n < len && !was_killed()) {
		struct change *c = &f->log[f->n_log - 1];
		size_t end = off + (size_t)n;

		/* short answers are right */
		memcpy(f->now + end, c->old + n, len - (size_t)n);
		f->len = end > c->old_len ? end : c->old_len;
	}
}

static void op_sync(struct file *f)
{
	if (fsync(f->fd))
		excused(f, "fsync");
	else
		forget_log(f);
}

static void op_close(struct file *f)
{
	int fd = f->fd;

	f->fd = -1;
	if (close(fd))
		excused(f, "close");
	else
		forget_log(f);
}

static void op_seek(struct file *f)
{
	off_t data = 0, hole = 0;

	/* what is said to be a hole is zeroes */
	while (hole < (off_t)f->len) {
		data = lseek(f->fd, hole, SEEK_DATA);
		if (data < 0 && errno == ENXIO)
			data = (off_t)f->len;
		if (data < 0) {
			excused(f, "SEEK_DATA");
			return;
		}
		for (off_t i = hole; !was_killed() && i < data; i++)
			if (f->now[i])
				give_up("%s has a hole at %lld, not 0x%02x",
					f->name, (long long)i, f->now[i]);
		if (data >= (off_t)f->len)
			break;
		hole = lseek(f->fd, data, SEEK_HOLE);
		if (hole <= data) {
			excused(f, "SEEK_HOLE");
			return;
		}
	}
}

/* ---- names ---------------------------------------------------------------- */

/* As a daemon that is not killed meanwhile says it. */
static bool exists(const char *name)
{
	bool is_there;

	do {
		if (was_killed())
			after_kill();
		is_there = !access(path_of(name), F_OK);
	} while (was_killed() && !shared->is_over);
	return is_there;
}

static void op_create(struct file *f)
{
	f->fd = open(path_of(f->name), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC,
		     0600);
	if (f->fd < 0) {
		excused(f, "create");
		/* known when there is a daemon again */
		after_kill();
		f->is_there = exists(f->name);
	} else {
		f->is_there = true;
	}
	memset(f->now, 0, MAX_LEN);
	f->len = 0;
	forget_log(f);
}

static void op_unlink(struct file *f)
{
	/* open until then: its memory stays as long */
	if (unlink(path_of(f->name))) {
		excused(f, "unlink");
		f->is_there = false;
		after_kill();
		if (!exists(f->name))
			return;
		f->is_there = true;
		after_kill();
		return;
	}
	if (f->fd >= 0 && random_below(2))
		op_read(f);
	close_file(f);
	f->is_there = false;
	forget_log(f);
}

static void swap_contents(struct file *a, struct file *b)
{
	struct file old = *a;

	*a = *b;
	memcpy(a->name, old.name, sizeof(old.name));
	memcpy(old.name, b->name, sizeof(old.name));
	*b = old;
}

/* Over another file or to where none is. */
static void op_rename(struct file *f)
{
	struct file *to = &files[random_below(N_FILES)];
	bool was_there = to->is_there;
	int ret;

	if (to == f)
		return;
	/* which of the two it is after a kill, its bytes must tell */
	if (f->n_log && open_file(f))
		op_sync(f);
	if (was_killed())
		return;
	ret = rename(path_of(f->name), path_of(to->name));
	if (ret) {
		excused(f, "rename");
		/* until it is known, neither is what it was for sure */
		f->is_there = to->is_there = false;
		after_kill();
		if (exists(f->name)) {
			f->is_there = true;
			to->is_there = was_there;
			after_kill();
			return;
		}
	}
	close_file(to);
	swap_contents(f, to);
	f->is_there = false;
	forget_log(f);
	to->is_there = true;
	if (ret)
		after_kill();
}

/* ---- processes ------------------------------------------------------------ */

static const struct op {
	const char *name;
	void (*run)(struct file *f);
	unsigned int weight;
} ops[] = {
	{ "write", op_write, 40 },
	{ "read", op_read, 30 },
	{ "mmap", op_map, 2 },
	{ "truncate", op_truncate, 6 },
	{ "fallocate", op_fallocate, 6 },
	{ "copy", op_copy, 6 },
	{ "fsync", op_sync, 5 },
	{ "close", op_close, 3 },
	{ "seek", op_seek, 3 },
	{ "unlink", op_unlink, 2 },
	{ "rename", op_rename, 2 },
};

static const struct op *pick(void)
{
	unsigned int sum = 0, at;
	size_t i;

	for (i = 0; i < sizeof(ops) / sizeof(*ops); i++)
		sum += ops[i].weight;
	at = (unsigned int)random_below(sum);
	for (i = 0; at >= ops[i].weight; i++)
		at -= ops[i].weight;
	return &ops[i];
}

static void step(void)
{
	struct file *f = &files[random_below(N_FILES)];
	const struct op *op = pick();

	if (was_killed()) {
		after_kill();
	} else if (!f->is_there) {
		doing = "create";
		op_create(f);
	} else if (open_file(f) && !was_killed()) {
		doing = f->n_log >= MAX_LOG - 2 ? "fsync" : op->name;
		if (f->n_log >= MAX_LOG - 2)
			op_sync(f);
		else
			op->run(f);
		shared->n_ops++;
	}
}

/* At the end every file is what it must be, byte for byte. */
static void check_all(void)
{
	doing = "at the end";
	if (was_killed())
		after_kill();
	for (unsigned int i = 0; i < N_FILES; i++) {
		struct file *f = &files[i];

		if (!f->is_there || !open_file(f))
			continue;
		forget_log(f);
		adopt(f);
	}
}

static int process(unsigned int n, uint64_t seed)
{
	who = n;
	rng = (seed + 1) * 0x9e3779b97f4a7c15ULL + n;
	seen = shared->kills;
	for (unsigned int i = 0; i < N_FILES; i++) {
		files[i].fd = -1;
		files[i].now = calloc(1, MAX_LEN);
		snprintf(files[i].name, sizeof(files[i].name), "p%u-%u", n, i);
	}
	while (!shared->is_over)
		step();
	check_all();
	return 0;
}

static pid_t daemon_pid;

static void start_daemon(char **argv)
{
	uint64_t end = now_ms() + MOUNT_MS;

	daemon_pid = fork();
	if (!daemon_pid) {
		execv(argv[0], argv);
		_exit(127);
	}
	while (access(folder, F_OK)) {
		if (waitpid(daemon_pid, NULL, WNOHANG) == daemon_pid ||
		    now_ms() > end)
			give_up("the daemon does not come");
		sleep_us(2000);
	}
}

static void kill_daemon(void)
{
	kill(daemon_pid, SIGKILL);
	waitpid(daemon_pid, NULL, 0);
	if (umount2(mountpoint, MNT_DETACH))
		give_up("umount: %s", strerror(errno));
}

static bool is_failed(const pid_t *pids, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		if (waitpid(pids[i], NULL, WNOHANG) == pids[i])
			return true;
	return false;
}

/* Until so many more were done, in the middle of one; or nothing goes on. */
static void await_ops(uint64_t n)
{
	uint64_t wanted = shared->n_ops + n, end = now_ms() + STALL_MS;

	while (shared->n_ops < wanted && now_ms() < end)
		sleep_us(500);
	sleep_us((unsigned int)random_below(10000));
}

int main(int argc, char **argv)
{
	unsigned int n_procs, kills = 0, n_kills = 0;
	uint64_t seed, end;
	pid_t pids[N_PROCS];
	int failed = 0;

	if (argc < 6 || argc == 7) {
		fprintf(stderr,
			"usage: memx MOUNTPOINT FOLDER SEED SECONDS PROCESSES [KILLS DAEMON [ARG]...]\n");
		return 2;
	}
	mountpoint = argv[1];
	folder = argv[2];
	seed = strtoull(argv[3], NULL, 0);
	n_procs = (unsigned int)atoi(argv[5]);
	if (n_procs > N_PROCS)
		n_procs = N_PROCS;
	if (argc > 6)
		kills = (unsigned int)atoi(argv[6]);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	who = N_PROCS;
	doing = "the one that kills";
	rng = seed * 2 + 1;
	is_killing = kills;
	if (kills)
		start_daemon(argv + 7);
	for (unsigned int i = 0; i < n_procs; i++) {
		pids[i] = fork();
		if (!pids[i])
			return process(i, seed);
	}
	end = now_ms() + (uint64_t)atoi(argv[4]) * 1000;
	while (n_kills < kills || now_ms() < end) {
		await_ops(random_below(MAX_OPS));
		if (is_failed(pids, n_procs)) {
			failed = 1;
			break;
		}
		if (n_kills >= kills)
			continue;
		shared->kills++;
		/* some are in the middle of what they do, some are not */
		sleep_us((unsigned int)random_below(2000));
		kill_daemon();
		start_daemon(argv + 7);
		n_kills++;
		shared->kills++;
	}
	shared->is_over = true;
	for (unsigned int i = 0; i < n_procs; i++) {
		int status = 0;

		if (waitpid(pids[i], &status, 0) == pids[i] && status)
			failed = 1;
	}
	if (kills && !failed) {
		kill(daemon_pid, SIGTERM);
		waitpid(daemon_pid, NULL, 0);
	}
	printf("seed %llu: %llu operations, %u kills, %llu files whole after them\n",
	       (unsigned long long)seed, (unsigned long long)shared->n_ops,
	       n_kills, (unsigned long long)shared->n_checks);
	return failed;
}
