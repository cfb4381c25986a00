/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * k80fs: start, wait until the mount works, serve, stop.
 */
#include <errno.h>
#include <fcntl.h>
#include <fuse_lowlevel.h>
#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "base/notify.h"
#include "base/util.h"
#include "compute/compute.h"
#include "fuse/attr.h"
#include "fuse/compute.h"
#include "fuse/end.h"
#include "fuse/file.h"
#include "fuse/fs.h"
#include "fuse/handle.h"
#include "fuse/inval.h"
#include "fuse/look.h"
#include "fuse/loop.h"
#include "fuse/ops.h"
#include "fuse/share.h"
#include "fuse/status.h"
#include "fuse/tell.h"
#include "fuse/uring.h"
#include "mem/mem.h"
#include "text/quote.h"

#define EXIT_USAGE 2

/* copies are bound by memory, not by cores: enough to hide one that stalls */
#define COPY_THREADS 4
/* clears and copies between dies: as many as help where no die waits for its
 * turn */
#define LONG_THREADS 4

/* written to by the daemon when the mount works, read by who started it */
static int ready_fd = -1;

static void on_libfuse_log(enum fuse_log_level level, const char *fmt, va_list ap)
{
	char line[512];
	size_t len;

	vsnprintf(line, sizeof(line), fmt, ap);
	len = strlen(line);
	if (len && line[len - 1] == '\n')
		line[len - 1] = '\0';
	if (level <= FUSE_LOG_ERR)
		log_err("%s", line);
	else if (level <= FUSE_LOG_WARNING)
		log_warn("%s", line);
	else
		log_debug("%s", line);
}

/*
 * Whatever is opened later must not become 0, 1 or 2, which leave_terminal()
 * replaces.
 */
static int fill_standard_fds(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDWR);
	} while (fd >= 0 && fd <= 2);
	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

/*
 * In the background nothing may write to whatever stderr was. Not before the
 * mount is made and looked at: autofs lets the process group that it waits for
 * past, and nobody else.
 */
static void leave_terminal(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	setsid();
	if (null < 0)
		return;
	for (int fd = 0; fd <= 2; fd++)
		dup2(null, fd);
	close(null);
}

/*
 * Tells whoever started us that the tree is there. stat(2) waits until the
 * kernel and the session have agreed, or fails if they cannot.
 */
static void *announce(void *arg)
{
	struct fs *fs = arg;
	char path[PATH_MAX];
	struct stat st;
	int ret;

	snprintf(path, sizeof(path), "%s/status", fs->opts->mountpoint);
	ret = fs_look(path, fuse_session_fd(fs->se), &st);
	if (ret) {
		/* it was let go before anybody could look: what there is now
		 * below that name has no such file; or it was cut off */
		if (fs->end.has_begun || fs->is_agreed || ret == -ENOENT)
			return NULL;
		quote_line(stderr, "k80fs: %s: mounted, but does not work: %s",
			   fs->opts->mountpoint, strerror(-ret));
		fs->is_broken = true;
		fuse_session_exit(fs->se);
		fs_end_wake(fs);
		return NULL;
	}
	fs->end.dev = st.st_dev;
	if (!fs->opts->foreground) {
		log_init(false, LOG_LEVEL_INFO);
		leave_terminal();
	}
	if (fs->uring.depth && !fs->uring.is_live)
		log_warn("io_uring: libfuse could not start it; using /dev/fuse");
	log_info("%s: backend %s, %u dies, copy %s, transport %s",
		 fs->opts->mountpoint, fs->be.ops->name, fs->be.n_dies,
		 fs->be.copy_name, fs->transport);
	fs_tell_ready(fs);
	if (ready_fd >= 0 && write(ready_fd, "", 1) != 1)
		log_warn("whoever started k80fs is gone");
	if (ready_fd >= 0)
		close(ready_fd);
	ready_fd = -1;
	return NULL;
}

static const char *sim_advice(int err)
{
	switch (err) {
	case EINVAL:
		return ": dies are 1 to 16, sizes whole pages of 4096 up to 1T, "
		       "with a carve-out more than 512M, swap_us up to 100000000";
	case EBUSY:
		return ": another k80fs uses this sim_dir";
	case ENOENT:
	case ENOTDIR:
	case EACCES:
	case EROFS:
		return ": look at sim_dir and sim_ctl, or at TMPDIR without them";
	case ENOMEM:
		return ": address space of all dies is needed (ulimit -v)";
	case EMFILE:
		return ": each die takes files of its own (ulimit -n)";
	case EFBIG:
		return ": a die's file is as long as its memory (ulimit -f)";
	default:
		return "";
	}
}

