/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Give one die to the vendor's driver and keep it away from the others.
 *
 * Whoever calls keeps the die in the slot, and calls from one thread at a time.
 * Not verified on hardware: see the README.
 */
#ifndef OWNER_BIND_H
#define OWNER_BIND_H

#include <stdbool.h>
#include <stddef.h>

struct bind;

/**
 * struct bind_env - where
 * @sysfs:    "/sys"; tests have one of their own
 * @gpus:     what the driver tells of its GPUs, see struct hide_env
 * @dev:      folder of device nodes
 * @modprobe: program that loads a module; @rmmod: that unloads one
 * @bdf:      of each die
 * @step:     takes a line about what is about to be done to a die
 */
struct bind_env {
	const char *sysfs;
	const char *gpus;
	const char *dev;
	const char *modprobe;
	const char *rmmod;
	unsigned int n_dies;
	const char (*bdf)[16];
	void (*step)(void *arg, unsigned int die, const char *line);
	void *arg;
};

/** bind_open() - @env is copied, but for what it points to. 0; -ENOMEM */
int bind_open(struct bind **out, const struct bind_env *env);

/**
 * bind_close() - give each driver_override back as it was, and forget
 *
 * What is bound stays so. NULL does nothing.
 */
void bind_close(struct bind *b);

/**
 * bind_take() - have the driver take a die
 * @why: out: on failure a line of @len bytes that says what was tried
 *
 * Other dies without a driver get a driver_override that names none, so that
 * loading the driver, the first time, does not touch them.
 *
 * Return: 0, also if it is bound already; -EBUSY to another driver; -EIO the
 * driver did not take it; what the system says.
 */
int bind_take(struct bind *b, unsigned int die, char *why, size_t len);

/**
 * bind_give() - have the driver let go of a die
 * Return: 0, also if it is not bound; -EBUSY a process has its node open, for
 * which a driver would wait for ever; -errno.
 */
int bind_give(struct bind *b, unsigned int die, char *why, size_t len);

/**
 * bind_unload() - unload the driver and what uses it
 * Return: 0, also if it is not loaded; -EIO somebody uses it.
 */
int bind_unload(struct bind *b, char *why, size_t len);

/**
 * bind_open_node() - open a bound die once, which sets it up, and close it
 * Return: 0; -ENOENT the driver does not say which node; -errno.
 */
int bind_open_node(struct bind *b, unsigned int die, char *why, size_t len);

/**
 * bind_warm() - take, open once, let go; unload what this has loaded
 * Return: as those.
 */
int bind_warm(struct bind *b, unsigned int die, char *why, size_t len);

/** bind_modules() - names of the driver's modules that are loaded, blanks
 * between, "" for none */
void bind_modules(struct bind *b, char *buf, size_t len);

#endif /* OWNER_BIND_H */
