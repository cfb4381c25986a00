// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs every suite of suites.h. Check's environment variables apply:
 * CK_FORK=no, CK_RUN_SUITE=NAME, CK_RUN_CASE=NAME, CK_VERBOSITY=verbose.
 */
#include <stdlib.h>

#include "base/util.h"
#include "suites.h"

#define SUITE_MAKER(unit) unit##_suite,

static Suite *(*const makers[])(void) = { SUITES(SUITE_MAKER) };

int main(void)
{
	SRunner *runner = srunner_create(NULL);
	int failed;

	/* s; longer than support_wait_until(), which can say what it missed,
	 * and than any test takes under a sanitizer on a busy machine */
	setenv("CK_DEFAULT_TIMEOUT", "60", 0);
	for (size_t i = 0; i < ARRAY_SIZE(makers); i++)
		srunner_add_suite(runner, makers[i]());
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