/* The simulator's options as they were given. */
static void say_why_no_sim(const struct options *o, int err)
{
	const char *given = strchr(o->device, ':');
	char *parts = strdup(given ? given + 1 : ""), *save, *part;

	fprintf(stderr, "k80fs: simulator");
	for (part = parts ? strtok_r(parts, ",", &save) : NULL; part;
	     part = strtok_r(NULL, ",", &save)) {
		fputs(" sim_", stderr);
		quote_plain(stderr, part);
	}
	free(parts);
	fprintf(stderr, ": %s%s\n", strerror(err), sim_advice(err));
}

/* One line: what could not be opened, and the ways on. */
static void say_why_no_backend(const struct fs *fs, int err)
{
	const struct options *o = fs->opts;
	const char *why = strerror(err);

	if (*fs->be.why)
		quote_line(stderr, "k80fs: %s", fs->be.why);
	else if (!strcmp(o->backend, "cuda"))
		fprintf(stderr, "k80fs: cuda: %s\n", why);
	else if (!strcmp(o->backend, "sim"))
		say_why_no_sim(o, err);
	else if (err == EACCES || err == EPERM)
		quote_line(stderr,
			   "k80fs: %s: %s: run as root or as a member of group k80",
			   o->device, why);
	else if (err == ENOTTY)
		quote_line(stderr, "k80fs: %s: this is not the node of bar_swap",
			   o->device);
	else if (err == EPROTO)
		quote_line(stderr,
			   "k80fs: %s: the module is of another version; install the one that came with k80fs",
			   o->device);
	else
		quote_line(stderr,
			   "k80fs: %s: %s: load the module (modprobe bar_swap), or try simulated dies with -o backend=sim",
			   o->device, why);
}

static int learn_tree(struct fs *fs)
{
	struct node_die dies[BACKEND_MAX_DIES] = { 0 };
	struct bs_info info;

	for (unsigned int die = 0; die < fs->be.n_dies; die++) {
		int ret = backend_info(&fs->be, die, &info);

		if (ret)
			return ret;
		memcpy(dies[die].bdf, info.bdf, sizeof(dies[die].bdf));
		/* a device whose memory is that of files alone has none */
		dies[die].has_vram = info.vram_bytes || !fs->mem;
		dies[die].has_resmem = info.resmem_bytes > 0;
		dies[die].has_mem = fs->mem && !mem_why(fs->mem, die);
	}
	node_init(&fs->nodes, fs->be.n_dies, dies, fs->opts->compute);
	fs_attr_init(fs);
	fs_handle_init(fs, dies);
	return 0;
}

/* Kernels run where the die's memory is: one of several devices, or one that
 * was asked for, has not always the die's number. */
static bool learn_uuids(struct fs *fs, uint8_t (*uuid)[BACKEND_UUID_LEN])
{
	if (!fs->be.ops->uuid ||
	    (fs->be.n_dies == 1 && !strstr(fs->opts->device, "devices=")))
		return false;
	for (unsigned int die = 0; die < fs->be.n_dies; die++)
		if (backend_uuid(&fs->be, die, uuid[die]))
			return false;
	return true;
}

/* On the module's dies it is the bound driver that works; others are CUDA
 * devices by number. */
static int compute_open(struct fs *fs)
{
	static char bdf[BACKEND_MAX_DIES][16];
	static uint8_t uuid[BACKEND_MAX_DIES][BACKEND_UUID_LEN];
	struct compute_config cfg = {
		.sched = fs->io.sched,
		.n_dies = fs->be.n_dies,
		.is_streams = fs->opts->streams,
		.has_slot = fs->be.ops->has_slot,
		.wait_ns = fs->io.wait_ns,
		.lease_fd = backend_lease_fd(&fs->be),
		.logged = fs_compute_logged,
		.memory = fs->be.ops->has_chunks ? fs_share_memory : NULL,
		.arg = fs,
	};
	struct bs_info info;

	if (!fs->opts->compute)
		return 0;
	if (cfg.lease_fd >= 0) {
		for (unsigned int die = 0; die < fs->be.n_dies; die++)
			if (!backend_info(&fs->be, die, &info))
				memcpy(bdf[die], info.bdf, sizeof(bdf[die]));
		cfg.node = fs->opts->device;
		cfg.bdf = (const char(*)[16])bdf;
	}
	if (learn_uuids(fs, uuid))
		cfg.uuid = (const uint8_t(*)[BACKEND_UUID_LEN])uuid;
	fs->be.with_driver = true;
	return compute_start(&fs->compute, &cfg);
}

