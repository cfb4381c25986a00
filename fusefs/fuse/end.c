/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fuse/end.h"

#include <errno.h>
#include <fcntl.h>
#include <fuse_lowlevel.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mount.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "base/util.h"
#include "compute/compute.h"
#include "fuse/fs.h"
#include "fuse/look.h"
#include "fuse/tell.h"

#define LOOK_MS 100 /* between two looks for the last user */
/* No file is open, but the kernel keeps a mount: a copy of it in some other
 * mount namespace, or a shell whose folder it is. */
#define LINGER_NS (5 * NSEC_PER_SEC)

static void end_signals(sigset_t *set)
{
	struct sigaction hangup;

	sigemptyset(set);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGINT);
	/* whoever ignored that one, nohup say, means it; one that is blocked
	 * would reach us all the same */
	if (sigaction(SIGHUP, NULL, &hangup) || hangup.sa_handler != SIG_IGN)
		sigaddset(set, SIGHUP);
}

int fs_end_prepare(struct fs *fs)
{
	sigset_t set;

	end_signals(&set);
	signal(SIGPIPE, SIG_IGN);
	/* a file that may not be so long (ulimit -f) is an error like any other */
	signal(SIGXFSZ, SIG_IGN);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	fs->end.signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fs->end.signal_fd < 0)
		return -errno;
	fs->end.wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return fs->end.wake_fd < 0 ? -errno : 0;
}

void fs_end_wake(struct fs *fs)
{
	uint64_t one = 1;

	/* can only fail when it would count past 2^64: it is awake then */
	if (write(fs->end.wake_fd, &one, sizeof(one)) < 0)
		return;
}

/* Nothing else was mounted there since. */
static bool is_ours(struct fs *fs)
{
	uint64_t dev = fs->end.dev;
	struct stat st;

	return !dev ||
	       fs_look(fs->opts->mountpoint, fuse_session_fd(fs->se), &st) ||
	       st.st_dev == dev;
}

/* For users that may not do it themselves. Returns 0 or -errno. */
static int let_go_by_fusermount(const char *dir)
{
	char *argv[] = { "fusermount3",          "-u", "-z", "-q", "--",
			 (char *)(uintptr_t)dir, NULL };
	extern char **environ;
	pid_t pid;
	int ret, status;

	ret = -posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ);
	if (ret)
		return ret;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -EPERM;
}

static void let_go(struct fs *fs)
{
	const char *dir = fs->opts->mountpoint;
	int ret = 0;

	if (!is_ours(fs))
		return;
	if (umount2(dir, MNT_DETACH | UMOUNT_NOFOLLOW))
		ret = errno == EPERM ? let_go_by_fusermount(dir) : -errno;
	if (ret)
		log_warn("%s: cannot be let go: %s", dir, strerror(-ret));
	else
		fs->end.is_let_go = true;
}

static uint64_t count_lost(struct fs *fs)
{
	uint64_t n = fs->n_unclear;

	for (unsigned int die = 0; die < fs->be.n_dies; die++)
		n += backend_lost(&fs->be, die);
	return n;
}

bool fs_end_is_whole(struct fs *fs)
{
	return count_lost(fs) == fs->end.n_lost;
}

static void begin(struct fs *fs)
{
	unsigned int n_open = fs->n_open;

	if (n_open)
		log_info("%s: told to stop with %u files open: let go, and served until they are closed",
			 fs->opts->mountpoint, n_open);
	fs->end.has_begun = true;
	fs_tell_ending(fs);
	fs->end.n_lost = count_lost(fs);
	fs->end.until = now_ns() + FS_END_PATIENCE_NS;
	compute_end(fs->compute);
	sched_end_holds(fs->io.sched, FS_END_PATIENCE_NS);
	io_end(&fs->io);
	let_go(fs);
}

static bool is_told(struct fs *fs)
{
	struct signalfd_siginfo info;

	return read(fs->end.signal_fd, &info, sizeof(info)) == sizeof(info);
}

/* Nobody can tell whether we are still there. */
static bool is_abandoned(struct fs *fs, uint64_t *since)
{
	uint64_t now = now_ns();

	if (fs->n_open)
		*since = now;
	return !fs->n_open && (!fs->end.is_let_go || now - *since >= LINGER_NS);
}

void fs_end_await(struct fs *fs)
{
	struct pollfd fds[2] = {
		{ .fd = fs->end.signal_fd, .events = POLLIN },
		{ .fd = fs->end.wake_fd, .events = POLLIN },
	};
	bool is_ending = false;
	uint64_t since = 0;

	while (!fuse_session_exited(fs->se)) {
		poll(fds, 2, is_ending ? LOOK_MS : -1);
		if (is_told(fs) && !is_ending) {
			is_ending = true;
			begin(fs);
			since = now_ns();
		}
		if (is_ending)
			fs_tell_ending(fs);
		if (is_ending && is_abandoned(fs, &since))
			fuse_session_exit(fs->se);
	}
	fs_tell_ending(fs);
	if (is_ending)
		return;
	fs->end.n_lost = count_lost(fs);
	fs->end.until = now_ns() + FS_END_PATIENCE_NS;
}

/* Whether the kernel has no mount of ours any more. */
static bool is_gone(struct fs *fs)
{
	struct pollfd fd = { .fd = fuse_session_fd(fs->se) };

	return fs->end.is_let_go ||
	       (poll(&fd, 1, 0) > 0 && (fd.revents & POLLERR));
}

void fs_end_cut(struct fs *fs)
{
	int fds[2] = { -1, -1 };

	/* libfuse takes a descriptor that gives POLLERR for a mount that is
	 * gone; another one may be in its place by now */
	if (is_gone(fs)) {
		if (pipe2(fds, O_CLOEXEC))
			return;
		close(fds[0]);
	} else {
		fds[1] = open("/dev/null", O_WRONLY | O_CLOEXEC);
	}
	if (fds[1] < 0)
		return;
	dup3(fds[1], fuse_session_fd(fs->se), O_CLOEXEC);
	close(fds[1]);
}
