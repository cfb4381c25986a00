// SPDX-License-Identifier: GPL-2.0-or-later
/* Other dies' nodes, in a mount namespace and folders of our own. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "owner/worker/hide.h"
#include "suites.h"
#include "support.h"

#define N_GPUS 3

static const char *const bdf[N_GPUS] = { "0000:03:00.0", "0000:04:00.0",
					 "0000:0b:00.0" };
static char *root;
static char gpus[4096], dev[4096];
static char why[512];

static void put(const char *name, const char *text)
{
	int fd = open(support_path(root, name), O_WRONLY | O_CREAT, 0644);

	ck_assert_int_eq(write(fd, text, strlen(text)), (int)strlen(text));
	close(fd);
}

static void setup(void)
{
	char name[128], text[64];

	root = support_tempdir();
	snprintf(gpus, sizeof(gpus), "%s/gpus", root);
	snprintf(dev, sizeof(dev), "%s/dev", root);
	mkdir(gpus, 0755);
	mkdir(dev, 0755);
	for (int i = 0; i < N_GPUS; i++) {
		snprintf(name, sizeof(name), "gpus/%s", bdf[i]);
		mkdir(support_path(root, name), 0755);
		strcat(name, "/information");
		snprintf(text, sizeof(text), "IRQ: 7\nDevice Minor: \t %d\n",
			 10 + i);
		put(name, text);
	}
	put("dev/nvidia10", "ten");
	put("dev/nvidia11", "eleven");
	*why = '\0';
}

static void teardown(void)
{
	support_remove(root);
}

static bool is_null(const char *name)
{
	struct stat st;

	return !stat(support_path(root, name), &st) && S_ISCHR(st.st_mode) &&
	       st.st_rdev == makedev(1, 3);
}

/* Exit code of @look in a child with a mount namespace of its own; 77: there
 * can be none. */
static int in_namespace(int (*look)(void))
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(hide_tree() ? 77 : look());
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int look_at_the_second(void)
{
	const struct hide_env env = { gpus, dev };
	int minor = -1;

	/* a container's root may make no devices */
	if (mknod(support_path(root, "dev/probe"), S_IFCHR | 0600, makedev(1, 3)))
		return 77;
	if (hide_others(&env, "0000:04:00.0", &minor, why, sizeof(why)))
		return 1;
	if (minor != 11 || is_null("dev/nvidia11"))
		return 2;
	return is_null("dev/nvidia10") && is_null("dev/nvidia12") ? 0 : 3;
}

START_TEST(others_are_null_and_an_absent_node_is_made_and_hidden)
{
	int ret = in_namespace(look_at_the_second);

	ck_assert(ret == 0 || ret == 77);
	ck_assert(!is_null("dev/nvidia10"));
}
END_TEST

static int look_in_capitals(void)
{
	const struct hide_env env = { gpus, dev };
	int minor = -1;

	unlink(support_path(root, "gpus/0000:0b:00.0/information"));
	rmdir(support_path(root, "gpus/0000:0b:00.0"));
	mkdir(support_path(root, "gpus/0000:0B:00.0"), 0755);
	put("gpus/0000:0B:00.0/information", "Device Minor: 12\n");
	return hide_others(&env, "0000:0b:00.0", &minor, why, sizeof(why)) ||
	       minor != 12;
}

START_TEST(an_address_is_the_same_in_capitals)
{
	int ret = in_namespace(look_in_capitals);

	ck_assert(ret == 0 || ret == 77);
}
END_TEST

static int look_for_none(void)
{
	const struct hide_env env = { gpus, dev };
	int minor = -1;

	unlink(support_path(root, "gpus/0000:0b:00.0/information"));
	return hide_others(&env, "0000:0b:00.0", &minor, why, sizeof(why)) ==
				       -ENOENT &&
			       minor == -1 && strstr(why, "Device Minor")
		       ? 0
		       : 1;
}

START_TEST(a_gpu_that_the_driver_does_not_know_is_enoent)
{
	int ret = in_namespace(look_for_none);

	ck_assert(ret == 0 || ret == 77);
}
END_TEST

Suite *hide_suite(void)
{
	Suite *suite = suite_create("hide");
	TCase *nodes = tcase_create("nodes");

	tcase_add_checked_fixture(nodes, setup, teardown);
	tcase_add_test(nodes,
		       others_are_null_and_an_absent_node_is_made_and_hidden);
	tcase_add_test(nodes, an_address_is_the_same_in_capitals);
	tcase_add_test(nodes, a_gpu_that_the_driver_does_not_know_is_enoent);
	suite_add_tcase(suite, nodes);
	return suite;
}
