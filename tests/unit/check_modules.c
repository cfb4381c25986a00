// SPDX-License-Identifier: GPL-2.0-or-later
/* What the vendor's driver is called, by what modprobe says. */
#include "owner/modules.h"
#include "suites.h"

static const struct {
	const char *aliases, *config;
	const char *driver, *uvm;
} rows[] = {
	{ "", "", "nvidia", "nvidia_uvm" },
	{ "nouveau\nnvidiafb\nnvidia\n", "", "nvidia", "nvidia_uvm" },
	/* a file of another name, found by its alias */
	{ "nvidia-tesla-470\n", "", "nvidia-tesla-470", "nvidia-tesla-470-uvm" },
	{ "nvidia_current\n", "", "nvidia_current", "nvidia_current_uvm" },
	{ "nvidia_drm\nnvidia-peermem\nnvidia_modeset\nnvidia_uvm\n", "",
	  "nvidia", "nvidia_uvm" },
	/* Debian's, beside one that keeps it away */
	{ "nvidia\n",
	  "blacklist nvidia\ninstall nvidia /bin/false\n"
	  "install nvidia modprobe -i nvidia-tesla-470 $CMDLINE_OPTS\n"
	  "install nvidia_uvm modprobe nvidia ; modprobe -i nvidia-tesla-470-uvm $CMDLINE_OPTS\n",
	  "nvidia-tesla-470", "nvidia-tesla-470-uvm" },
	{ "",
	  "install nvidia-uvm modprobe --ignore-install nvidia-current-uvm\n"
	  "install nvidia modprobe --ignore-install nvidia-current",
	  "nvidia-current", "nvidia-current-uvm" },
	/* of other modules, cut off, or with nothing behind */
	{ "", "install nvidiafb modprobe -i x\ninstall nvidia modprobe -i\n",
	  "nvidia", "nvidia_uvm" },
	{ "", "install nvidia\ninstall\n\n  \nalias nvidia x\n", "nvidia",
	  "nvidia_uvm" },
	/* longer than any module's name */
	{ "nvidia-0123456789012345678901234567890123456789012345678901234567890123456789\n",
	  "", "nvidia", "nvidia_uvm" },
};

START_TEST(find_gives_the_names_that_load)
{
	struct modules m;

	modules_find(rows[_i].aliases, rows[_i].config, &m);
	ck_assert_str_eq(m.driver, rows[_i].driver);
	ck_assert_str_eq(m.uvm, rows[_i].uvm);
}
END_TEST

Suite *modules_suite(void)
{
	Suite *suite = suite_create("modules");
	TCase *names = tcase_create("names");

	tcase_add_loop_test(names, find_gives_the_names_that_load, 0,
			    (int)(sizeof(rows) / sizeof(rows[0])));
	suite_add_tcase(suite, names);
	return suite;
}
