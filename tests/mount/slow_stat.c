// SPDX-License-Identifier: GPL-2.0-or-later
/* Loaded before the daemon: its look at the mount that it made comes late. */
#include <dlfcn.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LATE_US 500000

int stat(const char *path, struct stat *st)
{
	static int (*next)(const char *path, struct stat *st);
	size_t len = strlen(path);

	if (!next)
		next = (int (*)(const char *, struct stat *))dlsym(RTLD_NEXT,
								   "stat");
	if (len > 7 && !strcmp(path + len - 7, "/status"))
		usleep(LATE_US);
	return next(path, st);
}
