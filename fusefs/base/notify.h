/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Words for the service manager that started the program: datagrams to the
 * socket that $NOTIFY_SOCKET names, which sd_notify(3) publishes as a protocol
 * that stays. Spoken here in a few lines, so that nothing else is needed to
 * build, and nothing else is in the process.
 */
#ifndef K80FS_NOTIFY_H
#define K80FS_NOTIFY_H

#include <stdbool.h>

enum notify_state {
	NOTIFY_READY, /* what was asked for is there */
	NOTIFY_RUNNING, /* nothing new but the text */
	NOTIFY_STOPPING,
};

/**
 * notify_init() - take $NOTIFY_SOCKET out of the environment: no child is to
 * speak for us
 * @is_wanted: false: and say nothing
 *
 * Context: before any other thread is there.
 */
void notify_init(bool is_wanted);

/** notify_is_on() - whether anybody is there to be told */
bool notify_is_on(void);

/**
 * notify() - tell, in @fmt, what the program is doing
 *
 * A word that comes too late is dropped: one of an earlier state than the last
 * word, or NOTIFY_RUNNING before NOTIFY_READY. So is a text that was told last.
 *
 * Context: any thread; a manager that does not read is waited for, a second at
 * most.
 */
void notify(enum notify_state state, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif /* K80FS_NOTIFY_H */
