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
static char rmmod[4096];
static char gpus[4096], dev[4096];
static struct bind *b;
static char why[256];
static char steps[1024];

static void on_step(void *arg, unsigned int die, const char *line)
{
	size_t at = strlen(steps);

	(void)arg;
	snprintf(steps + at, sizeof(steps) - at, "%u: %s\n", die, line);
}

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
 * What `modprobe` does here: a line to "calls"; loading the driver binds the
 * die named in "takes", if there is one.
 */
static const char script[] =
	"#!/bin/sh\n"
	"cd \"${0%/*}\"\n"
	"case $1 in\n"
	"-R) cat aliases 2>/dev/null; exit ;;\n"
	"-c) cat config 2>/dev/null; exit ;;\n"
	"esac\n"
	"echo \"${0##*/} $*\" >>calls\n"
	"[ ! -e refuse ] || exit 1\n"
	"case ${0##*/}:$2 in modprobe:*uvm | rmmod:*) exit ;; esac\n"
	"mkdir -p bus/pci/drivers/nvidia module/nvidia/holders\n"
	"ln -sfn ../../../../module/nvidia bus/pci/drivers/nvidia/module\n"
	": >bus/pci/drivers/nvidia/unbind\n"
	"[ ! -e takes ] ||\n"
	"	ln -s ../../../bus/pci/drivers/nvidia \\\n"
	"		\"bus/pci/devices/$(cat takes)/driver\"\n";

static void make(const char *name)
{
	ck_assert_int_eq(mkdir(support_path(root, name), 0755), 0);
}

static void setup(void)
{
	struct bind_env env = { .n_dies = N_DIES, .bdf = bdf, .step = on_step };
	char name[128];

	root = support_tempdir();
	put("modprobe", script, 0755);
	put("rmmod", script, 0755);
	make("bus");
	make("module");
	make("bus/pci");
	make("bus/pci/devices");
	make("bus/pci/drivers");
	make("gpus");
	make("dev");
	put("bus/pci/drivers_probe", "", 0644);
	for (int die = 0; die < N_DIES; die++) {
		snprintf(name, sizeof(name), "bus/pci/devices/%s", bdf[die]);
		make(name);
		strcat(name, "/driver_override");
		put(name, "", 0644);
		snprintf(name, sizeof(name), "bus/pci/devices/%s/modalias",
			 bdf[die]);
		put(name, "pci:v000010DEd0000102D\n", 0644);
	}
	snprintf(modprobe, sizeof(modprobe), "%s/modprobe", root);
	snprintf(rmmod, sizeof(rmmod), "%s/rmmod", root);
	snprintf(gpus, sizeof(gpus), "%s/gpus", root);
	snprintf(dev, sizeof(dev), "%s/dev", root);
	env.sysfs = root;
	env.modprobe = modprobe;
	env.rmmod = rmmod;
	env.gpus = gpus;
	env.dev = dev;
	ck_assert_int_eq(bind_open(&b, &env), 0);
	*why = '\0';
	*steps = '\0';
}

static void teardown(void)
{
	bind_close(b);
	b = NULL;
	support_remove(root);
}

/* The driver says that the die's node is a file of ours. */
static void give_node(int die, int minor)
{
	char name[128], text[64];

	snprintf(name, sizeof(name), "gpus/%s", bdf[die]);
	make(name);
	strcat(name, "/information");
	snprintf(text, sizeof(text),
		 "Model: \t\t Tesla K80\nDevice Minor: \t %d\n", minor);
	put(name, text, 0644);
	snprintf(name, sizeof(name), "dev/nvidia%d", minor);
	put(name, "", 0644);
}

static int take(int die)
{
	return bind_take(b, (unsigned int)die, why, sizeof(why));
}

START_TEST(take_of_a_bound_die_does_nothing)
{
	give_driver(1, "nvidia");
	ck_assert_int_eq(take(1), 0);
	ck_assert_str_eq(get("calls"), "");
	ck_assert_str_eq(override_of(0), "");
	ck_assert_str_eq(steps, "");
}
END_TEST

START_TEST(take_of_a_die_with_another_driver_returns_ebusy)
{
	give_driver(1, "vfio-pci");
	ck_assert_int_eq(take(1), -EBUSY);
	ck_assert_ptr_nonnull(strstr(why, "vfio-pci"));
	ck_assert_str_eq(get("calls"), "");
}
END_TEST

START_TEST(first_take_keeps_the_driver_off_the_others_and_loads_it)
{
	put("takes", bdf[1], 0644);
	ck_assert_int_eq(take(1), 0);
	ck_assert_str_eq(get("calls"), "modprobe --ignore-install nvidia\n"
				       "modprobe --ignore-install nvidia_uvm\n");
	ck_assert_str_eq(override_of(1), "nvidia");
	ck_assert_str_eq(override_of(0), "k80fs-keep-off");
	ck_assert_str_eq(override_of(2), override_of(0));
	ck_assert_str_eq(get("bus/pci/drivers_probe"), "");
	ck_assert_str_eq(steps,
			 "0: driver_override of 0000:03:00.0: k80fs-keep-off\n"
			 "2: driver_override of 0000:05:00.0: k80fs-keep-off\n"
			 "1: driver_override of 0000:04:00.0: nvidia\n"
			 "1: modprobe nvidia\n"
			 "1: modprobe nvidia_uvm\n");
}
END_TEST

