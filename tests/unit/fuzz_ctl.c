// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libFuzzer target for the command language. The first byte chooses the file
 * (r: the root's, else a die's), the rest is one write(2) to it; then the same
 * in pieces, cut where its bytes say.
 *
 * What must hold: nothing outside the text is read (each line is handed over
 * in memory of its own length), the lines add up to the text, a refused line
 * changes nothing, and an accepted one means what its plain spelling means. Of
 * pieces, nothing that destroys runs but as a whole line of the text.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text/ctl.h"
#include "text/lines.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)                                              \
	do {                                                         \
		if (!(condition)) {                                  \
			fprintf(stderr, "not so: %s\n", #condition); \
			abort();                                     \
		}                                                    \
	} while (0)

static const char *const names[] = {
	[CTL_BLANK] = "",          [CTL_ACQUIRE] = "acquire",
	[CTL_RELEASE] = "release", [CTL_PIN] = "pin",
	[CTL_LEASE] = "lease",     [CTL_UNPIN] = "unpin",
	[CTL_RESET] = "reset",     [CTL_FLUSH] = "flush",
	[CTL_ZERO] = "zero",       [CTL_TIMESLICE] = "timeslice",
};

/* The plain spelling of a command. Returns its length. */
static size_t spell(const struct ctl_cmd *cmd, char *buf, size_t room)
{
	char wait[32] = "", range[64] = "", slice[32] = "";

	if (cmd->has_wait)
		snprintf(wait, sizeof(wait), " wait=%" PRIu32, cmd->wait_ms);
	if (cmd->has_range)
		snprintf(range, sizeof(range), " %" PRIu64 " %" PRIu64,
			 cmd->off, cmd->len);
	if (cmd->verb == CTL_TIMESLICE && cmd->slice_ms)
		snprintf(slice, sizeof(slice), " %" PRIu32, cmd->slice_ms);
	else if (cmd->verb == CTL_TIMESLICE)
		snprintf(slice, sizeof(slice), " auto");
	return (size_t)snprintf(buf, room, "%s%s%s%s%s%s", names[cmd->verb],
				cmd->sbr ? " sbr" : "",
				cmd->nowait ? " nowait" : "", wait, range, slice);
}

static void check_accepted(enum ctl_scope scope, const char *line, size_t len,
			   const struct ctl_cmd *cmd)
{
	struct ctl_cmd again;
	char plain[160];
	size_t n;

	/* no command has a byte that a terminal would not show */
	for (size_t i = 0; i < len; i++)
		MUST((line[i] >= ' ' && line[i] <= '~') || line[i] == '\t' ||
		     (line[i] == '\n' && i == len - 1));
	MUST(cmd->wait_ms <= CTL_MAX_WAIT_MS);
	MUST(cmd->slice_ms <= CTL_MAX_SLICE_MS);
	MUST(!cmd->nowait || !cmd->has_wait);

	memset(&again, 0, sizeof(again));
	n = spell(cmd, plain, sizeof(plain));
	MUST(n < sizeof(plain));
	MUST(!ctl_parse(scope, plain, n, &again));
	MUST(again.verb == cmd->verb && again.sbr == cmd->sbr);
	MUST(again.nowait == cmd->nowait && again.has_wait == cmd->has_wait);
	MUST(again.wait_ms == cmd->wait_ms && again.off == cmd->off);
	MUST(again.has_range == cmd->has_range && again.len == cmd->len);
	MUST(again.slice_ms == cmd->slice_ms);
}

static void check_line(enum ctl_scope scope, const char *text, size_t len)
{
	struct ctl_cmd cmd, before;
	char *line = malloc(len);

	MUST(line);
	memcpy(line, text, len);
	memset(&cmd, 0x5a, sizeof(cmd));
	before = cmd;
	if (!ctl_parse(scope, line, len, &cmd))
		check_accepted(scope, line, len, &cmd);
	else
		MUST(!memcmp(&cmd, &before, sizeof(cmd)));
	free(line);
}

/* What runs, whose first byte is text[@start]; before @fresh nothing counts. */
static void check_run(const char *text, size_t start, size_t fresh, size_t len)
{
	for (size_t pos = start, n; pos < start + len; pos += n) {
		n = ctl_line(text + pos, start + len - pos);
		if (text[pos + n - 1] != '\n')
			MUST(!ctl_needs_newline(text + pos, n));
		else if (ctl_needs_newline(text + pos, n - 1))
			MUST(pos == fresh || text[pos - 1] == '\n');
	}
}

/* The text in pieces: a byte's low bits say how long the piece is it starts. */
static void check_pieces(const char *text, size_t size)
{
	struct lines lines = { 0 };
	struct lines_work w;
	size_t fresh = 0, n;

	for (size_t pos = 0; pos < size; pos += n) {
		n = (size_t)(text[pos] & 15) + 1;
		n = n < size - pos ? n : size - pos;
		if (lines_add(&lines, text + pos, n, ctl_needs_newline, &w)) {
			MUST(!lines.len);
			fresh = pos + n;
			continue;
		}
		MUST(w.len == w.old + n && w.old <= pos && w.run <= w.len);
		MUST(!memcmp(w.text, text + pos - w.old, w.len));
		check_run(text, pos - w.old, fresh, w.run);
		if (w.run && w.text[w.run - 1] != '\n')
			fresh = pos + n;
		MUST(!lines_keep(&lines, &w));
		MUST(lines.len == w.len - w.run);
		lines_work_free(&w);
	}
	if (!lines_end(&lines, ctl_needs_newline, &w)) {
		MUST(!w.run || !ctl_needs_newline(w.text, w.run));
		lines_work_free(&w);
	}
	MUST(!lines.kept);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum ctl_scope scope;
	const char *text;
	size_t pos = 0, n;

	if (!size)
		return 0;
	scope = data[0] == 'r' ? CTL_SCOPE_ROOT : CTL_SCOPE_DIE;
	text = (const char *)data + 1;
	size--;
	MUST(!ctl_check(text, size) ==
	     (size <= CTL_MAX_WRITE && !memchr(text, '\0', size)));
	while ((n = ctl_line(text + pos, size - pos))) {
		MUST(n <= size - pos);
		MUST(!memchr(text + pos, '\n', n - 1));
		check_line(scope, text + pos, n);
		pos += n;
	}
	MUST(pos == size);
	check_pieces(text, size);
	return 0;
}
