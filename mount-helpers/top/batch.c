/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "top/batch.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "top/rows.h"
#include "top/sampler.h"
#include "top/say.h"

/* a status never waits for hardware */
#define PATIENCE_MS 30000

/* Returns whether there is one; if not, why was said. */
static bool take(const struct top_options *o, int sampler, bool was_read,
		 struct top_sample *out)
{
	struct pollfd fd = { .fd = sampler, .events = POLLIN };
	int ret = sampler_ask(sampler);

	if (!ret && !poll(&fd, 1, PATIENCE_MS)) {
		say_of(o->dir, "its daemon does not answer");
		return false;
	}
	if (!ret)
		ret = sampler_get(sampler, out);
	if (ret || out->error) {
		say_why(o->dir, ret ? -ret : out->error, was_read);
		return false;
	}
	return true;
}

static void show(struct rows *rows)
{
	char line[ROWS_LINE_MAX], at[32];
	time_t now = time(NULL);
	struct tm tm;

	strftime(at, sizeof(at), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &tm));
	rows_sums(rows, true, line);
	printf("\n%s  interval %.3f  %s\n", at, rows->seconds, line);
	rows_head(line, true);
	puts(line);
	for (unsigned int i = 0; i < rows->n; i++) {
		rows_text(rows, i, true, line);
		puts(line);
	}
}

/* Until the time of the next sample. */
static void wait_until(uint64_t at_ns)
{
	struct timespec until = {
		.tv_sec = (time_t)(at_ns / NSEC_PER_SEC),
		.tv_nsec = (long)(at_ns % NSEC_PER_SEC),
	};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) ==
	       EINTR)
		;
}

static bool flush(void)
{
	if (!fflush(stdout))
		return true;
	fprintf(stderr, "k80-top: standard output: %s\n", strerror(errno));
	return false;
}

int batch_run(const struct top_options *o, int sampler)
{
	static struct top_sample samples[2];
	static struct rows rows;

	uint64_t next = now_ns();

	if (!take(o, sampler, false, &samples[0]))
		return EXIT_FAILURE;
	printf("mount %s  backend %s  dies %u\n", o->dir, samples[0].backend,
	       samples[0].n_dies);
	if (!flush())
		return EXIT_FAILURE;
	for (uint64_t n = 1; !o->count || n <= o->count; n++) {
		const struct top_sample *from = &samples[(n + 1) % 2];
		struct top_sample *to = &samples[n % 2];

		/* one that was late makes none after it shorter */
		next = MAX(next + o->delay_ns, now_ns());
		wait_until(next);
		if (!take(o, sampler, true, to))
			return EXIT_FAILURE;
		rows_make(from, to, &rows);
		show(&rows);
		if (!flush())
			return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}