START_TEST(take_loads_by_the_name_that_the_distribution_gives_it)
{
	put("takes", bdf[1], 0644);
	put("aliases", "nvidiafb\nnvidia\n", 0644);
	put("config",
	    "install nvidia /bin/false\n"
	    "install nvidia modprobe -i nvidia-tesla-470 $CMDLINE_OPTS\n"
	    "install nvidia_uvm modprobe nvidia ; modprobe -i nvidia-tesla-470-uvm\n",
	    0644);
	ck_assert_int_eq(take(1), 0);
	ck_assert_str_eq(get("calls"),
			 "modprobe --ignore-install nvidia-tesla-470\n"
			 "modprobe --ignore-install nvidia-tesla-470-uvm\n");
}
END_TEST

START_TEST(second_take_asks_the_driver_to_look_and_loads_nothing)
{
	make("bus/pci/drivers/nvidia");
	give_driver(0, "nvidia");
	/* nobody takes the die here: that is an error, after the attempt */
	ck_assert_int_eq(take(2), -EIO);
	ck_assert_ptr_nonnull(strstr(why, bdf[2]));
	ck_assert_str_eq(get("calls"), "");
	ck_assert_str_eq(get("bus/pci/drivers_probe"), bdf[2]);
	ck_assert_str_eq(override_of(2), "nvidia");
	ck_assert_str_eq(override_of(0), "");
	ck_assert_ptr_nonnull(strstr(steps, "2: bind\n"));
}
END_TEST

START_TEST(take_without_a_driver_to_load_returns_eio)
{
	put("refuse", "", 0644);
	ck_assert_int_eq(take(0), -EIO);
	ck_assert_ptr_nonnull(strstr(why, "nvidia"));
}
END_TEST

START_TEST(take_of_a_die_that_is_gone_names_the_file)
{
	unlink(support_path(root, "bus/pci/devices/0000:03:00.0/driver_override"));
	ck_assert_int_eq(take(0), -ENOENT);
	ck_assert_ptr_nonnull(strstr(why, "driver_override"));
}
END_TEST

START_TEST(close_gives_back_every_override_that_was_changed)
{
	put("takes", bdf[1], 0644);
	put("bus/pci/devices/0000:05:00.0/driver_override", "pci-stub\n", 0644);
	ck_assert_int_eq(take(1), 0);
	ck_assert_int_eq(take(1), 0);
	bind_close(b);
	b = NULL;
	/* a file of ours keeps what is behind the last write */
	ck_assert_int_eq(*override_of(0), '\n');
	ck_assert_int_eq(*override_of(1), '\n');
	ck_assert_ptr_eq(strstr(override_of(2), "pci-stub"), override_of(2));
}
END_TEST

START_TEST(close_after_nothing_writes_nothing)
{
	bind_close(b);
	b = NULL;
	ck_assert_str_eq(override_of(0), "");
	ck_assert_str_eq(steps, "");
}
END_TEST

START_TEST(close_of_an_override_that_said_null_writes_nothing_else)
{
	put("takes", bdf[1], 0644);
	put("bus/pci/devices/0000:03:00.0/driver_override", "(null)\n", 0644);
	ck_assert_int_eq(take(1), 0);
	bind_close(b);
	b = NULL;
	ck_assert_int_eq(*override_of(0), '\n');
}
END_TEST

START_TEST(give_unbinds_and_leaves_the_others)
{
	put("takes", bdf[1], 0644);
	ck_assert_int_eq(bind_give(b, 1, why, sizeof(why)), 0);
	ck_assert_str_eq(steps, "");
	ck_assert_int_eq(take(1), 0);
	ck_assert_int_eq(bind_give(b, 1, why, sizeof(why)), 0);
	ck_assert_str_eq(get("bus/pci/drivers/nvidia/unbind"), bdf[1]);
	ck_assert_ptr_nonnull(strstr(steps, "1: unbind\n"));
}
END_TEST

START_TEST(give_of_a_die_that_is_used_returns_ebusy_and_says_by_whom)
{
	char me[32];
	int fd;

	put("takes", bdf[1], 0644);
	give_node(1, 7);
	ck_assert_int_eq(take(1), 0);
	fd = open(support_path(root, "dev/nvidia7"), O_RDONLY);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(bind_give(b, 1, why, sizeof(why)), -EBUSY);
	snprintf(me, sizeof(me), "process %d ", (int)getpid());
	ck_assert_ptr_nonnull(strstr(why, me));
	ck_assert_str_eq(get("bus/pci/drivers/nvidia/unbind"), "");
	close(fd);
	ck_assert_int_eq(bind_give(b, 1, why, sizeof(why)), 0);
}
END_TEST

