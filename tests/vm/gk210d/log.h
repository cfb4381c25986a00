/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One log for all dies: a line an event, time-stamped, in one order. */
#ifndef LOG_H
#define LOG_H

/** log_open() - where to write; stderr until then. Ends the program if not */
void log_open(const char *path);

/** log_line() - one event; any thread */
void log_line(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/** log_die() - say why on stderr too, and end the program */
void log_die(const char *fmt, ...)
	__attribute__((format(printf, 1, 2), noreturn));

#endif /* LOG_H */