/* Dies that cannot have files say so in their status. */
static int mem_open(struct fs *fs)
{
	struct mem_config cfg = { .keeper_path = fs->opts->mem_keeper };

	if (!fs->opts->mem)
		return 0;
	mem_start(&fs->mem, &fs->be, &cfg);
	fs_share_start(fs);
	return fs->mem ? 0 : -ENOMEM;
}

/* The engine below a mount: from hardware to scheduler. */
static int engine_start(struct fs *fs)
{
	int ret;

	ret = backend_open(&fs->be, fs->opts->backend, fs->opts->device);
	if (ret) {
		say_why_no_backend(fs, -ret);
		return ret;
	}
	ret = mem_open(fs);
	if (ret)
		goto out_backend;
	ret = learn_tree(fs);
	if (ret)
		goto out_mem;
	fs_files_init(fs);
	fs->io.be = &fs->be;
	fs->io.wait_ns = fs->opts->wait_ms * NSEC_PER_MSEC;
	fs->io.pool = pool_start(COPY_THREADS);
	fs->io.long_pool = pool_start(LONG_THREADS);
	if (!fs->io.pool || !fs->io.long_pool) {
		ret = -errno;
		goto out_pool;
	}
	ret = fs_status_start(fs);
	if (ret)
		goto out_pool;
	ret = fs_inval_start(fs);
	if (ret)
		goto out_status;
	ret = fs_interrupt_start(fs);
	if (ret)
		goto out_inval;
	ret = sched_start(&fs->io.sched, &fs->be, fs_status_changed, fs);
	if (ret)
		goto out_interrupt;
	sched_set_slice(fs->io.sched, fs->opts->slice_ms);
	ret = compute_open(fs);
	if (ret)
		goto out_sched;
	ret = fs_status_watch(fs);
	if (ret)
		goto out_compute;
	io_start(&fs->io);
	return 0;

out_compute:
	compute_stop(fs->compute);
out_sched:
	sched_stop(fs->io.sched);
	sched_free(fs->io.sched);
out_interrupt:
	fs_interrupt_stop(fs);
out_inval:
	fs_inval_stop(fs);
out_status:
	fs_status_stop(fs);
out_pool:
	pool_stop(fs->io.long_pool);
	pool_stop(fs->io.pool);
out_mem:
	fs_share_stop(fs);
	mem_stop(fs->mem);
out_backend:
	backend_close(&fs->be);
	fprintf(stderr, "k80fs: cannot start: %s\n", strerror(-ret));
	return ret;
}

/* When nothing is waited for any more; of an end that took long there is a
 * little time left all the same. */
static uint64_t end_of_patience(struct fs *fs)
{
	return MAX(fs->end.until, now_ns() + NSEC_PER_SEC);
}

/* What was answered gets to its dies. */
static void settle(struct fs *fs)
{
	sched_end_holds(fs->io.sched, end_of_patience(fs) - now_ns());
	io_end(&fs->io);
	fs_files_finish(fs, end_of_patience(fs));
	io_settle(&fs->io, end_of_patience(fs) - now_ns());
}

/* Returns false if something that was answered did not get to its die. */
static bool engine_stop(struct fs *fs)
{
	bool is_whole;
	int ret;

	/* a worker that leaves its die waits for the slot */
	for (unsigned int die = 0; fs->compute && die < fs->be.n_dies; die++)
		sched_unpin(fs->io.sched, die);
	compute_stop(fs->compute);
	settle(fs);
	ret = sched_stop(fs->io.sched);
	pool_stop(fs->io.long_pool);
	pool_stop(fs->io.pool);
	fs_uring_stop(fs);
	/* the thread that invalidates may wait for a page whose read nobody
	 * will answer */
	if (fs->se)
		fs_end_cut(fs);
	fs_interrupt_stop(fs);
	/* it also goes on with lines of ctl */
	fs_inval_stop(fs);
	fs_files_free(fs);
	io_stop(&fs->io);
	fs_status_stop(fs);
	fs_share_stop(fs);
	mem_stop(fs->mem);
	is_whole = fs_end_is_whole(fs);
	if (ret)
		return is_whole;
	sched_free(fs->io.sched);
	backend_close(&fs->be);
	return is_whole;
}