START_TEST(warm_opens_the_node_once_between_bind_and_unbind_and_unloads)
{
	put("takes", bdf[1], 0644);
	give_node(1, 7);
	ck_assert_int_eq(bind_warm(b, 1, why, sizeof(why)), 0);
	ck_assert_ptr_nonnull(strstr(steps, "dev/nvidia7\n"));
	ck_assert_ptr_nonnull(strstr(steps, "close of"));
	ck_assert_ptr_nonnull(strstr(strstr(steps, "close of"), "unbind"));
	ck_assert_str_eq(get("calls"), "modprobe --ignore-install nvidia\n"
				       "modprobe --ignore-install nvidia_uvm\n"
				       "rmmod nvidia\n");
}
END_TEST

START_TEST(warm_beside_a_driver_that_was_loaded_leaves_it_loaded)
{
	make("bus/pci/drivers/nvidia");
	put("bus/pci/drivers/nvidia/unbind", "", 0644);
	give_driver(1, "nvidia");
	give_node(1, 0);
	ck_assert_int_eq(bind_warm(b, 1, why, sizeof(why)), 0);
	ck_assert_str_eq(get("calls"), "");
	ck_assert_str_eq(get("bus/pci/drivers/nvidia/unbind"), bdf[1]);
}
END_TEST

START_TEST(warm_of_a_die_without_a_node_lets_go_of_it_and_says_so)
{
	put("takes", bdf[1], 0644);
	ck_assert_int_eq(bind_warm(b, 1, why, sizeof(why)), -ENOENT);
	ck_assert_ptr_nonnull(strstr(why, "Device Minor"));
	ck_assert_str_eq(get("bus/pci/drivers/nvidia/unbind"), bdf[1]);
}
END_TEST

START_TEST(unload_removes_what_is_loaded_users_first)
{
	char names[256];

	ck_assert_int_eq(bind_unload(b, why, sizeof(why)), 0);
	ck_assert_str_eq(get("calls"), "");
	bind_modules(b, names, sizeof(names));
	ck_assert_str_eq(names, "");
	put("takes", bdf[1], 0644);
	ck_assert_int_eq(take(1), 0);
	unlink(support_path(root, "calls"));
	make("module/nvidia/holders/nvidia_modeset");
	make("module/nvidia_modeset");
	make("module/nvidia_modeset/holders");
	make("module/nvidia_modeset/holders/nvidia_drm");
	bind_modules(b, names, sizeof(names));
	ck_assert_str_eq(names, "nvidia nvidia_modeset");
	ck_assert_int_eq(bind_unload(b, why, sizeof(why)), 0);
	ck_assert_str_eq(get("calls"),
			 "rmmod nvidia_drm\nrmmod nvidia_modeset\nrmmod nvidia\n");
}
END_TEST

Suite *bind_suite(void)
{
	Suite *suite = suite_create("bind");
	TCase *sysfs = tcase_create("sysfs");

	tcase_add_checked_fixture(sysfs, setup, teardown);
	tcase_add_test(sysfs, take_of_a_bound_die_does_nothing);
	tcase_add_test(sysfs, take_of_a_die_with_another_driver_returns_ebusy);
	tcase_add_test(sysfs,
		       first_take_keeps_the_driver_off_the_others_and_loads_it);
	tcase_add_test(sysfs,
		       take_loads_by_the_name_that_the_distribution_gives_it);
	tcase_add_test(sysfs,
		       second_take_asks_the_driver_to_look_and_loads_nothing);
	tcase_add_test(sysfs, take_without_a_driver_to_load_returns_eio);
	tcase_add_test(sysfs, take_of_a_die_that_is_gone_names_the_file);
	tcase_add_test(sysfs, close_gives_back_every_override_that_was_changed);
	tcase_add_test(sysfs,
		       close_of_an_override_that_said_null_writes_nothing_else);
	tcase_add_test(sysfs, close_after_nothing_writes_nothing);
	tcase_add_test(sysfs, give_unbinds_and_leaves_the_others);
	tcase_add_test(sysfs,
		       give_of_a_die_that_is_used_returns_ebusy_and_says_by_whom);
	tcase_add_test(
		sysfs,
		warm_opens_the_node_once_between_bind_and_unbind_and_unloads);
	tcase_add_test(sysfs,
		       warm_beside_a_driver_that_was_loaded_leaves_it_loaded);
	tcase_add_test(sysfs,
		       warm_of_a_die_without_a_node_lets_go_of_it_and_says_so);
	tcase_add_test(sysfs, unload_removes_what_is_loaded_users_first);
	suite_add_tcase(suite, sysfs);
	return suite;
}
