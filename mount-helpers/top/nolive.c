/* SPDX-License-Identifier: GPL-2.0-or-later */
/* In place of live.c and screen.c where there is no ncurses. */
#include "top/live.h"

#include <stdio.h>
#include <stdlib.h>

int live_run(const struct top_options *o, int sampler)
{
	(void)o;
	(void)sampler;
	fprintf(stderr, "k80-top: built without ncurses: only -b works\n");
	return EXIT_FAILURE;
}
