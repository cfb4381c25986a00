/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "owner/worker/hide.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mount.h>

#include "owner/minor.h"

#define FS_TYPE "fuse.k80fs"

/* "\040" is a blank: what mountinfo does to them. */
static void unescape(char *path)
{
	char *to = path;

	for (const char *from = path; *from; from++) {
		if (from[0] == '\\' && from[1] >= '0' && from[1] <= '3' &&
		    from[2] && from[3]) {
			*to++ = (char)((from[1] - '0') << 6 |
				       (from[2] - '0') << 3 | (from[3] - '0'));
			from += 3;
		} else {
			*to++ = *from;
		}
	}
	*to = '\0';
}

/* "ID PARENT DEV ROOT POINT OPTIONS [FIELD]... - TYPE SOURCE OPTIONS" */
static bool is_ours(char *line, char **point)
{
	char *type = strstr(line, " - ");
	char *save, *word = strtok_r(line, " ", &save);

	for (int i = 0; word && i < 4; i++)
		word = strtok_r(NULL, " ", &save);
	if (!type || !word ||
	    strncmp(type + 3, FS_TYPE " ", strlen(FS_TYPE) + 1) != 0)
		return false;
	*point = word;
	unescape(word);
	return true;
}

static void detach_ours(void)
{
	FILE *f = fopen("/proc/self/mountinfo", "re");
	char *line = NULL, *point;
	size_t room = 0;

	if (!f)
		return;
	while (getline(&line, &room, f) > 0)
		if (is_ours(line, &point))
			umount2(point, MNT_DETACH | UMOUNT_NOFOLLOW);
	free(line);
	fclose(f);
}

int hide_tree(void)
{
	if (unshare(CLONE_NEWNS) ||
	    mount(NULL, "/", NULL, MS_SLAVE | MS_REC, NULL))
		return -errno;
	detach_ours();
	return 0;
}

static int hide(const struct hide_env *env, int minor, char *why, size_t len)
{
	char path[PATH_MAX];
	int ret;

	snprintf(path, sizeof(path), "%s/nvidia%d", env->dev, minor);
	ret = minor_make(path, minor);
	if (!ret && mount("/dev/null", path, NULL, MS_BIND, NULL))
		ret = -errno;
	if (ret)
		snprintf(why, len, "hide %s: %s", path, strerror(-ret));
	return ret;
}

int hide_others(const struct hide_env *env, const char *bdf, int *minor,
		char *why, size_t len)
{
	DIR *dir = opendir(env->gpus);
	int found = -1, other, ret = 0;
	struct dirent *e;

	while (dir && !ret && (e = readdir(dir))) {
		if (*e->d_name == '.')
			continue;
		other = minor_of(env->gpus, e->d_name);
		if (!strcasecmp(e->d_name, bdf))
			found = other;
		else if (other >= 0)
			ret = hide(env, other, why, len);
	}
	if (dir)
		closedir(dir);
	if (ret)
		return ret;
	if (found < 0) {
		snprintf(why, len, "%s/%s/information names no Device Minor",
			 env->gpus, bdf);
		return -ENOENT;
	}
	*minor = found;
	return 0;
}
