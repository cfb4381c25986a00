/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options of the simulator: text to numbers. Pure. */
#ifndef BARSWAP_DEV_SIM_OPT_H
#define BARSWAP_DEV_SIM_OPT_H

#include <limits.h>
#include <stdint.h>
#include <sys/un.h>

#define SIM_PAGE        4096u
#define SIM_SWAP_US_MAX (100u * 1000 * 1000)

/**
 * struct sim_conf - what the options ask for
 * @n_dies:     1 .. BS_DEV_MAX_DIES
 * @vram_bytes: memory of a die, a multiple of SIM_PAGE
 * @resmem_bytes: of it, the least a carve-out at its end is to have; 0: none
 * @swap_us:    time a swap takes, at most SIM_SWAP_US_MAX
 * @dir:        folder of the memory files, or "" for unlinked ones
 * @ctl:        path of the control socket, or ""
 */
struct sim_conf {
	unsigned int n_dies;
	uint64_t vram_bytes;
	uint64_t resmem_bytes;
	uint32_t swap_us;
	char dir[PATH_MAX];
	char ctl[sizeof(((struct sockaddr_un *)0)->sun_path)];
};

/**
 * sim_parse_u64() - a decimal number and nothing else
 * @text:  digits
 * @max:   largest value allowed
 * @value: out
 *
 * Return: 0; -EINVAL no number, or above @max.
 */
int sim_parse_u64(const char *text, uint64_t max, uint64_t *value);

/**
 * sim_parse_conf() - read "NAME=VALUE,..."
 * @options: text of bs_init_device() after "sim:"; "" leaves the defaults
 * @conf:    out: set on success only
 *
 * Return: 0; -EINVAL unknown name, bad value, empty item; -ENAMETOOLONG;
 *         -ENOMEM.
 */
int sim_parse_conf(const char *options, struct sim_conf *conf);

#endif /* BARSWAP_DEV_SIM_OPT_H */
