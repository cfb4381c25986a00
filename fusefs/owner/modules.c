/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "owner/modules.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/util.h"
#include "text/words.h"

#define DRIVER "nvidia"

/* words of an install line: more are not looked at */
#define MAX_WORDS 32

/* '-' and '_' are the same in a module's name. */
static bool is_name(const char *s, size_t len, const char *name)
{
	if (len != strlen(name))
		return false;
	for (size_t i = 0; i < len; i++)
		if (s[i] != name[i] && !(s[i] == '-' && name[i] == '_'))
			return false;
	return true;
}

static bool copy(char *to, const struct word *w)
{
	if (!w->len || w->len >= MODULES_NAME_LEN)
		return false;
	memcpy(to, w->s, w->len);
	to[w->len] = '\0';
	return true;
}

/* "install NAME ... modprobe ... -i FILE ...": gives FILE. */
static bool take_install(const struct word *words, size_t n, const char *name,
			 char *file)
{
	if (n < 3 || !word_is(&words[0], "install") ||
	    !is_name(words[1].s, words[1].len, name))
		return false;
	for (size_t i = 2; i + 1 < n; i++)
		if (word_is(&words[i], "-i") ||
		    word_is(&words[i], "--ignore-install"))
			return copy(file, &words[i + 1]);
	return false;
}

static bool find_install(const char *config, const char *name, char *file)
{
	struct word words[MAX_WORDS];

	while (*config) {
		size_t len = strcspn(config, "\n");
		size_t n = words_split(config, len, words, MAX_WORDS);

		if (take_install(words, n, name, file))
			return true;
		config += len + (config[len] == '\n');
	}
	return false;
}

/* Not what only belongs to the driver, nor the kernel's own for the console. */
static bool is_driver(const char *s, size_t len)
{
	static const char *const others[] = { "fb",  "drm",  "modeset",
					      "uvm", "peer", "peermem" };
	size_t at = strlen(DRIVER);

	if (len < at || memcmp(s, DRIVER, at) != 0)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		size_t n = strlen(others[i]);

		if (len >= at + n && !memcmp(s + len - n, others[i], n))
			return false;
	}
	return true;
}

static bool find_alias(const char *aliases, char *file)
{
	while (*aliases) {
		struct word w = { aliases, strcspn(aliases, "\n") };

		if (is_driver(w.s, w.len) && copy(file, &w))
			return true;
		aliases += w.len + (aliases[w.len] == '\n');
	}
	return false;
}

void modules_find(const char *aliases, const char *config, struct modules *m)
{
	char uvm[MODULES_NAME_LEN + 8];
	bool has_dash;

	if (!find_install(config, DRIVER, m->driver) &&
	    !find_alias(aliases, m->driver))
		strcpy(m->driver, DRIVER);
	if (find_install(config, DRIVER "_uvm", m->uvm))
		return;
	has_dash = strchr(m->driver, '-');
	snprintf(uvm, sizeof(uvm), "%s%cuvm", m->driver, has_dash ? '-' : '_');
	snprintf(m->uvm, sizeof(m->uvm), "%.63s", uvm);
}
