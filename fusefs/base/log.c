/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/log.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <syslog.h>
#include <unistd.h>

/* Written once more when the mount works, while other threads serve it. */
static _Atomic bool log_to_stderr = true;
static _Atomic enum log_level log_max = LOG_LEVEL_WARN;
/* standard error is systemd's journal, which takes a level in front */
static _Atomic bool log_to_journal;

/* $JOURNAL_STREAM is "DEVICE:INODE", see systemd.exec(5) */
static bool is_journal(int fd)
{
	const char *stream = getenv("JOURNAL_STREAM");
	char own[48];
	struct stat st;

	if (!stream || fstat(fd, &st))
		return false;
	snprintf(own, sizeof(own), "%ju:%ju", (uintmax_t)st.st_dev,
		 (uintmax_t)st.st_ino);
	return !strcmp(own, stream);
}

void log_init(bool to_stderr, enum log_level max)
{
	if (!to_stderr)
		openlog("k80fs", LOG_PID, LOG_DAEMON);
	log_to_stderr = to_stderr;
	log_to_journal = to_stderr && is_journal(STDERR_FILENO);
	log_max = max;
}

void log_msg(enum log_level level, const char *fmt, ...)
{
	static const int priority[] = {
		[LOG_LEVEL_ERR] = LOG_ERR,
		[LOG_LEVEL_WARN] = LOG_WARNING,
		[LOG_LEVEL_INFO] = LOG_INFO,
		[LOG_LEVEL_DEBUG] = LOG_DEBUG,
	};
	va_list ap;

	if (level > log_max)
		return;
	va_start(ap, fmt);
	if (log_to_stderr) {
		char line[512];

		vsnprintf(line, sizeof(line), fmt, ap);
		if (log_to_journal)
			fprintf(stderr, "<%d>%s\n", priority[level], line);
		else
			fprintf(stderr, "k80fs: %s\n", line);
	} else {
		vsyslog(priority[level], fmt, ap);
	}
	va_end(ap);
}