static int mount_and_serve(struct fs *fs, struct fuse_args *args)
{
	pthread_t announcer;
	bool is_whole;
	int ret;

	ret = fs_end_prepare(fs);
	if (!ret)
		ret = engine_start(fs);
	if (ret)
		return ret == -EINVAL ? EXIT_USAGE : EXIT_FAILURE;
	ret = EXIT_FAILURE;
	if (fs_uring_choose(fs, args))
		goto out_engine;
	fs->se = fuse_session_new(args, &fs_ops, sizeof(fs_ops), fs);
	if (!fs->se)
		goto out_engine;
	if (fuse_session_mount(fs->se, fs->opts->mountpoint))
		goto out_session;
	if (pthread_create(&announcer, NULL, announce, fs))
		goto out_unmount;
	if (!fs_loop(fs))
		ret = EXIT_SUCCESS;

	is_whole = engine_stop(fs);
	if (!is_whole)
		ret = EXIT_FAILURE;
	fs_tell_ended(is_whole);
	fuse_session_unmount(fs->se);
	pthread_join(announcer, NULL);
	fuse_session_destroy(fs->se);
	return fs->is_broken ? EXIT_FAILURE : ret;

out_unmount:
	fuse_session_unmount(fs->se);
out_session:
	fuse_session_destroy(fs->se);
	fs->se = NULL;
out_engine:
	engine_stop(fs);
	return ret;
}

/* In the parent: until the mount works, or the daemon has ended without. */
static int wait_until_ready(int fd, pid_t child)
{
	char byte;
	ssize_t n;
	int status;

	do {
		n = read(fd, &byte, 1);
	} while (n < 0 && errno == EINTR);
	if (n == 1)
		return EXIT_SUCCESS;
	if (waitpid(child, &status, 0) == child && WIFEXITED(status))
		return WEXITSTATUS(status) ? WEXITSTATUS(status) : EXIT_FAILURE;
	fprintf(stderr, "k80fs: the daemon ended before the mount worked: %s\n",
		WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "unknown");
	return EXIT_FAILURE;
}

/* Returns in the daemon; the parent exits when the mount works. */
static int go_background(void)
{
	int fds[2];
	pid_t child;

#ifdef SYS_close_range
	/* a lock or a pipe of whoever started us is not ours to keep */
	syscall(SYS_close_range, 3, ~0u, 0);
#endif
	if (pipe2(fds, O_CLOEXEC))
		return -errno;
	child = fork();
	if (child < 0)
		return -errno;
	if (child > 0) {
		close(fds[1]);
		_exit(wait_until_ready(fds[0], child));
	}
	close(fds[0]);
	ready_fd = fds[1];
	return chdir("/") ? -errno : 0;
}

static void show_version(void)
{
	printf("k80fs %s\n"
	       "libfuse %s\n"
	       "transport /dev/fuse%s\n",
	       K80FS_VERSION, fuse_pkgversion(),
	       fs_uring_is_possible() ? ", io_uring" : "");
}

/* What was asked for has been printed, unless it could not be. */
static int flush_stdout(void)
{
	if (!fflush(stdout) && !ferror(stdout))
		return EXIT_SUCCESS;
	fprintf(stderr, "k80fs: standard output: %s\n", strerror(errno));
	return EXIT_FAILURE;
}

int main(int argc, char **argv)
{
	struct fuse_args args = FUSE_ARGS_INIT(argc, argv);
	struct options opts;
	static struct fs fs;
	int ret;

	ret = fill_standard_fds();
	if (ret) {
		fprintf(stderr, "k80fs: /dev/null: %s\n", strerror(-ret));
		return EXIT_FAILURE;
	}
	ret = options_parse(&opts, &args);
	if (ret) {
		ret = EXIT_USAGE;
		goto out;
	}
	if (opts.show_help) {
		options_help(argv[0]);
		ret = flush_stdout();
		goto out;
	}
	if (opts.show_version) {
		show_version();
		ret = flush_stdout();
		goto out;
	}
	fuse_set_log_func(on_libfuse_log);
	/* of one that starts us to have a mount the words are not ours to say */
	notify_init(opts.foreground);
	if (opts.foreground)
		log_init(true, opts.debug ? LOG_LEVEL_DEBUG : LOG_LEVEL_INFO);
	else
		ret = go_background();
	if (ret) {
		fprintf(stderr, "k80fs: cannot go to the background: %s\n",
			strerror(-ret));
		ret = EXIT_FAILURE;
		goto out;
	}
	/* a page that is to be written to a loop device on a die must not wait
	 * for memory of ours, which would wait for that page; not every user
	 * may say so */
	prctl(PR_SET_IO_FLUSHER, 1, 0, 0, 0);
	/* what waited is to be given back, not kept for the next one */
	mallopt(M_MMAP_THRESHOLD, 128 * KIB);
	fs.opts = &opts;
	fs.start_ns = now_ns();
	fs.transport = "/dev/fuse";
	ret = mount_and_serve(&fs, &args);
out:
	fuse_opt_free_args(&args);
	options_free(&opts);
	return ret;
}
