/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "owner/repl.h"

#include <errno.h>

#include "base/util.h"
#include "owner/work.h"
#include "text/words.h"

/* verb and four arguments, and one too many */
#define MAX_WORDS 6

static const struct {
	const char *name;
	enum repl_verb verb;
	size_t min_args, max_args;
} verbs[] = {
	{ "discover", REPL_DISCOVER, 0, 0 },
	{ "online", REPL_ONLINE, 1, 1 },
	{ "offline", REPL_OFFLINE, 1, 1 },
	{ "probe", REPL_PROBE, 1, 1 },
	{ "warm", REPL_WARM, 1, 1 },
	{ "swap", REPL_SWAP, 1, 1 },
	{ "work", REPL_WORK, 3, 4 },
	{ "read", REPL_READ, 1, 1 },
	{ "count", REPL_COUNT, 0, 0 },
	{ "status", REPL_STATUS, 0, 0 },
	{ "help", REPL_HELP, 0, 0 },
	{ "shutdown", REPL_SHUTDOWN, 0, 0 },
	{ "quit", REPL_SHUTDOWN, 0, 0 },
};

/* Decimal, and where @is_hex digits behind "0x" too. */
static int parse_number(const struct word *w, bool is_hex, uint64_t *v)
{
	if (is_hex && w->len > 2 && w->s[0] == '0' && w->s[1] == 'x')
		return word_hex(w->s + 2, w->len - 2, v);
	return word_number(w->s, w->len, UINT64_MAX, v);
}

static int parse_args(struct repl_cmd *cmd, const struct word *args, size_t n,
		      unsigned int n_dies, const char **why)
{
	uint64_t v[MAX_WORDS] = { 0 };

	if (cmd->verb == REPL_WARM && word_is(&args[0], "all")) {
		cmd->is_all = true;
		return 0;
	}
	for (size_t i = 0; i < n; i++) {
		/* the seed */
		if (!parse_number(&args[i], i == 1, &v[i]))
			continue;
		*why = "not a number";
		return -EINVAL;
	}
	if (n && v[0] >= n_dies) {
		*why = "no such die";
		return -EINVAL;
	}
	if (v[1] > UINT32_MAX) {
		*why = "the seed is larger than 32 bits";
		return -EINVAL;
	}
	if (v[2] > WORK_MAX_ITERS) {
		*why = "more iterations than 15728640";
		return -EINVAL;
	}
	cmd->die = (unsigned int)v[0];
	cmd->seed = (uint32_t)v[1];
	cmd->iters = (uint32_t)v[2];
	cmd->delay = v[3];
	return 0;
}

int repl_parse(const char *line, size_t len, unsigned int n_dies,
	       struct repl_cmd *cmd, const char **why)
{
	struct repl_cmd parsed = { .verb = REPL_BLANK };
	struct word words[MAX_WORDS];
	size_t n = words_split(line, len, words, MAX_WORDS);
	int ret;

	if (!n) {
		*cmd = parsed;
		return 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++) {
		if (!word_is(&words[0], verbs[i].name))
			continue;
		if (n - 1 < verbs[i].min_args || n - 1 > verbs[i].max_args) {
			*why = "wrong number of arguments";
			return -EINVAL;
		}
		parsed.verb = verbs[i].verb;
		ret = parse_args(&parsed, words + 1, n - 1, n_dies, why);
		if (!ret)
			*cmd = parsed;
		return ret;
	}
	*why = "unknown command";
	return -EINVAL;
}

static void start_line(struct repl_input *in)
{
	in->len = 0;
	in->is_overlong = false;
	in->is_done = false;
}

int repl_push(struct repl_input *in, char byte)
{
	if (in->is_done)
		start_line(in);
	if (byte == '\n') {
		in->is_done = true;
		return in->is_overlong ? -E2BIG : 1;
	}
	if (in->len == sizeof(in->line))
		in->is_overlong = true;
	else
		in->line[in->len++] = byte;
	return 0;
}

int repl_end(struct repl_input *in)
{
	if (in->is_done)
		start_line(in);
	return in->len ? repl_push(in, '\n') : 0;
}

const char *repl_name(enum repl_verb verb)
{
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
		if (verbs[i].verb == verb)
			return verbs[i].name;
	return "";
}

const char *repl_help(void)
{
	return "discover                     list the dies\n"
	       "warm D|all                   have the driver set up a cold die's memory\n"
	       "online D                     bind the driver; worker, context and buffers\n"
	       "offline D                    end its worker, unbind the driver\n"
	       "probe D                      bind the driver, count what a process sees\n"
	       "swap D                       put die D into the slot\n"
	       "work D SEED ITERS [DELAY]    fill the input, launch out = in + iters\n"
	       "read D                       wait, copy back, check: PASS or FAIL\n"
	       "count                        CUDA devices that there are\n"
	       "status                       what every die is doing\n"
	       "help                         this text\n"
	       "shutdown, quit               end every worker in order; the slot stays\n";
}
