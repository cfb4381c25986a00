/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the simulator tells of its dies. */
#ifndef BARSWAP_DEV_SIM_TELL_H
#define BARSWAP_DEV_SIM_TELL_H

#include "lib/sim.h"

/** sim_error_locked() - set last_error: time, die and what is printed */
__attribute__((format(printf, 3, 4))) void
sim_error_locked(struct sim *s, struct sim_die *die, const char *format, ...)
	REQUIRES(s->lock);

/** sim_state_locked() - enum bs_state of a die */
int sim_state_locked(struct sim *s, const struct sim_die *die) REQUIRES(s->lock);

/** sim_tell_bar1() - the aperture, the same for every die */
void sim_tell_bar1(const struct sim *s, struct bs_dev_bar1 *bar1);

/** sim_tell_info() - as bs_die_info(); @info is all zero on entry */
void sim_tell_info(struct sim *s, const struct sim_die *die,
		   struct bs_info *info) EXCLUDES(s->lock);

#endif /* BARSWAP_DEV_SIM_TELL_H */
