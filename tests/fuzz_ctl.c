/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One write(2) to a ctl file, taken apart as the daemon does it. A command that
 * parses must be one of its file, keep to its limits, and mean the same when
 * it is written out again; one that does not must leave no trace.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(claim)                                                         \
	do {                                                                \
		if (!(claim)) {                                             \
			fprintf(stderr, "line %d: %s\n", __LINE__, #claim); \
			abort();                                            \
		}                                                           \
	} while (0)

static const char *const verb_names[] = {
	[CTL_ACQUIRE] = "acquire",
	[CTL_RELEASE] = "release",
	[CTL_PIN] = "pin",
	[CTL_LEASE] = "lease",
	[CTL_UNPIN] = "unpin",
	[CTL_RESET] = "reset",
	[CTL_FLUSH] = "flush",
	[CTL_ZERO] = "zero",
	[CTL_TIMESLICE] = "timeslice",
};

static bool takes_patience(enum ctl_verb verb)
{
	return verb == CTL_ACQUIRE || verb == CTL_PIN || verb == CTL_LEASE;
}

static void check_limits(enum ctl_scope scope, const struct ctl_cmd *cmd)
{
	bool is_root = scope == CTL_SCOPE_ROOT;

	MUST(cmd->verb >= CTL_BLANK && cmd->verb <= CTL_TIMESLICE);
	MUST(cmd->verb == CTL_BLANK || cmd->verb == CTL_RELEASE ||
	     (cmd->verb == CTL_TIMESLICE) == is_root);
	MUST(!cmd->sbr || cmd->verb == CTL_ACQUIRE);
	MUST(!cmd->nowait || !cmd->has_wait);
	MUST((!cmd->nowait && !cmd->has_wait) || takes_patience(cmd->verb));
	MUST(cmd->wait_ms <= CTL_MAX_WAIT_MS);
	MUST(cmd->has_wait || !cmd->wait_ms);
	MUST(!cmd->has_range || cmd->verb == CTL_ZERO);
	MUST(cmd->has_range || (!cmd->off && !cmd->len));
	MUST(cmd->slice_ms <= CTL_MAX_SLICE_MS);
	MUST(cmd->verb == CTL_TIMESLICE || !cmd->slice_ms);
}

static size_t write_out(const struct ctl_cmd *cmd, char *text, size_t max)
{
	char args[64] = "";

	if (cmd->has_range)
		snprintf(args, sizeof(args), " %" PRIu64 " %" PRIu64, cmd->off,
			 cmd->len);
	else if (cmd->has_wait)
		snprintf(args, sizeof(args), " wait=%" PRIu32, cmd->wait_ms);
	else if (cmd->slice_ms)
		snprintf(args, sizeof(args), " %" PRIu32, cmd->slice_ms);
	else if (cmd->verb == CTL_TIMESLICE)
		snprintf(args, sizeof(args), " auto");
	return (size_t)snprintf(text, max, "%s%s%s%s", verb_names[cmd->verb],
				cmd->sbr ? " sbr" : "",
				cmd->nowait ? " nowait" : "", args);
}

static bool is_same(const struct ctl_cmd *a, const struct ctl_cmd *b)
{
	return a->verb == b->verb && a->sbr == b->sbr && a->nowait == b->nowait &&
	       a->has_wait == b->has_wait && a->wait_ms == b->wait_ms &&
	       a->has_range == b->has_range && a->off == b->off &&
	       a->len == b->len && a->slice_ms == b->slice_ms;
}

static void try_line(enum ctl_scope scope, const char *line, size_t len)
{
	struct ctl_cmd cmd, untouched, again;
	char text[128];
	int ret;

	memset(&cmd, 0xa5, sizeof(cmd));
	untouched = cmd;
	ret = ctl_parse(scope, line, len, &cmd);
	if (ret) {
		MUST(ret == -EINVAL);
		MUST(!memcmp(&cmd, &untouched, sizeof(cmd)));
		return;
	}
	check_limits(scope, &cmd);
	if (cmd.verb == CTL_BLANK)
		return;
	len = write_out(&cmd, text, sizeof(text));
	MUST(len < sizeof(text));
	MUST(!ctl_parse(scope, text, len, &again));
	MUST(is_same(&cmd, &again));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	size_t off, len;
	char *line;

	if (ctl_check(text, size)) {
		MUST(size > CTL_MAX_WRITE || memchr(text, 0, size));
		return 0;
	}
	for (off = 0; off < size; off += len) {
		len = ctl_line(text + off, size - off);
		MUST(len > 0 && len <= size - off);
		MUST(off + len == size || text[off + len - 1] == '\n');
		MUST(!memchr(text + off, '\n', len - 1));
		/* alone in its allocation, so that a byte too far shows */
		line = malloc(len);
		MUST(line);
		memcpy(line, text + off, len);
		try_line(CTL_SCOPE_DIE, line, len);
		try_line(CTL_SCOPE_ROOT, line, len);
		free(line);
	}
	MUST(ctl_line(text + off, 0) == 0);
	return 0;
}
