/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which device node of the vendor's driver is a GPU's.
 */
#ifndef OWNER_MINOR_H
#define OWNER_MINOR_H

/**
 * minor_of() - the number N of /dev/nvidiaN
 * @gpus: a folder for each GPU, named by its PCI address, with a file
 *        `information` that has a line "Device Minor: N":
 *        MINOR_GPUS, tests have one of their own
 * @bdf:  whose
 *
 * Return: it; -1 the driver does not say.
 */
int minor_of(const char *gpus, const char *bdf);

#define MINOR_GPUS "/proc/driver/nvidia/gpus"

/** minor_make() - make the node if it is absent. 0 or -errno */
int minor_make(const char *path, int minor);

/** minor_user() - a process that has the node open, 0 for none */
int minor_user(const char *path);

#endif /* OWNER_MINOR_H */
