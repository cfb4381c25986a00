/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <time.h>

#include "owner/owner.h"

size_t owner_stamp(char *text, size_t size, const char *line)
{
	struct timespec ts;
	struct tm tm;
	size_t len;

	clock_gettime(CLOCK_REALTIME, &ts);
	gmtime_r(&ts.tv_sec, &tm);
	len = strftime(text, size, "%Y-%m-%dT%H:%M:%S", &tm);
	len += (size_t)snprintf(text + len, size - len, ".%06ldZ %s\n",
				ts.tv_nsec / 1000, line);
	if (len < size)
		return len;
	text[size - 2] = '\n';
	return size - 1;
}
