/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How much of a device's memory is taken, by this process and others.
 *
 * With STANDIN_LEDGER each piece is a file there, locked by the description
 * that its holders share: it is taken as long as one of them has it open or
 * mapped, whatever process that is and however it ends. A file that can be
 * locked anew is nobody's, and is removed by who looks.
 */
#include "standin.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"

#define NAME "standin-memory"

/* What a fresh piece holds at both ends: some other process's data. */
#define OLD_BYTES ((size_t)1 << 20)

static struct {
	pthread_mutex_t lock; /* guards all below */
	size_t used[STANDIN_MAX_DEVICES]; /* without a folder */
	unsigned int n; /* files that this process made */
} ledger = { .lock = PTHREAD_MUTEX_INITIALIZER };

static int lock_folder(const char *dir)
{
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "%s/lock", dir);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || flock(fd, LOCK_EX)) {
		perror(path);
		abort();
	}
	return fd;
}

/* Bytes of a file that somebody has; one that nobody has goes. */
static size_t held(const char *dir, const char *name)
{
	char path[512];
	struct stat st;
	size_t len = 0;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return 0;
	if (!flock(fd, LOCK_EX | LOCK_NB))
		unlink(path);
	else if (!fstat(fd, &st))
		len = (size_t)st.st_size;
	close(fd);
	return len;
}

static size_t used_locked(const char *dir, int device)
{
	char prefix[64];
	struct dirent *e;
	size_t sum = 0;
	DIR *d;

	if (!dir)
		return ledger.used[device];
	snprintf(prefix, sizeof(prefix), NAME "-%s-", standin_bdf(device));
	d = opendir(dir);
	while (d && (e = readdir(d)))
		if (!strncmp(e->d_name, prefix, strlen(prefix)))
			sum += held(dir, e->d_name);
	if (d)
		closedir(d);
	return sum;
}

size_t standin_used(int device)
{
	const char *dir = getenv("STANDIN_LEDGER");
	int folder = dir ? lock_folder(dir) : -1;
	size_t sum;

	pthread_mutex_lock(&ledger.lock);
	sum = used_locked(dir, device);
	pthread_mutex_unlock(&ledger.lock);
	if (dir)
		close(folder);
	return sum;
}

static int new_file_locked(const char *dir, int device)
{
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "%s/" NAME "-%s-%d-%u", dir ? dir : "",
		 standin_bdf(device), getpid(), ledger.n++);
	if (!dir)
		return memfd_create(path + 1, MFD_CLOEXEC);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd >= 0)
		flock(fd, LOCK_SH);
	return fd;
}

int standin_take(int device, size_t len)
{
	const char *dir = getenv("STANDIN_LEDGER");
	int folder = dir ? lock_folder(dir) : -1;
	size_t used;
	int fd = -1;

	pthread_mutex_lock(&ledger.lock);
	used = used_locked(dir, device);
	if (used <= standin_vram() && len <= standin_vram() - used)
		fd = new_file_locked(dir, device);
	if (fd >= 0 && ftruncate(fd, (off_t)len)) {
		close(fd);
		fd = -1;
	}
	if (fd >= 0)
		ledger.used[device] += len;
	pthread_mutex_unlock(&ledger.lock);
	if (dir)
		close(folder);
	return fd;
}

void standin_give(int device, size_t len, int fd)
{
	pthread_mutex_lock(&ledger.lock);
	ledger.used[device] -= len;
	pthread_mutex_unlock(&ledger.lock);
	close(fd);
}

void standin_took(int device, size_t len)
{
	pthread_mutex_lock(&ledger.lock);
	ledger.used[device] += len;
	pthread_mutex_unlock(&ledger.lock);
}

int standin_device_of(int fd)
{
	char link[64], path[512];
	const char *at;
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (n < 0)
		return -1;
	path[n] = '\0';
	at = strstr(path, NAME "-");
	for (int i = 0; at && i < standin_count(); i++)
		if (!strncmp(at + strlen(NAME "-"), standin_bdf(i),
			     strlen(standin_bdf(i))))
			return i;
	return -1;
}

void standin_dirty(char *mem, size_t len)
{
	size_t ends = MIN(len, OLD_BYTES);

	memset(mem, STANDIN_OLD_BYTE, ends);
	memset(mem + len - ends, STANDIN_OLD_BYTE, ends);
}
