/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "owner/minor.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define NVIDIA_MAJOR 195 /* Documentation/admin-guide/devices.txt */

int minor_of(const char *gpus, const char *bdf)
{
	char path[PATH_MAX], line[256];
	int minor = -1;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s/information", gpus, bdf);
	f = fopen(path, "re");
	if (!f)
		return -1;
	while (minor < 0 && fgets(line, sizeof(line), f))
		if (sscanf(line, "Device Minor : %d", &minor) != 1)
			minor = -1;
	fclose(f);
	return minor;
}

int minor_make(const char *path, int minor)
{
	if (!access(path, F_OK) ||
	    !mknod(path, S_IFCHR | 0666,
		   makedev(NVIDIA_MAJOR, (unsigned int)minor)) ||
	    errno == EEXIST)
		return 0;
	return -errno;
}

static int has_open(const char *pid, const char *path)
{
	char dir_path[64], target[PATH_MAX];
	struct dirent *e;
	int found = 0;
	DIR *dir;

	snprintf(dir_path, sizeof(dir_path), "/proc/%.10s/fd", pid);
	dir = opendir(dir_path);
	while (dir && !found && (e = readdir(dir))) {
		ssize_t n = readlinkat(dirfd(dir), e->d_name, target,
				       sizeof(target) - 1);

		target[n < 0 ? 0 : n] = '\0';
		found = !strcmp(target, path);
	}
	if (dir)
		closedir(dir);
	return found;
}

int minor_user(const char *path)
{
	DIR *proc = opendir("/proc");
	struct dirent *e;
	int user = 0;

	while (proc && !user && (e = readdir(proc)))
		if (*e->d_name >= '1' && *e->d_name <= '9' &&
		    has_open(e->d_name, path))
			user = atoi(e->d_name);
	if (proc)
		closedir(proc);
	return user;
}
