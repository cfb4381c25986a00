/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "text/ctl.h"

#include <errno.h>
#include <string.h>

#include "base/util.h"
#include "text/words.h"

/* words a line may have: verb and two arguments, and one too many */
#define CTL_MAX_WORDS 4

/* A number of bytes: decimal with K, M, G or T behind it, or 0x and hex. */
static int word_bytes(const struct word *w, uint64_t *out)
{
	static const char suffix[] = "KMGT";
	const char *s = w->s;
	size_t len = w->len;
	unsigned int shift = 0;
	uint64_t v;

	if (len > 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X'))
		return word_hex(s + 2, len - 2, out);
	if (len) {
		const char *p = s[len - 1] ? strchr(suffix, s[len - 1]) : NULL;

		if (p) {
			shift = 10 * (unsigned int)(p - suffix + 1);
			len--;
		}
	}
	if (word_number(s, len, UINT64_MAX >> shift, &v))
		return -EINVAL;
	*out = v << shift;
	return 0;
}

/* nowait | wait=MS */
static int parse_patience(const struct word *w, struct ctl_cmd *cmd)
{
	static const char key[] = "wait=";
	uint64_t ms;

	if (cmd->nowait || cmd->has_wait)
		return -EINVAL;
	if (word_is(w, "nowait")) {
		cmd->nowait = true;
		return 0;
	}
	if (w->len < strlen(key) || memcmp(w->s, key, strlen(key)) ||
	    word_number(w->s + strlen(key), w->len - strlen(key),
			CTL_MAX_WAIT_MS, &ms))
		return -EINVAL;
	cmd->has_wait = true;
	cmd->wait_ms = (uint32_t)ms;
	return 0;
}

static int parse_args(struct ctl_cmd *cmd, const struct word *args, size_t n)
{
	uint64_t ms;

	switch (cmd->verb) {
	case CTL_ACQUIRE:
		if (n && word_is(&args[0], "sbr")) {
			cmd->sbr = true;
			args++;
			n--;
		}
		/* fall through */
	case CTL_PIN:
	case CTL_LEASE:
		if (n > 1)
			return -EINVAL;
		return n ? parse_patience(&args[0], cmd) : 0;
	case CTL_ZERO:
		if (!n)
			return 0;
		cmd->has_range = true;
		if (n != 2 || word_bytes(&args[0], &cmd->off) ||
		    word_bytes(&args[1], &cmd->len))
			return -EINVAL;
		return 0;
	case CTL_TIMESLICE:
		if (n != 1)
			return -EINVAL;
		if (word_is(&args[0], "auto"))
			return 0;
		if (word_number(args[0].s, args[0].len, CTL_MAX_SLICE_MS, &ms) ||
		    !ms)
			return -EINVAL;
		cmd->slice_ms = (uint32_t)ms;
		return 0;
	default:
		return n ? -EINVAL : 0;
	}
}

int ctl_check(const char *text, size_t len)
{
	if (len > CTL_MAX_WRITE)
		return -E2BIG;
	if (memchr(text, '\0', len))
		return -EINVAL;
	return 0;
}

bool ctl_needs_newline(const char *line, size_t len)
{
	struct word words[CTL_MAX_WORDS];
	size_t n = words_split(line, len, words, CTL_MAX_WORDS);

	if (!n)
		return false;
	return word_is(&words[0], "zero") || word_is(&words[0], "reset") ||
	       (n > 1 && word_is(&words[0], "acquire") &&
		word_is(&words[1], "sbr"));
}

size_t ctl_line(const char *text, size_t len)
{
	const char *nl = len ? memchr(text, '\n', len) : NULL;

	return nl ? (size_t)(nl - text) + 1 : len;
}

int ctl_parse(enum ctl_scope scope, const char *line, size_t len,
	      struct ctl_cmd *cmd)
{
	static const struct {
		const char *name;
		enum ctl_verb verb;
		bool in_root;
		bool in_die;
	} verbs[] = {
		{ "acquire", CTL_ACQUIRE, false, true },
		{ "release", CTL_RELEASE, true, true },
		{ "pin", CTL_PIN, false, true },
		{ "lease", CTL_LEASE, false, true },
		{ "unpin", CTL_UNPIN, false, true },
		{ "reset", CTL_RESET, false, true },
		{ "flush", CTL_FLUSH, false, true },
		{ "zero", CTL_ZERO, false, true },
		{ "timeslice", CTL_TIMESLICE, true, false },
	};
	struct ctl_cmd parsed = { .verb = CTL_BLANK };
	struct word words[CTL_MAX_WORDS];
	size_t n;
	int ret;

	if (len && line[len - 1] == '\n')
		len--;
	n = words_split(line, len, words, CTL_MAX_WORDS);
	if (!n) {
		*cmd = parsed;
		return 0;
	}
	if (n == CTL_MAX_WORDS)
		return -EINVAL;
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++) {
		if (!word_is(&words[0], verbs[i].name))
			continue;
		if (scope == CTL_SCOPE_ROOT ? !verbs[i].in_root : !verbs[i].in_die)
			return -EINVAL;
		parsed.verb = verbs[i].verb;
		ret = parse_args(&parsed, words + 1, n - 1);
		if (ret)
			return ret;
		*cmd = parsed;
		return 0;
	}
	return -EINVAL;
}

const char *ctl_help(enum ctl_scope scope)
{
	static const char root[] =
		"release                         vacate the slot, whoever is in\n"
		"timeslice MS|auto               how long a die keeps the slot while others wait\n";
	static const char die[] =
		"acquire [sbr] [nowait|wait=MS]  put this die into the slot (sbr: reset it first)\n"
		"release                         take it out, end pins and leases of it\n"
		"pin [nowait|wait=MS]            put it in and keep it until unpin or release\n"
		"lease [nowait|wait=MS]          the same until this open file is closed\n"
		"unpin                           end pins and leases of this die\n"
		"reset                           secondary bus reset; the memory's contents are lost\n"
		"flush                           wait until writes have reached the die\n"
		"zero [OFF LEN]                  clear its memory, or LEN bytes from OFF\n";

	return scope == CTL_SCOPE_ROOT ? root : die;
}
