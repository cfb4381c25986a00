/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the commands of k80-owner do.
 */
#ifndef OWNER_SESSION_H
#define OWNER_SESSION_H

#include <stdbool.h>

#include "owner/repl.h"

struct session;

/**
 * struct session_config - what the command line said
 * @device:     of bs_init_device(), or "none": no slot, CUDA devices alone
 * @n_dies:     for "none"
 * @is_streams: dies of one device are streams of one context
 * @say:        takes a line of the log, and returns when it is written
 * @is_ended:   whether a wait for a kernel is to be given up
 */
struct session_config {
	const char *device;
	unsigned int n_dies;
	bool is_streams;
	void (*say)(const char *line);
	bool (*is_ended)(void);
};

/**
 * session_open() - open the device
 * Return: 0; -errno, as bs_init_device() says.
 */
int session_open(struct session **out, const struct session_config *cfg);

/** session_dies() - how many there are */
unsigned int session_dies(const struct session *s);

/**
 * session_run() - do it and log what came of it; SHUTDOWN is the caller's
 * Return: 0; -errno it failed; -EIO results are wrong.
 */
int session_run(struct session *s, const struct repl_cmd *cmd);

/**
 * session_close() - end every worker in order, each with its die in the slot
 * Return: 0; -ETIMEDOUT one is left that waits for the slot.
 */
int session_close(struct session *s);

#endif /* OWNER_SESSION_H */
