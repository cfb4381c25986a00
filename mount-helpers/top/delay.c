/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "top/delay.h"

#include <stdlib.h>
#include <string.h>

#include "top/top.h"

bool delay_parse(const char *text, uint64_t *ns)
{
	char *end;
	double seconds;

	if (!*text || text[strspn(text, "0123456789.")])
		return false;
	seconds = strtod(text, &end);
	/* compared as they are: what is too large for a number is no number */
	if (*end || seconds < (double)TOP_MIN_DELAY_NS / NSEC_PER_SEC ||
	    seconds > (double)TOP_MAX_DELAY_NS / NSEC_PER_SEC)
		return false;
	*ns = (uint64_t)(seconds * NSEC_PER_SEC);
	return true;
}
