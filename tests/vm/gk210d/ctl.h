/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Orders: one line in, one line out, "ok ..." or "error ...".
 *
 *	N heal                 no fault any more
 *	N gone [READS]         off the bus now, or after so many register reads
 *	N ignore REG           config writes to REG (hex) have no effect
 *	N stuck                does not come back from its next bus reset
 *	N late MS              comes back so much later from each bus reset
 *	N slow US              each read takes so much longer
 *	N virtual | physical   mode of BAR1 (BAR0+0x1704)
 *	N stuckmode            which then cannot be written
 *	N mute RESETS          registers are all-ones until so many bus resets
 *	N nowindow             PRAMIN's window register reads 0xbad0ac01
 *	N uninit               PRAMIN does not show what BAR1 shows
 *	N forget               a bus reset clears VRAM
 *	N cold                 memory untrained, now and after each bus reset
 *	N peek OFF LEN         VRAM bytes (hex offset), as hex, at most 64
 *	N poke OFF HEXBYTES    write VRAM
 *	N stat                 "resets R writes W gone G cold C trainings T"
 *	N words                "window W pramin P": writes to PRAMIN's window
 *	                       register and through it
 *	N regs                 COMMAND and BARs as the die has them
 *	bg strays              "READS WRITES" that no die claimed
 *	log TEXT               put TEXT into the log
 */
#ifndef CTL_H
#define CTL_H

#include <stddef.h>

#include "die.h"

/**
 * ctl_order() - carry out one order
 * @dies:  all dies; @n_dies of them
 * @order: the line, without its newline; is cut up
 * @reply: out: the answer, without newline
 */
void ctl_order(struct die *dies, unsigned int n_dies, char *order, char *reply,
	       size_t size);

/** ctl_serve() - answer orders from each client of @listen, for ever */
void ctl_serve(struct die *dies, unsigned int n_dies, int listen);

#endif /* CTL_H */
