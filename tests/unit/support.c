// SPDX-License-Identifier: GPL-2.0-or-later
#include "support.h"

#include <dirent.h>
#include <ftw.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void support_nap(void)
{
	const struct timespec ms = { .tv_nsec = 1000000 };

	nanosleep(&ms, NULL);
}

char *support_tempdir(void)
{
	const char *tmpdir = getenv("TMPDIR");
	char *dir = NULL;

	ck_assert_int_gt(asprintf(&dir, "%s/k80fs-check-XXXXXX",
				  tmpdir ? tmpdir : "/var/tmp"),
			 0);
	ck_assert_ptr_nonnull(mkdtemp(dir));
	return dir;
}

static int remove_entry(const char *path, const struct stat *st, int type,
			struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

void support_remove(char *dir)
{
	nftw(dir, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
	free(dir);
}

int support_n_entries(const char *dir)
{
	DIR *stream = opendir(dir);
	struct dirent *entry;
	int n = 0;

	ck_assert_ptr_nonnull(stream);
	while ((entry = readdir(stream)))
		n += strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
	closedir(stream);
	return n;
}

const char *support_path(const char *dir, const char *name)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

__attribute__((no_sanitize("thread"))) char support_peek(const volatile void *addr)
{
	return *(const volatile char *)addr;
}

static sigjmp_buf fault_jump;

static void on_fault(int sig)
{
	(void)sig;
	siglongjmp(fault_jump, 1);
}

bool support_faults(const volatile void *addr)
{
	struct sigaction action = { .sa_handler = on_fault }, old;
	volatile bool faults = true;

	sigaction(SIGBUS, &action, &old);
	if (!sigsetjmp(fault_jump, 1)) {
		support_peek(addr);
		faults = false;
	}
	sigaction(SIGBUS, &old, NULL);
	return faults;
}

/* Marsaglia, Xorshift RNGs, 2003, with the multiplier of Vigna's xorshift* */
uint64_t support_random(uint64_t *state, uint64_t below)
{
	uint64_t x = *state;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	*state = x;
	return (x * 0x2545f4914f6cdd1dULL >> 16) % below;
}
