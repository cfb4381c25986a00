/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cb: one cell of the benchmark. Jobs read or write blocks for a fixed time;
 * one line of JSON says how fast, how late and at what CPU cost.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"

#define BLOCK_ALIGN 4096
#define JOBS_MAX    64
/* latency buckets: 64 steps an octave, so within 1.6 % */
#define STEP_BITS 6
#define STEPS     (1u << STEP_BITS)
#define BUCKETS   ((64 - STEP_BITS + 1) * STEPS)

enum op {
	OP_READ,
	OP_WRITE,
	OP_STAT,
};

static struct {
	enum op op;
	bool is_random;
	bool is_direct;
	bool is_mapped;
	size_t block;
	uint64_t size;
	uint64_t think_ns;
	uint64_t begin_ns;
	uint64_t end_ns;
	FILE *latencies;
} cfg = { .block = MIB };

struct job {
	pthread_t thread;
	const char *path;
	int fd;
	uint8_t *map;
	uint8_t *buf;
	uint64_t start;
	uint64_t len;
	uint64_t rng;
	uint64_t bytes;
	uint64_t ops;
	uint64_t max_ns;
	uint32_t *hist;
};

static struct job jobs[JOBS_MAX];
static int n_jobs = 1;
static pthread_mutex_t latencies_lock = PTHREAD_MUTEX_INITIALIZER;

static void die(const char *what, const char *path)
{
	fprintf(stderr, "cb: %s %s: %s\n", what, path, strerror(errno));
	exit(1);
}

static unsigned int bucket_of(uint64_t ns)
{
	unsigned int shift;

	if (ns < STEPS)
		return (unsigned int)ns;
	shift = 63 - (unsigned int)__builtin_clzll(ns) - STEP_BITS;
	return (shift + 1) * STEPS + (unsigned int)((ns >> shift) - STEPS);
}

static double bucket_us(unsigned int b)
{
	unsigned int shift = b < STEPS ? 0 : b / STEPS - 1;
	uint64_t base = b < STEPS ? b : STEPS + b % STEPS;

	return (double)(base << shift) / NSEC_PER_USEC;
}

/* xorshift64: Marsaglia, "Xorshift RNGs", 2003 */
static uint64_t next_random(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x;
}

static void one_block(struct job *job, uint64_t off)
{
	size_t len = cfg.block;
	struct stat st;
	ssize_t n;

	if (cfg.op == OP_STAT) {
		if (stat(job->path, &st))
			die("stat", job->path);
		return;
	}
	if (cfg.is_mapped) {
		if (cfg.op == OP_READ)
			memcpy(job->buf, job->map + off, len);
		else
			memcpy(job->map + off, job->buf, len);
		return;
	}
	if (cfg.op == OP_READ)
		n = pread(job->fd, job->buf, len, (off_t)off);
	else
		n = pwrite(job->fd, job->buf, len, (off_t)off);
	if (n < 0)
		die(cfg.op == OP_READ ? "read" : "write", job->path);
	if ((size_t)n != len) {
		errno = ERANGE;
		die("short transfer", job->path);
	}
}

static void note_latency(struct job *job, uint64_t ns)
{
	job->hist[bucket_of(ns)]++;
	if (ns > job->max_ns)
		job->max_ns = ns;
	if (!cfg.latencies)
		return;
	pthread_mutex_lock(&latencies_lock);
	fprintf(cfg.latencies, "%.1f\n", (double)ns / NSEC_PER_USEC);
	pthread_mutex_unlock(&latencies_lock);
}

static void think(struct job *job)
{
	/* between half and one and a half of the given time */
	uint64_t ns = cfg.think_ns / 2 + next_random(&job->rng) % cfg.think_ns;
	struct timespec ts = { .tv_sec = (time_t)(ns / NSEC_PER_SEC),
			       .tv_nsec = (long)(ns % NSEC_PER_SEC) };

	nanosleep(&ts, NULL);
}

static void *run_job(void *arg)
{
	uint64_t n_blocks, i = 0, k, t0, t1;
	struct job *job = arg;

	n_blocks = job->len / cfg.block;
	t1 = now_ns();
	while (t1 < cfg.end_ns) {
		if (cfg.think_ns) {
			think(job);
			t1 = now_ns();
		}
		k = cfg.is_random ? next_random(&job->rng) : i++;
		t0 = t1;
		one_block(job, job->start + k % n_blocks * cfg.block);
		t1 = now_ns();
		if (t0 < cfg.begin_ns || t0 >= cfg.end_ns)
			continue;
		/* the last one is late, but its wait was real */
		note_latency(job, t1 - t0);
		if (t1 > cfg.end_ns)
			continue;
		job->ops++;
		job->bytes += cfg.block;
	}
	return NULL;
}

