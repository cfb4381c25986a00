/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/log.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <syslog.h>

/* Written once more when the mount works, while other threads serve it. */
static _Atomic bool log_to_stderr = true;
static _Atomic enum log_level log_max = LOG_LEVEL_WARN;

void log_init(bool to_stderr, enum log_level max)
{
	if (!to_stderr)
		openlog("k80fs", LOG_PID, LOG_DAEMON);
	log_to_stderr = to_stderr;
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
		fprintf(stderr, "k80fs: %s\n", line);
	} else {
		vsyslog(priority[level], fmt, ap);
	}
	va_end(ap);
}
