/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the simulator tells of its dies, without waiting. */
#ifndef BARSWAP_DEV_SIM_TELL_H
#define BARSWAP_DEV_SIM_TELL_H

#include "lib/sim.h"

/**
 * sim_event_open() - make the descriptor of bs_poll_fd()
 *
 * POLLPRI is what urgent data of a socket gives; before Linux 5.15 those of
 * AF_UNIX had none, and s->poll_fd stays -1.
 */
void sim_event_open(struct sim *s);

/** sim_event_close() - close what sim_event_open() made */
void sim_event_close(struct sim *s);

/** sim_event_locked() - something changed that bs_poll_fd() tells of */
void sim_event_locked(struct sim *s) REQUIRES(s->lock);

/** sim_event_rearm_locked() - quiet until the next change */
void sim_event_rearm_locked(struct sim *s) REQUIRES(s->lock);

/** sim_error_locked() - set last_error: time, die and what is printed */
__attribute__((format(printf, 3, 4))) void
sim_error_locked(struct sim *s, struct sim_die *die, const char *format, ...)
	REQUIRES(s->lock);

/**
 * sim_alive_locked() - record whether a die answers
 *
 * One that answers again had lost power or was reset meanwhile: its generation
 * is raised.
 */
void sim_alive_locked(struct sim *s, struct sim_die *die, bool is_alive)
	REQUIRES(s->lock);

/** sim_state_locked() - enum bs_state of a die */
int sim_state_locked(struct sim *s, const struct sim_die *die) REQUIRES(s->lock);

/** sim_tell_bar1() - the aperture, the same for every die */
void sim_tell_bar1(const struct sim *s, struct bs_dev_bar1 *bar1);

/** sim_tell_info() - as bs_die_info(); @info is all zero on entry */
void sim_tell_info(struct sim *s, const struct sim_die *die,
		   struct bs_info *info) EXCLUDES(s->lock);

#endif /* BARSWAP_DEV_SIM_TELL_H */
