/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Give one die to the vendor's driver and keep it away from the others.
 *
 * Not verified on hardware: see the README.
 */
#ifndef OWNER_BIND_H
#define OWNER_BIND_H

#include <stddef.h>

/**
 * struct bind_env - where
 * @sysfs:    "/sys"; tests have one of their own
 * @modprobe: program that loads a module
 */
struct bind_env {
	const char *sysfs;
	const char *modprobe;
	unsigned int n_dies;
	const char (*bdf)[16];
};

/**
 * bind_die() - have the driver `nvidia` take a die
 * @die: it must be in the slot, and stay there for the time of the call
 * @why: out: on failure a line that says what was tried
 * @len: of @why
 *
 * Other dies without a driver get a driver_override that names none, so that
 * loading nvidia, the first time, does not touch them.
 *
 * Return: 0, also if it is bound already; -EBUSY to another driver; -EIO the
 * driver did not take it; what the system says.
 */
int bind_die(const struct bind_env *env, unsigned int die, char *why, size_t len);

/**
 * bind_unload() - unload the driver, from every die
 * Return: 0, also if it is not loaded; -EIO somebody uses it.
 */
int bind_unload(const struct bind_env *env, char *why, size_t len);

#endif /* OWNER_BIND_H */
