// SPDX-License-Identifier: GPL-2.0-or-later
/* Memory of simulated dies: sparse files and the ranges that show them. */
#include "lib/dev_sim_mem.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/dev_sim_opt.h"
#include "lib/why.h"

/* include/uapi/linux/mman.h, Linux 5.7; glibc has it from 2.32 */
#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

#define DEFAULT_TMPDIR "/var/tmp"

/* A sparse file nobody else can open. */
static int open_unlinked(off_t size)
{
	const char *tmpdir = secure_getenv("TMPDIR");
	char path[PATH_MAX];
	int fd, ret;

	if (!tmpdir || !*tmpdir)
		tmpdir = DEFAULT_TMPDIR;
	ret = snprintf(path, sizeof(path), "%s/barswap-XXXXXX", tmpdir);
	if (ret >= (int)sizeof(path))
		return -ENAMETOOLONG;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (!unlink(path) && !ftruncate(fd, size))
		return fd;
	ret = -errno;
	close(fd);
	return ret;
}

/* "512 MiB": in the largest unit that needs no fraction. */
static const char *size_text(char *buf, size_t len, uint64_t bytes)
{
	static const char *const units[] = { "bytes", "KiB", "MiB", "GiB" };
	unsigned int unit = 0;

	while (bytes && bytes % KIB == 0 && unit + 1 < ARRAY_SIZE(units)) {
		bytes /= KIB;
		unit++;
	}
	snprintf(buf, len, "%llu %s", (unsigned long long)bytes, units[unit]);
	return buf;
}

/* Whether a file that is there may be a die of @size bytes. */
static int check_file(const char *dir, int die, const struct stat *st, off_t size)
{
	char has[32], wanted[32];

	if (!S_ISREG(st->st_mode)) {
		why_set("%s/die%d: not a regular file", dir, die);
		return S_ISDIR(st->st_mode) ? -EISDIR : -EINVAL;
	}
	if (st->st_size == size)
		return 0;
	why_set("%s/die%d holds %s, not %s", dir, die,
		size_text(has, sizeof(has), (uint64_t)st->st_size),
		size_text(wanted, sizeof(wanted), (uint64_t)size));
	return -EINVAL;
}

static void name_of(char *name, size_t len, int die)
{
	snprintf(name, len, "die%d", die);
}

/* Before any file is made: what is there is not one of another shape. */
static int check_dir(struct sim *s, const char *dir)
{
	struct stat st;
	char name[16];
	int ret = 0;

	for (unsigned int i = 0; i < s->n_dies && !ret; i++) {
		name_of(name, sizeof(name), (int)i);
		if (!fstatat(s->dir_fd, name, &st, 0))
			ret = check_file(dir, (int)i, &st, (off_t)s->vram_bytes);
		else if (errno != ENOENT)
			ret = -errno;
	}
	return ret;
}

static int open_in_dir(struct sim *s, struct sim_die *die)
{
	char name[16];
	int fd, ret;

	name_of(name, sizeof(name), die->id);
	fd = openat(s->dir_fd, name, O_RDWR | O_CLOEXEC);
	if (fd >= 0)
		return fd;
	if (errno != ENOENT)
		return -errno;
	fd = openat(s->dir_fd, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	if (!ftruncate(fd, (off_t)s->vram_bytes)) {
		die->is_new = true;
		return fd;
	}
	ret = -errno;
	unlinkat(s->dir_fd, name, 0);
	close(fd);
	return ret;
}

/* A folder is left as it was found. */
static void remove_new(struct sim *s)
{
	char name[16];

	for (unsigned int i = 0; i < s->n_dies; i++) {
		name_of(name, sizeof(name), (int)i);
		if (s->die[i].is_new)
			unlinkat(s->dir_fd, name, 0);
	}
}

static int lock_dir(const char *dir)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int ret;

	if (fd < 0)
		return -errno;
	if (!flock(fd, LOCK_EX | LOCK_NB))
		return fd;
	ret = errno == EWOULDBLOCK ? -EBUSY : -errno;
	close(fd);
	return ret;
}

/* Bytes of address space for a die: whole upper page tables, past its end
 * there is no file. A move is then one entry a GiB: 0.1 ms instead of 5 ms for
 * 512 MiB that were touched. */
static uint64_t span(const struct sim *s)
{
	return (s->vram_bytes + GIB - 1) / GIB * GIB;
}

/*
 * Replaces what is at @addr at once. MAP_FAILED with errno set on failure.
 */
static void *map_at(struct sim *s, void *addr, int fd)
{
	void *at = mmap(addr, span(s), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_FIXED, fd, 0);

	/* unlinked files count as anonymous memory: keep them out of cores */
	if (at != MAP_FAILED)
		madvise(at, span(s), MADV_DONTDUMP);
	return at;
}

/*
 * A die that goes out does not lose its page tables: they move to a second
 * mapping of its file, the stash, and back when it comes in. Taking them down
 * and faulting each page in again made a swap cost 0.1 s a GiB. The kernel
 * moves whole tables where both ranges are aligned to them. The source stays
 * mapped, without pages: it may be touched, or its place be taken, meanwhile.
 */
