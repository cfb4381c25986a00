/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Between io.c (a request's way from its submission to its answer) and
 * io_step.c (what it does while its die is in); for nobody else.
 */
#ifndef K80FS_IO_PRIV_H
#define K80FS_IO_PRIV_H

#include "engine/io.h"

struct image_op;

enum step { STEP_DONE = 0, STEP_MORE = 1 }; /* else -errno */

/**
 * io_step() - its die is in and counted for it: the next part of its work
 *
 * Return: STEP_DONE; STEP_MORE when @io->die, which may be another one now,
 * must be asked for again; or -errno of the backend, -ENOMEM, -EINTR, -ESTALE.
 */
int io_step(struct io *io);

/** io_stage_drop() - give back what a copy between dies went through, if any */
void io_stage_drop(struct io *io);

/** io_is_gone() - whether a die of its files lost what they were opened for */
bool io_is_gone(const struct io *io);

/** io_die_off() - @off of @file, NULL for none, in the memory of the die */
uint64_t io_die_off(const struct io_file *file, uint64_t off);

/** io_mark_written() - there is something to sync */
void io_mark_written(struct io_file *file);

/**
 * io_late_error() - whether a write of the die failed after its answer
 * Return: -EIO, once for each file and loss; else 0.
 */
int io_late_error(struct io *io, struct io_file *file);

/**
 * io_sync_result() - whether writes that were answered failed: since the file
 * was told last; for a ctl command, since it came
 *
 * A close tells, but is not the last word: it may be that of a forked child,
 * which nobody listens to.
 * Return: 0 or -EIO.
 */
int io_sync_result(struct io *io);

/** io_image_write_end() - of bytes of @file, see image_write_end() */
void io_image_write_end(struct io *io, struct image_op *op,
			struct io_file *file, bool is_done);

/**
 * io_look_for_others() - what was read ahead of its die is worth nothing any
 * more if another program has had the die in since
 */
void io_look_for_others(struct io *io);

#endif /* K80FS_IO_PRIV_H */
