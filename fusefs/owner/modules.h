/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the vendor's driver is called on this system: pure.
 *
 * Debian's package nvidia-tesla-470 has nvidia-tesla-470.ko, whose module is
 * `nvidia` once it is loaded, and makes `modprobe nvidia` load it by an install
 * line. Others name the file like the module.
 */
#ifndef OWNER_MODULES_H
#define OWNER_MODULES_H

#include <stddef.h>

#define MODULES_NAME_LEN 64

/**
 * struct modules - names for modprobe --ignore-install
 * @driver: of the module that binds; @uvm: without it cuInit says 999
 */
struct modules {
	char driver[MODULES_NAME_LEN];
	char uvm[MODULES_NAME_LEN];
};

/**
 * modules_find() - choose them
 * @aliases: what `modprobe -R MODALIAS` printed, a name a line; "" if nothing
 * @config:  what `modprobe -c` printed; "" if nothing
 *
 * An install line that runs modprobe with -i NAME or --ignore-install NAME says
 * it; one that runs something else keeps the driver away, and is passed by.
 * Else it is what the alias names, else plain nvidia and nvidia_uvm.
 */
void modules_find(const char *aliases, const char *config, struct modules *m);

#endif /* OWNER_MODULES_H */
