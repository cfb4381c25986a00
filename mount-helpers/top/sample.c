/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "top/sample.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"

#define FILE_MAX 65536 /* more than any of them has */

static const struct {
	const char *name;
	size_t offset;
	enum { FLAG, NUMBER, SECONDS } kind;
} numbers[] = {
#define OF(field) offsetof(struct top_die, field)
	{ "in_slot", OF(in_slot), FLAG },
	{ "swaps_total", OF(swaps), NUMBER },
	{ "read_bytes_total", OF(read_bytes), NUMBER },
	{ "written_bytes_total", OF(written_bytes), NUMBER },
	{ "waiting_requests", OF(waiting), NUMBER },
	{ "errors_total", OF(errors), NUMBER },
	{ "slot_seconds_total", OF(slot_ns), SECONDS },
#undef OF
};

/* "12.000000034", always with nine digits behind the point */
static uint64_t seconds(const char *text)
{
	char *point;
	uint64_t s = strtoull(text, &point, 10);

	return s * NSEC_PER_SEC +
	       (*point == '.' ? strtoull(point + 1, NULL, 10) : 0);
}

static void take_number(struct top_die *die, const char *name, const char *text)
{
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		char *to = (char *)die + numbers[i].offset;

		if (strcmp(numbers[i].name, name))
			continue;
		if (numbers[i].kind == FLAG)
			*(bool *)to = *text == '1';
		else if (numbers[i].kind == NUMBER)
			*(uint64_t *)to = strtoull(text, NULL, 10);
		else
			*(uint64_t *)to = seconds(text);
	}
}

/* The start of the line behind this one, or NULL. */
static const char *next_line(const char *line)
{
	line = strchr(line, '\n');
	return line && line[1] ? line + 1 : NULL;
}

void sample_metrics(const char *text, struct top_sample *out)
{
	for (const char *line = text; line; line = next_line(line)) {
		char name[32], value[32];
		unsigned int die;

		if (sscanf(line, "k80fs_age_seconds %31s", value) == 1)
			out->at_ns = seconds(value);
		if (sscanf(line, "k80fs_die_%31[a-z_]{die=\"%u\"} %31s", name,
			   &die, value) != 3 ||
		    die >= TOP_MAX_DIES)
			continue;
		out->n_dies = MAX(out->n_dies, die + 1);
		take_number(&out->dies[die], name, value);
	}
}

/* The value of a key: cut, and fit for a terminal. Returns false without. */
static bool word_of(const char *text, const char *key, char *out, size_t size)
{
	size_t len = strlen(key);

	for (const char *line = text; line; line = next_line(line)) {
		if (strncmp(line, key, len) || line[len] != ' ')
			continue;
		line += len + 1;
		len = strcspn(line, "\n");
		while (len && line[len - 1] == ' ')
			len--;
		len = MIN(len, size - 1);
		memcpy(out, line, len);
		out[len] = '\0';
		for (char *c = out; *c; c++)
			if (*c < ' ' || *c > '~')
				*c = '?';
		return true;
	}
	return false;
}

void sample_root(const char *text, struct top_sample *out)
{
	char slots[8] = "";

	word_of(text, "backend", out->backend, sizeof(out->backend));
	out->has_slot = word_of(text, "slots", slots, sizeof(slots)) &&
			strcmp(slots, "0");
}

void sample_die(const char *text, struct top_die *out)
{
	word_of(text, "state", out->state, sizeof(out->state));
	word_of(text, "hold", out->hold, sizeof(out->hold));
	word_of(text, "holder", out->holder, sizeof(out->holder));
}

/* Returns 0 or an errno; @text ends with a NUL. */
static int read_all(int fd, char *text)
{
	size_t len = 0;
	ssize_t n;

	do {
		n = read(fd, text + len, FILE_MAX - 1 - len);
		if (n < 0)
			return errno;
		len += (size_t)n;
	} while (n > 0);
	text[len] = '\0';
	return 0;
}

/* @mount: out, may be NULL */
static int read_file(const char *dir, const char *name, char *text,
		     uint64_t *mount)
{
	struct stat st = { 0 };
	char path[PATH_MAX];
	int fd, ret;

	if (snprintf(path, sizeof(path), "%s/%s", dir, name) >= (int)sizeof(path))
		return ENAMETOOLONG;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno;
	ret = fstat(fd, &st) ? errno : read_all(fd, text);
	if (mount)
		*mount = st.st_dev;
	close(fd);
	return ret;
}

void sample_take(const char *dir, struct top_sample *out)
{
	static char text[FILE_MAX];
	char name[24];

	memset(out, 0, sizeof(*out));
	out->error = read_file(dir, "metrics", text, &out->mount);
	if (out->error)
		return;
	sample_metrics(text, out);
	out->error = read_file(dir, "status", text, NULL);
	if (!out->error)
		sample_root(text, out);
	if (!out->error && (!out->n_dies || !*out->backend))
		out->error = EPROTO;
	for (unsigned int die = 0; die < out->n_dies && !out->error; die++) {
		snprintf(name, sizeof(name), "die%u/status", die);
		out->error = read_file(dir, name, text, NULL);
		if (!out->error)
			sample_die(text, &out->dies[die]);
	}
}
