// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * gk210d - GK210 dies and the background, as vfio-user devices for QEMU
 *
 *	gk210d -d DIR [-n DIES]
 *
 * Makes in DIR: dieN.sock and bg.sock for QEMU, ctl.sock for orders (ctl.h),
 * dieN.vram (sparse: the memory behind BAR1) and the file log. Writes "ready"
 * to standard output once every socket listens, and runs until it is killed.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bg.h"
#include "ctl.h"
#include "die.h"
#include "log.h"

#define DIES_MAX 16

struct served {
	struct vfu_dev *dev;
	int listen;
};

static struct die dies[DIES_MAX];
static struct served served[DIES_MAX + 1];

static void *serve(void *arg)
{
	struct served *s = arg;

	vfu_serve(s->dev, s->listen);
	return NULL;
}

static const char *in_dir(const char *dir, const char *name, const char *ext)
{
	static char path[512];

	snprintf(path, sizeof(path), "%s/%s%s", dir, name, ext);
	return path;
}

static void start(struct served *s, struct vfu_dev *dev, const char *dir)
{
	pthread_t thread;

	s->dev = dev;
	s->listen = vfu_listen(in_dir(dir, dev->name, ".sock"));
	if (pthread_create(&thread, NULL, serve, s))
		log_die("%s: no thread", dev->name);
}

int main(int argc, char **argv)
{
	const char *dir = NULL;
	unsigned int n_dies = 6, i;
	char name[16];
	int opt, ctl;

	while ((opt = getopt(argc, argv, "d:n:")) != -1) {
		if (opt == 'd')
			dir = optarg;
		else if (opt == 'n')
			n_dies = strtoul(optarg, NULL, 10);
		else
			dir = NULL;
	}
	if (!dir || !n_dies || n_dies > DIES_MAX) {
		fprintf(stderr, "usage: gk210d -d DIR [-n DIES]\n");
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	log_open(in_dir(dir, "log", ""));
	for (i = 0; i < n_dies; i++) {
		snprintf(name, sizeof(name), "die%u", i);
		die_open(&dies[i], i, in_dir(dir, name, ".vram"));
		start(&served[i], &dies[i].dev, dir);
	}
	start(&served[n_dies], bg_dev(), dir);
	ctl = vfu_listen(in_dir(dir, "ctl", ".sock"));
	puts("ready");
	fflush(stdout);
	ctl_serve(dies, n_dies, ctl);
	return 0;
}
