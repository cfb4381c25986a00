// SPDX-License-Identifier: GPL-2.0-or-later
#include "mock_user.h"

#include <grp.h>
#include <string.h>
#include <unistd.h>

uid_t __wrap_getuid(void);
uid_t __real_getuid(void);
uid_t __wrap_geteuid(void);
uid_t __real_geteuid(void);
gid_t __wrap_getgid(void);
gid_t __real_getgid(void);
struct group *__wrap_getgrnam(const char *name);
struct group *__real_getgrnam(const char *name);

static struct {
	bool is_on;
	uid_t uid;
	gid_t gid;
	bool has_group;
} mock;

void mock_user_start(uid_t uid, gid_t gid, bool has_group)
{
	mock.is_on = true;
	mock.uid = uid;
	mock.gid = gid;
	mock.has_group = has_group;
}

void mock_user_stop(void)
{
	mock.is_on = false;
}

uid_t __wrap_getuid(void)
{
	return mock.is_on ? mock.uid : __real_getuid();
}

uid_t __wrap_geteuid(void)
{
	return mock.is_on ? mock.uid : __real_geteuid();
}

gid_t __wrap_getgid(void)
{
	return mock.is_on ? mock.gid : __real_getgid();
}

struct group *__wrap_getgrnam(const char *name)
{
	static struct group k80 = { .gr_gid = MOCK_GROUP_K80 };

	if (!mock.is_on)
		return __real_getgrnam(name);
	return mock.has_group && !strcmp(name, "k80") ? &k80 : NULL;
}
