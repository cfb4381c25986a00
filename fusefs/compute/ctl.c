/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compute/ctl.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "owner/work.h"
#include "text/words.h"

/* launch KERNEL GRID BLOCK, its arguments, and one too many */
#define MAX_WORDS (4 + PTX_MAX_PARAMS + 1)

#define MAX_NUMBER_LEN 32 /* characters of a floating-point number */

/* X[,Y[,Z]], each from 1 */
static int parse_dims(const char *s, size_t len, uint32_t *dims)
{
	const char *end = s + len;
	uint64_t v;

	dims[0] = dims[1] = dims[2] = 1;
	for (int i = 0; i < 3; i++) {
		const char *comma = memchr(s, ',', (size_t)(end - s));
		const char *stop = comma ? comma : end;

		if (word_number(s, (size_t)(stop - s), INT32_MAX, &v) || !v)
			return -EINVAL;
		dims[i] = (uint32_t)v;
		if (!comma)
			return 0;
		s = comma + 1;
	}
	return -EINVAL;
}

static int parse_unsigned(const char *s, size_t len, uint64_t max, uint64_t *out)
{
	uint64_t v;
	int ret;

	if (len > 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X'))
		ret = word_hex(s + 2, len - 2, &v);
	else
		ret = word_number(s, len, UINT64_MAX, &v);
	if (ret || v > max)
		return -EINVAL;
	*out = v;
	return 0;
}

static int parse_signed(const char *s, size_t len, uint64_t max, uint64_t *out)
{
	uint64_t v;

	if (!len || *s != '-')
		return parse_unsigned(s, len, max, out);
	if (parse_unsigned(s + 1, len - 1, max + 1, &v))
		return -EINVAL;
	*out = -v;
	return 0;
}

/* Decimal: no blanks, no hex, neither "inf" nor "nan". */
static int parse_float(const char *s, size_t len, double *out)
{
	char text[MAX_NUMBER_LEN + 1];
	char *end;

	if (!len || len > MAX_NUMBER_LEN)
		return -EINVAL;
	memcpy(text, s, len);
	text[len] = '\0';
	if (strspn(text, "0123456789.eE+-") != len)
		return -EINVAL;
	*out = strtod(text, &end);
	return *end || !isfinite(*out) ? -EINVAL : 0;
}

static int parse_f32(const char *s, size_t len, uint64_t *bits)
{
	uint32_t low;
	double v;
	float f;

	if (parse_float(s, len, &v))
		return -EINVAL;
	f = (float)v;
	if (!isfinite(f))
		return -EINVAL;
	memcpy(&low, &f, sizeof(low));
	*bits = low;
	return 0;
}

static int parse_f64(const char *s, size_t len, uint64_t *bits)
{
	double v;

	if (parse_float(s, len, &v))
		return -EINVAL;
	memcpy(bits, &v, sizeof(v));
	return 0;
}

static int parse_number(const char *type, const char *s, size_t len,
			struct owner_arg *arg)
{
	switch (type[0]) {
	case 'f':
		return arg->type == PTX_FLOAT32 ? parse_f32(s, len, &arg->bits)
						: parse_f64(s, len, &arg->bits);
	case 'i':
		return parse_signed(
			s, len, arg->type == PTX_INT32 ? INT32_MAX : INT64_MAX,
			&arg->bits);
	default:
		return parse_unsigned(
			s, len, arg->type == PTX_INT32 ? UINT32_MAX : UINT64_MAX,
			&arg->bits);
	}
}

/* X[,Y[,Z]][:BYTES] */
static int parse_block(const struct word *w, struct owner_launch *l)
{
	const char *colon = memchr(w->s, ':', w->len);
	size_t len = colon ? (size_t)(colon - w->s) : w->len;
	uint64_t bytes = 0;

	if (colon && word_number(colon + 1, w->len - len - 1, UINT32_MAX, &bytes))
		return -EINVAL;
	l->shared_bytes = (uint32_t)bytes;
	return parse_dims(w->s, len, l->block);
}

/* The number behind the last "+" is an offset: returns what stands before. */
static size_t parse_offset(const char *s, size_t len, uint64_t *off)
{
	const char *plus = memrchr(s, '+', len);

	*off = 0;
	if (!plus || parse_unsigned(plus + 1, len - (size_t)(plus - s) - 1,
				    INT64_MAX, off))
		return len;
	return (size_t)(plus - s);
}

/* "mem:NAME[+OFF]" or "vram[+OFF]"; -ENOENT: neither */
static int parse_place(const struct word *w, struct owner_arg *arg,
		       struct compute_place *place)
{
	static const char mem[] = "mem:", vram[] = "vram";
	size_t len = parse_offset(w->s, w->len, &arg->bits);
	struct word head = { w->s, len };
	size_t skip = strlen(mem);

	arg->type = PTX_INT64;
	if (word_is(&head, vram)) {
		place->is_given = true;
		return 0;
	}
	if (w->len < skip || memcmp(w->s, mem, skip) != 0)
		return -ENOENT;
	if (len <= skip || len - skip > COMPUTE_NAME_MAX ||
	    memchr(w->s, '\0', len) || memchr(w->s, '/', len))
		return -EINVAL;
	place->is_given = true;
	memcpy(place->name, w->s + skip, len - skip);
	return 0;
}

static int parse_arg(const struct word *w, struct owner_arg *arg,
		     struct compute_place *place)
{
	static const struct {
		const char *prefix;
		enum ptx_type type;
	} types[] = {
		{ "i32:", PTX_INT32 },   { "u32:", PTX_INT32 },
		{ "i64:", PTX_INT64 },   { "u64:", PTX_INT64 },
		{ "f32:", PTX_FLOAT32 }, { "f64:", PTX_FLOAT64 },
	};

	int ret;

	memset(arg, 0, sizeof(*arg));
	ret = parse_place(w, arg, place);
	if (ret != -ENOENT)
		return ret;
	memset(arg, 0, sizeof(*arg));
	if (word_is(w, "in") || word_is(w, "out")) {
		arg->is_buffer = true;
		arg->buffer = word_is(w, "in") ? OWNER_IN : OWNER_OUT;
		arg->type = PTX_INT64;
		return 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		size_t len = strlen(types[i].prefix);

		if (w->len < len || memcmp(w->s, types[i].prefix, len) != 0)
			continue;
		arg->type = types[i].type;
		return parse_number(types[i].prefix, w->s + len, w->len - len,
				    arg);
	}
	return -EINVAL;
}

static int parse_launch(const struct word *args, size_t n, struct compute_cmd *cmd)
{
	struct owner_launch *l = &cmd->launch;

	if (n < 3 || n - 3 > PTX_MAX_PARAMS || args[0].len >= sizeof(l->kernel) ||
	    memchr(args[0].s, '\0', args[0].len) ||
	    parse_dims(args[1].s, args[1].len, l->grid) ||
	    parse_block(&args[2], l))
		return -EINVAL;
	memcpy(l->kernel, args[0].s, args[0].len);
	l->n_args = (unsigned int)(n - 3);
	for (unsigned int i = 0; i < l->n_args; i++)
		if (parse_arg(&args[3 + i], &l->args[i], &cmd->places[i]))
			return -EINVAL;
	return 0;
}

static int parse_work(const struct word *args, size_t n, struct compute_cmd *cmd)
{
	uint64_t v[3] = { 0 };

	if (n != 2 && n != 3)
		return -EINVAL;
	for (size_t i = 0; i < n; i++)
		if (word_number(args[i].s, args[i].len, UINT64_MAX, &v[i]))
			return -EINVAL;
	if (v[0] > UINT32_MAX || v[1] > WORK_MAX_ITERS)
		return -EINVAL;
	cmd->seed = (uint32_t)v[0];
	cmd->iters = (uint32_t)v[1];
	cmd->delay = v[2];
	return 0;
}

int compute_parse(const char *line, size_t len, struct compute_cmd *cmd)
{
	static const struct {
		const char *name;
		enum compute_verb verb;
	} verbs[] = {
		{ "online", COMPUTE_ONLINE },   { "offline", COMPUTE_OFFLINE },
		{ "work", COMPUTE_WORK },       { "launch", COMPUTE_LAUNCH },
		{ "sync", COMPUTE_SYNC },       { "verify", COMPUTE_VERIFY },
		{ "kernels", COMPUTE_KERNELS },
	};
	struct compute_cmd parsed = { .verb = COMPUTE_BLANK };
	struct word words[MAX_WORDS];
	size_t n, i;
	int ret;

	if (len && line[len - 1] == '\n')
		len--;
	n = words_split(line, len, words, MAX_WORDS);
	for (i = 0; n && i < ARRAY_SIZE(verbs); i++)
		if (word_is(&words[0], verbs[i].name))
			break;
	if (n && i == ARRAY_SIZE(verbs))
		return -EINVAL;
	if (n)
		parsed.verb = verbs[i].verb;
	if (parsed.verb == COMPUTE_WORK)
		ret = parse_work(words + 1, n - 1, &parsed);
	else if (parsed.verb == COMPUTE_LAUNCH)
		ret = parse_launch(words + 1, n - 1, &parsed);
	else
		ret = n > 1 ? -EINVAL : 0;
	if (!ret)
		*cmd = parsed;
	return ret;
}

const char *compute_help(void)
{
	return "online                          make a context and the buffers in and out\n"
	       "work SEED ITERS [DELAY]         fill in from SEED, start out = in + ITERS\n"
	       "launch KERNEL GRID BLOCK ARG... start a kernel; GRID, BLOCK: X[,Y[,Z]]; BLOCK may\n"
	       "                                end in :BYTES of shared memory\n"
	       "                                ARG: in, out, i32:N u32:N i64:N u64:N f32:X f64:X,\n"
	       "                                mem:NAME[+OFF] a file of mem/, vram[+OFF]\n"
	       "kernels                         write the kernels and their arguments to log\n"
	       "offline                         end its kernels and its context, let the driver go\n"
	       "sync                            wait until what was started has ended\n"
	       "verify                          the same, then check the last work\n";
}
