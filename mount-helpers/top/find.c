/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "top/find.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool is_octal(const char *s)
{
	return s[0] >= '0' && s[0] <= '3' && s[1] >= '0' && s[1] <= '7' &&
	       s[2] >= '0' && s[2] <= '7';
}

/* "\040" is a space: in place */
static void unescape(char *s)
{
	char *to = s;

	while (*s) {
		if (*s == '\\' && is_octal(s + 1)) {
			*to++ = (char)((s[1] - '0') << 6 | (s[2] - '0') << 3 |
				       (s[3] - '0'));
			s += 4;
		} else {
			*to++ = *s++;
		}
	}
	*to = '\0';
}

/* The fifth word of a line whose type behind " - " is ours, or NULL. */
static char *mount_point(char *line)
{
	static const char type[] = " - fuse.k80fs ";
	char *save, *word = NULL;

	if (!strstr(line, type))
		return NULL;
	for (int i = 0; i < 5; i++)
		word = strtok_r(i ? NULL : line, " ", &save);
	if (word)
		unescape(word);
	return word;
}

static bool is_known(char **mounts, size_t n, const char *dir)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(mounts[i], dir))
			return true;
	return false;
}

char **find_mounts(FILE *mountinfo, size_t *n)
{
	char **mounts = calloc(1, sizeof(*mounts));
	char *line = NULL;
	size_t room = 0;

	*n = 0;
	while (mounts && getline(&line, &room, mountinfo) > 0) {
		char *dir = mount_point(line);
		char **more;

		if (!dir || is_known(mounts, *n, dir))
			continue;
		more = reallocarray(mounts, *n + 2, sizeof(*mounts));
		if (more)
			mounts = more;
		dir = more ? strdup(dir) : NULL;
		if (!dir) {
			find_free(mounts, *n);
			mounts = NULL;
			break;
		}
		mounts[(*n)++] = dir;
	}
	free(line);
	return mounts;
}

void find_free(char **mounts, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(mounts[i]);
	free(mounts);
}