static void job_open(struct job *job, int share, int n_shares)
{
	int flags = cfg.op == OP_WRITE || cfg.is_mapped ? O_RDWR : O_RDONLY;
	struct stat st;
	uint64_t off;

	job->hist = calloc(BUCKETS, sizeof(*job->hist));
	job->buf = aligned_alloc(BLOCK_ALIGN, cfg.block);
	if (!job->hist || !job->buf)
		die("memory for", job->path);
	memset(job->buf, 0x5a, cfg.block);
	if (cfg.op == OP_STAT) {
		job->len = cfg.block;
		return;
	}
	if (cfg.is_direct)
		flags |= O_DIRECT;
	job->fd = open(job->path, flags | O_CLOEXEC);
	if (job->fd < 0 && errno == EINVAL && cfg.is_direct)
		/* tmpfs before Linux 6.6 */
		job->fd = open(job->path, (flags & ~O_DIRECT) | O_CLOEXEC);
	if (job->fd < 0 || fstat(job->fd, &st))
		die("open", job->path);
	job->len = cfg.size ? cfg.size : (uint64_t)st.st_size;
	job->len = job->len / (uint64_t)n_shares / cfg.block * cfg.block;
	job->start = job->len * (uint64_t)share;
	if (!job->len) {
		errno = EINVAL;
		die("less than a block in", job->path);
	}
	if (!cfg.is_mapped)
		return;
	job->map = mmap(NULL, (size_t)(job->start + job->len),
			PROT_READ | PROT_WRITE, MAP_SHARED, job->fd, 0);
	if (job->map == MAP_FAILED)
		die("mmap", job->path);
	/* page faults are not what is measured; MAP_POPULATE leaves some */
	for (off = job->start; off < job->start + job->len; off += BLOCK_ALIGN)
		(void)*(volatile uint8_t *)(job->map + off);
}

static uint64_t cpu_ns(clockid_t clock)
{
	struct timespec ts;

	if (clock_gettime(clock, &ts))
		return 0;
	return (uint64_t)ts.tv_sec * NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
}

static void sleep_until(uint64_t ns)
{
	struct timespec ts = { .tv_sec = (time_t)(ns / NSEC_PER_SEC),
			       .tv_nsec = (long)(ns % NSEC_PER_SEC) };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL))
		;
}

static double percentile(const uint32_t *hist, uint64_t n, double p)
{
	uint64_t want = (uint64_t)((double)n * p), seen = 0;
	unsigned int b;

	for (b = 0; b < BUCKETS; b++) {
		seen += hist[b];
		if (seen > want)
			return bucket_us(b);
	}
	return 0;
}

static void report(double secs, uint64_t client_ns, uint64_t server_ns)
{
	uint64_t bytes = 0, ops = 0, n = 0, max_ns = 0;
	static uint32_t hist[BUCKETS];
	double mib, done;
	unsigned int b;
	int i;

	for (i = 0; i < n_jobs; i++) {
		bytes += jobs[i].bytes;
		ops += jobs[i].ops;
		if (jobs[i].max_ns > max_ns)
			max_ns = jobs[i].max_ns;
		for (b = 0; b < BUCKETS; b++) {
			hist[b] += jobs[i].hist[b];
			n += jobs[i].hist[b];
		}
	}
	mib = bytes ? (double)bytes / MIB : 1;
	done = ops ? (double)ops : 1;
	printf("{\"mib_s\":%.2f,\"iops\":%.1f,\"n\":%llu,",
	       (double)bytes / MIB / secs, (double)ops / secs,
	       (unsigned long long)n);
	printf("\"p50_us\":%.2f,\"p99_us\":%.2f,\"max_us\":%.2f,",
	       percentile(hist, n, 0.5), percentile(hist, n, 0.99),
	       (double)max_ns / NSEC_PER_USEC);
	printf("\"client_us_mib\":%.2f,\"server_us_mib\":%.2f,",
	       (double)client_ns / NSEC_PER_USEC / mib,
	       (double)server_ns / NSEC_PER_USEC / mib);
	printf("\"client_us_op\":%.3f,\"server_us_op\":%.3f,\"jobs_mib_s\":[",
	       (double)client_ns / NSEC_PER_USEC / done,
	       (double)server_ns / NSEC_PER_USEC / done);
	for (i = 0; i < n_jobs; i++)
		printf("%s%.1f", i ? "," : "",
		       (double)jobs[i].bytes / MIB / secs);
	printf("]}\n");
}

