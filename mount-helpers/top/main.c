/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * k80-top: what the dies of a mount are doing, live or as plain text.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "top/batch.h"
#include "top/delay.h"
#include "top/find.h"
#include "top/live.h"
#include "top/sampler.h"
#include "top/say.h"
#include "top/top.h"

#define EXIT_USAGE 2

static void usage(FILE *out)
{
	fputs("usage: k80-top [-b] [-d SECONDS] [-n COUNT] [MOUNTPOINT]\n"
	      "\n"
	      "What the dies of a k80fs mount are doing. Without MOUNTPOINT the only one\n"
	      "there is. Keys: q quit, h help.\n"
	      "\n"
	      "  -b, --batch            plain text, for scripts\n"
	      "  -d, --delay SECONDS    between two looks, 0.1 to 3600; default 1\n"
	      "  -n, --count COUNT      end after so many intervals\n"
	      "  -h, --help             this text\n"
	      "  -V, --version          the version\n",
	      out);
}

/* The only mount of k80fs, or NULL after a line that says why not. */
static char *only_mount(int *exit_status)
{
	FILE *mountinfo = fopen("/proc/self/mountinfo", "re");
	char **mounts = NULL;
	char *dir = NULL;
	size_t n = 0;

	*exit_status = EXIT_FAILURE;
	if (mountinfo)
		mounts = find_mounts(mountinfo, &n);
	if (!mounts) {
		fprintf(stderr, "k80-top: /proc/self/mountinfo: %s\n",
			strerror(errno));
	} else if (!n) {
		fprintf(stderr, "k80-top: no k80fs is mounted\n");
	} else if (n > 1) {
		*exit_status = EXIT_USAGE;
		fprintf(stderr, "k80-top: say which one:\n");
		for (size_t i = 0; i < n; i++)
			say_of(mounts[i], "a mount of k80fs");
	} else {
		dir = strdup(mounts[0]);
	}
	if (mounts)
		find_free(mounts, n);
	if (mountinfo)
		fclose(mountinfo);
	return dir;
}

static bool parse_count(const char *text, uint64_t *count)
{
	char *end;

	errno = 0;
	*count = strtoull(text, &end, 10);
	return *text >= '0' && *text <= '9' && !*end && !errno && *count;
}

static int run(struct top_options *o, bool is_batch)
{
	char *found = NULL;
	int ret, sampler;

	if (!o->dir)
		o->dir = found = only_mount(&ret);
	if (!o->dir)
		return ret;
	sampler = sampler_start(o->dir);
	if (sampler < 0) {
		say_of(o->dir, strerror(-sampler));
		free(found);
		return EXIT_FAILURE;
	}
	ret = is_batch ? batch_run(o, sampler) : live_run(o, sampler);
	free(found);
	return ret;
}

static int flushed(void)
{
	if (!fflush(stdout) && !ferror(stdout))
		return EXIT_SUCCESS;
	fprintf(stderr, "k80-top: standard output: %s\n", strerror(errno));
	return EXIT_FAILURE;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "batch", no_argument, NULL, 'b' },
		{ "delay", required_argument, NULL, 'd' },
		{ "count", required_argument, NULL, 'n' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ NULL, 0, NULL, 0 },
	};
	struct top_options o = { .delay_ns = NSEC_PER_SEC };
	bool is_batch = false;
	int c;

	while ((c = getopt_long(argc, argv, "bd:n:hV", options, NULL)) != -1) {
		switch (c) {
		case 'b':
			is_batch = true;
			break;
		case 'd':
			if (delay_parse(optarg, &o.delay_ns))
				break;
			fprintf(stderr, "k80-top: -d: 0.1 to 3600 seconds\n");
			return EXIT_USAGE;
		case 'n':
			if (parse_count(optarg, &o.count))
				break;
			fprintf(stderr, "k80-top: -n: a number from 1\n");
			return EXIT_USAGE;
		case 'h':
			usage(stdout);
			return flushed();
		case 'V':
			printf("k80-top %s\n", K80FS_VERSION);
			return flushed();
		default:
			usage(stderr);
			return EXIT_USAGE;
		}
	}
	if (argc - optind > 1) {
		usage(stderr);
		return EXIT_USAGE;
	}
	o.dir = argv[optind];
	return run(&o, is_batch);
}
