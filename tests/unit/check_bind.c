// SPDX-License-Identifier: GPL-2.0-or-later
/* Binding one die to the vendor's driver, in a sysfs of our own. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "owner/bind.h"
#include "suites.h"
#include "support.h"

#define N_DIES 3

static const char bdf[N_DIES][16] = { "0000:03:00.0", "0000:04:00.0",
				      "0000:05:00.0" };
static char *root;
static char modprobe[4096];
static struct bind_env env;
static char why[256];

static void put(const char *name, const char *text, mode_t mode)
{
	int fd = open(support_path(root, name), O_WRONLY | O_CREAT | O_TRUNC,
		      mode);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, text, strlen(text)), (int)strlen(text));
	close(fd);
}

static const char *get(const char *name)
{
	static char text[256];
	int fd = open(support_path(root, name), O_RDONLY);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	text[n < 0 ? 0 : n] = '\0';
	return text;
}

static const char *override_of(int die)
{
	char name[128];

	snprintf(name, sizeof(name), "bus/pci/devices/%s/driver_override",
		 bdf[die]);
	return get(name);
}

static void give_driver(int die, const char *driver)
{
	char name[128], target[128];

	snprintf(name, sizeof(name), "bus/pci/devices/%s/driver", bdf[die]);
	snprintf(target, sizeof(target), "../../../bus/pci/drivers/%s", driver);
	ck_assert_int_eq(symlink(target, support_path(root, name)), 0);
}

/*
 * What `modprobe` does here: a line to "calls"; loading nvidia binds the die
 * named in "takes", if there is one.
 */
static const char script[] =
	"#!/bin/sh\n"
	"cd \"${0%/*}\"\n"
	"echo \"$*\" >>calls\n"
	"[ ! -e refuse ] || exit 1\n"
	"[ \"$2\" != nvidia ] || [ ! -e takes ] ||\n"
	"	ln -s ../../../bus/pci/drivers/nvidia \\\n"
	"		\"bus/pci/devices/$(cat takes)/driver\"\n";

static void setup(void)
{
	char name[128];

	root = support_tempdir();
	put("modprobe", script, 0755);
	snprintf(modprobe, sizeof(modprobe), "%s",
		 support_path(root, "modprobe"));
	mkdir(support_path(root, "bus"), 0755);
	mkdir(support_path(root, "module"), 0755);
	mkdir(support_path(root, "bus/pci"), 0755);
	mkdir(support_path(root, "bus/pci/devices"), 0755);
	mkdir(support_path(root, "bus/pci/drivers"), 0755);
	put("bus/pci/drivers_probe", "", 0644);
	for (int die = 0; die < N_DIES; die++) {
		snprintf(name, sizeof(name), "bus/pci/devices/%s", bdf[die]);
		mkdir(support_path(root, name), 0755);
		strcat(name, "/driver_override");
		put(name, "", 0644);
	}
	env = (struct bind_env){ root, modprobe, N_DIES, bdf };
	*why = '\0';
}

static void teardown(void)
{
	support_remove(root);
}

START_TEST(bind_of_a_bound_die_does_nothing)
{
	give_driver(1, "nvidia");
	ck_assert_int_eq(bind_die(&env, 1, why, sizeof(why)), 0);
	ck_assert_str_eq(get("calls"), "");
	ck_assert_str_eq(override_of(0), "");
}
END_TEST

START_TEST(bind_of_a_die_with_another_driver_returns_ebusy)
{
	give_driver(1, "vfio-pci");
	ck_assert_int_eq(bind_die(&env, 1, why, sizeof(why)), -EBUSY);
	ck_assert_ptr_nonnull(strstr(why, "vfio-pci"));
	ck_assert_str_eq(get("calls"), "");
}
END_TEST

START_TEST(first_bind_keeps_the_driver_off_the_others_and_loads_it)
{
	put("takes", bdf[1], 0644);
	ck_assert_int_eq(bind_die(&env, 1, why, sizeof(why)), 0);
	ck_assert_str_eq(get("calls"), "--ignore-install nvidia\n"
				       "--ignore-install nvidia_uvm\n");
	ck_assert_str_eq(override_of(1), "nvidia");
	ck_assert_str_ne(override_of(0), "");
	ck_assert_str_ne(override_of(0), "nvidia");
	ck_assert_str_eq(override_of(2), override_of(0));
	ck_assert_str_eq(get("bus/pci/drivers_probe"), "");
}
END_TEST

START_TEST(second_bind_asks_the_driver_to_look_and_loads_nothing)
{
	mkdir(support_path(root, "bus/pci/drivers/nvidia"), 0755);
	give_driver(0, "nvidia");
	/* nobody takes the die here: that is an error, after the attempt */
	ck_assert_int_eq(bind_die(&env, 2, why, sizeof(why)), -EIO);
	ck_assert_ptr_nonnull(strstr(why, bdf[2]));
	ck_assert_str_eq(get("calls"), "");
	ck_assert_str_eq(get("bus/pci/drivers_probe"), bdf[2]);
	ck_assert_str_eq(override_of(2), "nvidia");
	ck_assert_str_eq(override_of(0), "");
}
END_TEST

START_TEST(bind_without_a_driver_to_load_returns_eio)
{
	put("refuse", "", 0644);
	ck_assert_int_eq(bind_die(&env, 0, why, sizeof(why)), -EIO);
	ck_assert_ptr_nonnull(strstr(why, "nvidia"));
}
END_TEST

START_TEST(bind_of_a_die_that_is_gone_names_the_file)
{
	unlink(support_path(root, "bus/pci/devices/0000:03:00.0/driver_override"));
	ck_assert_int_eq(bind_die(&env, 0, why, sizeof(why)), -ENOENT);
	ck_assert_ptr_nonnull(strstr(why, "driver_override"));
}
END_TEST

START_TEST(unload_removes_what_is_loaded_users_first)
{
	ck_assert_int_eq(bind_unload(&env, why, sizeof(why)), 0);
	ck_assert_str_eq(get("calls"), "");
	mkdir(support_path(root, "module/nvidia"), 0755);
	mkdir(support_path(root, "module/nvidia_uvm"), 0755);
	ck_assert_int_eq(bind_unload(&env, why, sizeof(why)), 0);
	ck_assert_str_eq(get("calls"), "-r nvidia_uvm\n-r nvidia\n");
}
END_TEST

Suite *bind_suite(void)
{
	Suite *suite = suite_create("bind");
	TCase *sysfs = tcase_create("sysfs");

	tcase_add_checked_fixture(sysfs, setup, teardown);
	tcase_add_test(sysfs, bind_of_a_bound_die_does_nothing);
	tcase_add_test(sysfs, bind_of_a_die_with_another_driver_returns_ebusy);
	tcase_add_test(sysfs,
		       first_bind_keeps_the_driver_off_the_others_and_loads_it);
	tcase_add_test(sysfs,
		       second_bind_asks_the_driver_to_look_and_loads_nothing);
	tcase_add_test(sysfs, bind_without_a_driver_to_load_returns_eio);
	tcase_add_test(sysfs, bind_of_a_die_that_is_gone_names_the_file);
	tcase_add_test(sysfs, unload_removes_what_is_loaded_users_first);
	suite_add_tcase(suite, sysfs);
	return suite;
}
