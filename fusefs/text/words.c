/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "text/words.h"

#include <errno.h>
#include <string.h>

size_t words_split(const char *line, size_t len, struct word *words, size_t max)
{
	size_t n = 0;
	size_t i = 0;

	while (i < len && n < max) {
		size_t start;

		while (i < len && (line[i] == ' ' || line[i] == '\t'))
			i++;
		start = i;
		while (i < len && line[i] != ' ' && line[i] != '\t')
			i++;
		if (i > start)
			words[n++] = (struct word){ line + start, i - start };
	}
	return n;
}

bool word_is(const struct word *w, const char *s)
{
	return w->len == strlen(s) && !memcmp(w->s, s, w->len);
}

int word_number(const char *s, size_t len, uint64_t max, uint64_t *out)
{
	uint64_t v = 0;

	if (!len)
		return -EINVAL;
	for (size_t i = 0; i < len; i++) {
		unsigned int digit = (unsigned char)s[i] - '0';

		if (digit > 9 || digit > max || v > (max - digit) / 10)
			return -EINVAL;
		v = v * 10 + digit;
	}
	*out = v;
	return 0;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

int word_hex(const char *s, size_t len, uint64_t *out)
{
	uint64_t v = 0;

	if (!len)
		return -EINVAL;
	for (size_t i = 0; i < len; i++) {
		int digit = hex_digit(s[i]);

		if (digit < 0 || v >> 60)
			return -EINVAL;
		v = v << 4 | (uint64_t)digit;
	}
	*out = v;
	return 0;
}