static bool move_pages(struct sim *s, void *from, void *to)
{
	return mremap(from, span(s), span(s),
		      MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP,
		      to) != MAP_FAILED;
}

/* Linux can do that to files since 5.13; valgrind cannot. */
static bool can_move(int fd)
{
	void *from = mmap(NULL, SIM_PAGE, PROT_READ, MAP_SHARED, fd, 0);
	void *to = mmap(NULL, SIM_PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
			-1, 0);
	bool can = from != MAP_FAILED && to != MAP_FAILED &&
		   mremap(from, SIM_PAGE, SIM_PAGE,
			  MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP,
			  to) != MAP_FAILED;

	if (from != MAP_FAILED)
		munmap(from, SIM_PAGE);
	/* a refusal unmaps it, and somebody else may be there by now */
	if (can)
		munmap(to, SIM_PAGE);
	return can;
}

/* A range for the memory of a die, aligned as the page tables under it. */
static char *reserve(struct sim *s)
{
	uint64_t head;
	char *addr = mmap(NULL, span(s) + GIB, PROT_NONE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (addr == MAP_FAILED)
		return NULL;
	head = -(uintptr_t)addr & (GIB - 1);
	if (head)
		munmap(addr, head);
	munmap(addr + head + span(s), GIB - head);
	return addr + head;
}

static int open_die(struct sim *s, struct sim_die *die)
{
	int fd = s->dir_fd >= 0 ? open_in_dir(s, die)
				: open_unlinked((off_t)s->vram_bytes);

	if (fd < 0)
		return fd;
	die->fd = fd;
	die->addr = reserve(s);
	if (!die->addr || map_at(s, die->addr, s->empty_fd) == MAP_FAILED)
		return -errno;
	if (!can_move(fd))
		return 0;
	die->stash = reserve(s);
	if (!die->stash || map_at(s, die->stash, fd) == MAP_FAILED)
		return -errno;
	return 0;
}

int sim_mem_open(struct sim *s, const char *dir)
{
	int ret = 0;

	s->empty_fd = memfd_create("barswap-empty", MFD_CLOEXEC);
	if (s->empty_fd < 0)
		return -errno;
	if (*dir) {
		int fd = lock_dir(dir);

		if (fd < 0)
			return fd;
		s->dir_fd = fd;
		ret = check_dir(s, dir);
	}
	for (unsigned int i = 0; i < s->n_dies && !ret; i++) {
		ret = open_die(s, &s->die[i]);
		if (ret && !*bs_init_why() && *dir)
			why_set("%s/die%u: %s", dir, i, strerror(-ret));
	}
	if (ret)
		remove_new(s);
	return ret;
}

void sim_mem_close(struct sim *s)
{
	for (unsigned int i = 0; i < s->n_dies; i++) {
		if (s->die[i].addr)
			munmap(s->die[i].addr, span(s));
		if (s->die[i].stash)
			munmap(s->die[i].stash, span(s));
		if (s->die[i].fd >= 0)
			close(s->die[i].fd);
	}
	if (s->empty_fd >= 0)
		close(s->empty_fd);
	/* last: it carries the lock on the folder */
	if (s->dir_fd >= 0)
		close(s->dir_fd);
}

int sim_mem_show(struct sim *s, struct sim_die *die)
{
	if (die->is_shown)
		return 0;
	if (!(die->stash && move_pages(s, die->stash, die->addr)) &&
	    map_at(s, die->addr, die->fd) == MAP_FAILED)
		return -errno;
	die->is_shown = true;
	return 0;
}

int sim_mem_hide(struct sim *s, struct sim_die *die)
{
	/* twice would move the empty file into the stash */
	if (!die->is_shown)
		return 0;
	/* a move that failed may have unmapped where it was to go */
	if (die->stash && !move_pages(s, die->addr, die->stash) &&
	    map_at(s, die->stash, die->fd) == MAP_FAILED)
		return -errno;
	if (map_at(s, die->addr, s->empty_fd) == MAP_FAILED)
		return -errno;
	die->is_shown = false;
	return 0;
}

static int punch(int fd, uint64_t off, uint64_t len)
{
	int ret;

	do {
		ret = fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
				(off_t)off, (off_t)len);
	} while (ret && errno == EINTR);
	return ret ? -errno : 0;
}

static int write_zeroes(int fd, uint64_t off, uint64_t len)
{
	static const char zeroes[64 * KIB];

	while (len) {
		ssize_t n =
			pwrite(fd, zeroes, MIN(len, sizeof(zeroes)), (off_t)off);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		off += (uint64_t)n;
		len -= (uint64_t)n;
	}
	return 0;
}

int sim_mem_zero(struct sim_die *die, uint64_t off, uint64_t len)
{
	int ret = punch(die->fd, off, len);

	return ret == -EOPNOTSUPP ? write_zeroes(die->fd, off, len) : ret;
}

int sim_mem_wipe(struct sim *s, struct sim_die *die)
{
	int ret = punch(die->fd, 0, s->vram_bytes);

	if (ret != -EOPNOTSUPP)
		return ret;
	if (ftruncate(die->fd, 0) || ftruncate(die->fd, (off_t)s->vram_bytes))
		return -errno;
	return 0;
}
