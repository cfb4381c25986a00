/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What bs_init_why() says. */
#ifndef BARSWAP_WHY_H
#define BARSWAP_WHY_H

/** why_clear() - nothing is known of this thread's next failure */
void why_clear(void);

/** why_set() - the reason for this thread's failure, one line */
void __attribute__((format(printf, 1, 2))) why_set(const char *fmt, ...);

#endif /* BARSWAP_WHY_H */
