/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * k80-worker: the CUDA contexts and kernels of one die, in a process that sees
 * that die only. k80-owner and k80fs start it and tell it what to do.
 *
 *	k80-worker DIE SEATS NODE BDF DEVICES
 *	k80-worker --try FD UUID LEN
 *
 * NODE is the module's, BDF the die's address; "-" where there is no module.
 * DEVICES becomes CUDA_VISIBLE_DEVICES, "-" leaves that as it is. A worker with
 * more than one seat has the dies 0 .. SEATS - 1 as streams. With --try it does
 * nothing but import a piece of memory, see try.h.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"
#include "owner/minor.h"
#include "owner/worker/gpu.h"
#include "owner/worker/hide.h"
#include "owner/worker/leave.h"
#include "owner/worker/tell.h"
#include "owner/worker/try.h"
#include "text/words.h"

#define EXIT_USAGE 2

/**
 * struct worker - this process
 * @bdf:      NULL: any device is the die
 * @shared:   of each seat
 * @minor:    of the device's node, -1 if all are to be seen
 * @anchor:   pid of it, 0 for none
 */
struct worker {
	unsigned int n_seats;
	const char *bdf;
	struct wire_shared *shared;
	struct leave leave;
	int minor;
	int anchor;
};

/* Its end is an orderly one: not by the system's needs, nor by a signal to all
 * that belongs to a unit. */
static void harden(void)
{
	FILE *f = fopen("/proc/self/oom_score_adj", "we");

	/* needs CAP_SYS_RESOURCE: without it a worker is as any program */
	if (f) {
		fputs("-1000", f);
		fclose(f);
	}
	signal(SIGTERM, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
}

static int open_module(struct worker *w, const char *node)
{
	w->leave.bs = bs_init_device(node);
	w->leave.spare = bs_init_device(node);
	if (w->leave.bs && w->leave.spare)
		return 0;
	tell_blame("%s: %s", node, strerror(errno));
	return -errno;
}

/* What it can reach is what it needs. */
static int confine(struct worker *w, const char *node)
{
	const struct hide_env env = { .gpus = MINOR_GPUS, .dev = "/dev" };
	char why[WIRE_TEXT_LEN / 2];
	int ret;

	ret = hide_tree();
	/* as an ordinary user nothing can be hidden; the module needs root */
	if (ret && (w->bdf || ret != -EPERM)) {
		tell_blame("a mount namespace of its own: %s", strerror(-ret));
		return ret;
	}
	if (!w->bdf)
		return 0;
	ret = hide_others(&env, w->bdf, &w->minor, why, sizeof(why));
	if (ret) {
		tell_blame("%s", why);
		return ret;
	}
	ret = open_module(w, node);
	if (ret)
		return ret;
	w->anchor = leave_anchor(&w->leave);
	if (w->anchor < 0) {
		tell_say("no anchor: %s", strerror(-w->anchor));
		w->anchor = 0;
	}
	return 0;
}

static int do_online(struct worker *w, unsigned int seat, struct wire_reply *r)
{
	int device = 0;
	int ret = gpu_online(seat, w->bdf, &w->shared[seat], r->text, &device);

	r->value = w->bdf ? w->minor : device;
	return ret;
}

/* Whatever comes of it, no descriptor stays. */
static int do_map(struct worker *w, const struct wire_request *req, const int *fds)
{
	int ret = req->seat < w->n_seats ? gpu_map(req->seat, &req->map, fds)
					 : -EINVAL;

	for (unsigned int i = 0; i < req->map.n; i++)
		close(fds[i]);
	return ret;
}

/* @fds: those of a WIRE_MAP */
static int do_request(struct worker *w, const struct wire_request *req,
		      const int *fds, struct wire_reply *r)
{
	unsigned int seat = req->seat;

	if (req->op == WIRE_MAP)
		return do_map(w, req, fds);
	if (seat >= w->n_seats)
		return -EINVAL;
	switch (req->op) {
	case WIRE_COUNT:
		r->anchor = w->anchor;
		return gpu_count(&r->value);
	case WIRE_ONLINE:
		return do_online(w, seat, r);
	case WIRE_LOAD:
		return gpu_load(seat, (const char *)w->shared[seat].stage,
				MIN(req->len, (uint64_t)OWNER_MAX_PTX));
	case WIRE_LAUNCH:
		return gpu_launch(seat, req, &r->value);
	case WIRE_FILL:
		return gpu_fill(seat);
	case WIRE_COPY:
		return gpu_copy(seat, req, &r->sync_ns);
	case WIRE_POLL:
		return gpu_poll(seat);
	case WIRE_UNMAP:
		return gpu_unmap(seat);
	default:
		return -EINVAL;
	}
}

static void serve(struct worker *w)
{
	struct wire_request req;
	int fds[WIRE_MAX_CHUNKS];

	while (tell_ask(&req, fds) && req.op != WIRE_END) {
		struct wire_reply reply = { 0 };

		reply.result = do_request(w, &req, fds, &reply);
		reply.is_lost = gpu_is_lost();
		tell_done(&reply);
	}
}

static int parse(struct worker *w, char **argv)
{
	uint64_t die, seats;

	if (word_number(argv[1], strlen(argv[1]), OWNER_MAX_DIES - 1, &die) ||
	    word_number(argv[2], strlen(argv[2]), OWNER_MAX_DIES, &seats) ||
	    !seats)
		return -EINVAL;
	w->leave.die = (int)die;
	w->n_seats = (unsigned int)seats;
	if (strcmp(argv[4], "-") != 0)
		w->bdf = argv[4];
	if (strcmp(argv[5], "-") != 0)
		setenv("CUDA_VISIBLE_DEVICES", argv[5], 1);
	return 0;
}

int main(int argc, char **argv)
{
	struct worker w = { .minor = -1 };
	struct wire_request first;
	struct wire_reply reply = { 0 };
	struct stat st;

	if (argc == 5 && !strcmp(argv[1], "--try"))
		return try_import(argv[2], argv[3], argv[4]);
	if (argc != 6 || parse(&w, argv) || fstat(WIRE_SOCKET, &st) ||
	    !S_ISSOCK(st.st_mode)) {
		fprintf(stderr, "k80-worker %s: k80-owner and k80fs start it\n",
			K80FS_VERSION);
		return EXIT_USAGE;
	}
	harden();
	if (chdir("/"))
		return EXIT_FAILURE;
	w.shared = mmap(NULL, w.n_seats * sizeof(*w.shared),
			PROT_READ | PROT_WRITE, MAP_SHARED, WIRE_SHARED, 0);
	/* the first request is WIRE_COUNT: nothing is opened before */
	if (w.shared == MAP_FAILED || !tell_ask(&first, NULL))
		return EXIT_FAILURE;
	reply.result = confine(&w, argv[3]);
	if (!reply.result)
		reply.result = do_request(&w, &first, NULL, &reply);
	reply.anchor = w.anchor;
	tell_done(&reply);
	serve(&w);
	leave_die(&w.leave);
	/* nothing of libcuda's runs: it would find its descriptors gone */
	_exit(EXIT_SUCCESS);
}
