/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages of the daemon: stderr in the foreground, syslog otherwise.
 */
#ifndef K80FS_LOG_H
#define K80FS_LOG_H

#include <stdbool.h>

enum log_level {
	LOG_LEVEL_ERR,
	LOG_LEVEL_WARN,
	LOG_LEVEL_INFO,
	LOG_LEVEL_DEBUG
};

/**
 * log_init() - choose where messages go
 * @to_stderr: true for stderr, false for syslog(3), facility daemon; a stderr
 *             that is systemd's journal is told the level of each message
 * @max:       the least important level that is kept
 *
 * Before it, errors and warnings go to stderr.
 */
void log_init(bool to_stderr, enum log_level max);

void log_msg(enum log_level level, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#define log_err(...)   log_msg(LOG_LEVEL_ERR, __VA_ARGS__)
#define log_warn(...)  log_msg(LOG_LEVEL_WARN, __VA_ARGS__)
#define log_info(...)  log_msg(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...) log_msg(LOG_LEVEL_DEBUG, __VA_ARGS__)

#endif /* K80FS_LOG_H */
