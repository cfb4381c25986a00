/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who runs the program, for tests.
 *
 * Link with -Wl,--wrap= for getuid, geteuid, getgid and getgrnam. While it is
 * off, calls go to the system.
 */
#ifndef MOCK_USER_H
#define MOCK_USER_H

#include <stdbool.h>
#include <sys/types.h>

#define MOCK_GROUP_K80 99 /* number of the group "k80" */

/** mock_user_start() - be this user; @has_group: there is a group "k80" */
void mock_user_start(uid_t uid, gid_t gid, bool has_group);

/** mock_user_stop() - be who it really is */
void mock_user_stop(void);

#endif /* MOCK_USER_H */