static void usage(void)
{
	fputs("usage: cb [-m r|w|s] [-R] [-D] [-M] [-b BLOCK] [-j JOBS]\n"
	      "          [-t MS] [-w MS] [-s SIZE] [-T THINK_US] [-c CPU]\n"
	      "          [-P PID] [-L FILE] FILE...\n"
	      "-m  read, write or stat        -R  random blocks\n"
	      "-D  O_DIRECT                   -M  memcpy on a mapping\n"
	      "-t  measured time              -w  time before that\n"
	      "-s  bytes used of each file    -T  pause before each block\n"
	      "-c  pin to a CPU               -P  whose CPU time to count\n"
	      "-L  append each latency in us to a file\n"
	      "Job i uses file i modulo their number; jobs share a file in\n"
	      "equal parts.\n",
	      stderr);
	exit(2);
}

static uint64_t number(const char *text)
{
	unsigned long long v;
	char *end;

	errno = 0;
	v = strtoull(text, &end, 10);
	if (end == text || errno)
		usage();
	switch (*end) {
	case 'K':
		v *= KIB;
		break;
	case 'M':
		v *= MIB;
		break;
	case 'G':
		v *= GIB;
		break;
	case 0:
		return v;
	default:
		usage();
	}
	if (end[1])
		usage();
	return v;
}

static void pin(uint64_t cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("pin to", "CPU");
}

int main(int argc, char **argv)
{
	uint64_t warm_ns = 0, run_ns = 400 * NSEC_PER_MSEC, client, server;
	clockid_t server_clock = 0;
	bool has_server = false;
	int opt, i, n_files;

	while ((opt = getopt(argc, argv, "m:RDMb:j:t:w:s:T:c:P:L:")) != -1) {
		switch (opt) {
		case 'm':
			cfg.op = *optarg == 'w'   ? OP_WRITE
				 : *optarg == 's' ? OP_STAT
						  : OP_READ;
			break;
		case 'R':
			cfg.is_random = true;
			break;
		case 'D':
			cfg.is_direct = true;
			break;
		case 'M':
			cfg.is_mapped = true;
			break;
		case 'b':
			cfg.block = (size_t)number(optarg);
			break;
		case 'j':
			n_jobs = (int)number(optarg);
			break;
		case 't':
			run_ns = number(optarg) * NSEC_PER_MSEC;
			break;
		case 'w':
			warm_ns = number(optarg) * NSEC_PER_MSEC;
			break;
		case 's':
			cfg.size = number(optarg);
			break;
		case 'T':
			cfg.think_ns = number(optarg) * NSEC_PER_USEC;
			break;
		case 'c':
			pin(number(optarg));
			break;
		case 'P':
			errno = clock_getcpuclockid((pid_t)number(optarg),
						    &server_clock);
			if (errno)
				die("CPU clock of", optarg);
			has_server = true;
			break;
		case 'L':
			cfg.latencies = fopen(optarg, "a");
			if (!cfg.latencies)
				die("open", optarg);
			break;
		default:
			usage();
		}
	}
	n_files = argc - optind;
	if (n_files < 1 || n_jobs < 1 || n_jobs > JOBS_MAX || !cfg.block ||
	    cfg.block % BLOCK_ALIGN)
		usage();
	for (i = 0; i < n_jobs; i++) {
		jobs[i].path = argv[optind + i % n_files];
		jobs[i].rng = 88172645463325252ull + (uint64_t)i * 7919;
		job_open(&jobs[i], i / n_files,
			 (n_jobs - i % n_files + n_files - 1) / n_files);
	}
	cfg.begin_ns = now_ns() + warm_ns;
	cfg.end_ns = cfg.begin_ns + run_ns;
	for (i = 0; i < n_jobs; i++) {
		errno = pthread_create(&jobs[i].thread, NULL, run_job, &jobs[i]);
		if (errno)
			die("thread for", jobs[i].path);
	}
	sleep_until(cfg.begin_ns);
	client = cpu_ns(CLOCK_PROCESS_CPUTIME_ID);
	server = has_server ? cpu_ns(server_clock) : 0;
	sleep_until(cfg.end_ns);
	client = cpu_ns(CLOCK_PROCESS_CPUTIME_ID) - client;
	server = has_server ? cpu_ns(server_clock) - server : 0;
	for (i = 0; i < n_jobs; i++)
		pthread_join(jobs[i].thread, NULL);
	report((double)run_ns / NSEC_PER_SEC, client, server);
	if (cfg.latencies && fclose(cfg.latencies))
		die("write", "latencies");
	return 0;
}
