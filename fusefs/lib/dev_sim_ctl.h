/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Orders to the simulator: text to what they do. */
#ifndef BARSWAP_DEV_SIM_CTL_H
#define BARSWAP_DEV_SIM_CTL_H

#include "lib/sim.h"

/** sim_ctl_order() - as bs_sim_order(); @order is not NULL */
int sim_ctl_order(struct sim *s, const char *order);

#endif /* BARSWAP_DEV_SIM_CTL_H */
