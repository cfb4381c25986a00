/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "owner/ptx.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/util.h"
#include "text/words.h"

struct reader {
	const char *at;
	const char *end;
};

static bool is_name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%' ||
	       c == '.';
}

/* Behind a comment or a string that starts at @at; @at itself if none does. */
static const char *skip_one(const struct reader *r)
{
	size_t left = (size_t)(r->end - r->at);
	const char *close = NULL;
	size_t len = 1;

	if (isspace((unsigned char)*r->at))
		return r->at + 1;
	if (*r->at == '"') {
		close = memchr(r->at + 1, '"', left - 1);
	} else if (left > 1 && r->at[0] == '/' && r->at[1] == '/') {
		close = memchr(r->at, '\n', left);
	} else if (left > 1 && r->at[0] == '/' && r->at[1] == '*') {
		close = memmem(r->at + 2, left - 2, "*/", 2);
		len = 2;
	} else {
		return r->at;
	}
	return close ? close + len : r->end;
}

/* The next word or punctuation mark; false at the end of the text. */
static bool next(struct reader *r, struct word *w)
{
	const char *behind;

	while (r->at < r->end) {
		behind = skip_one(r);
		if (behind == r->at)
			break;
		r->at = behind;
	}
	if (r->at == r->end)
		return false;
	w->s = r->at++;
	while (is_name_char(*w->s) && r->at < r->end && is_name_char(*r->at))
		r->at++;
	w->len = (size_t)(r->at - w->s);
	return true;
}

static enum ptx_type type_of(const struct word *w)
{
	static const struct {
		const char *name;
		enum ptx_type type;
	} types[] = {
		{ ".u32", PTX_INT32 },   { ".s32", PTX_INT32 },
		{ ".b32", PTX_INT32 },   { ".u64", PTX_INT64 },
		{ ".s64", PTX_INT64 },   { ".b64", PTX_INT64 },
		{ ".f32", PTX_FLOAT32 }, { ".f64", PTX_FLOAT64 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (word_is(w, types[i].name))
			return types[i].type;
	return PTX_OTHER;
}

static void add_param(struct ptx_kernel *k, enum ptx_type type)
{
	if (k->n_params < PTX_MAX_PARAMS)
		k->params[k->n_params] = type;
	k->n_params++;
}

/* From behind "(" to behind ")". */
static void read_params(struct reader *r, struct ptx_kernel *k)
{
	enum ptx_type type = PTX_OTHER;
	bool is_array = false, is_open = false;
	struct word w;

	while (next(r, &w) && !word_is(&w, ")")) {
		if (word_is(&w, ".param")) {
			is_open = true;
			is_array = false;
			type = PTX_OTHER;
		} else if (word_is(&w, "[")) {
			is_array = true;
		} else if (word_is(&w, ",")) {
			add_param(k, is_array ? PTX_OTHER : type);
			is_open = false;
		} else if (type == PTX_OTHER) {
			type = type_of(&w);
		}
	}
	if (is_open)
		add_param(k, is_array ? PTX_OTHER : type);
}

unsigned int ptx_kernels(const char *text, size_t len, struct ptx_kernel *kernels)
{
	struct reader r = { text, text + len };
	unsigned int n = 0;
	struct word w;

	while (n < PTX_MAX_KERNELS && next(&r, &w)) {
		struct ptx_kernel *k = &kernels[n];
		struct reader ahead;

		if (!word_is(&w, ".entry") || !next(&r, &w))
			continue;
		if (w.len >= sizeof(k->name))
			continue;
		memset(k, 0, sizeof(*k));
		memcpy(k->name, w.s, w.len);
		n++;
		ahead = r;
		if (next(&ahead, &w) && word_is(&w, "(")) {
			r = ahead;
			read_params(&r, k);
		}
	}
	return n;
}
