/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The registry of the unit tests: a line for each check_<unit>.c, which
 * defines Suite *<unit>_suite(void). Nothing else belongs here.
 */
#ifndef SUITES_H
#define SUITES_H

#include <check.h>

/* clang-format off */
#define SUITES(X)      \
	X(backend)     \
	X(barswap)     \
	X(behind)      \
	X(bind)        \
	X(chunk)       \
	X(compute_ctl) \
	X(copy)        \
	X(ctl)         \
	X(dev_module)  \
	X(dev_sim)     \
	X(dev_sim_ctl) \
	X(dev_sim_mem) \
	X(dev_sim_opt) \
	X(dev_sim_sock) \
	X(dma)         \
	X(extent)      \
	X(guard)       \
	X(hide)        \
	X(input)       \
	X(image)       \
	X(io)          \
	X(io_long)     \
	X(io_stress)   \
	X(k80mem)      \
	X(keeper)      \
	X(keeper_kill) \
	X(keeper_wire) \
	X(lines)       \
	X(modules)     \
	X(metrics)     \
	X(node)        \
	X(notify)      \
	X(options)     \
	X(policy)      \
	X(policy_sim)  \
	X(policy_visit) \
	X(pool)        \
	X(ptx)         \
	X(quote)       \
	X(ranges)      \
	X(readahead)   \
	X(region)      \
	X(repl)        \
	X(rw)          \
	X(sched)       \
	X(sched_control) \
	X(sched_flush) \
	X(sched_hold)  \
	X(sched_slot)  \
	X(sched_wait)  \
	X(share)       \
	X(status)      \
	X(table)       \
	X(top)         \
	X(trace)       \
	X(uring)       \
	X(window)
/* clang-format on */

#define SUITE_PROTOTYPE(unit) Suite *unit##_suite(void);
SUITES(SUITE_PROTOTYPE)
#undef SUITE_PROTOTYPE

#endif /* SUITES_H */
