/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * New images: what an open file that was truncated makes of its die.
 *
 * A die's memory has one size for ever, but a tool that truncates a file and
 * then skips what is zero must find zeros there. So a truncation to 0 starts an
 * image, which ends behind the highest byte that its file writes, or at the
 * size that it sets. A hole is what lies below that end and has not been
 * written, by whomever, since the image was started: every reader sees zeros
 * there, and it is cleared at the latest when the file is closed. What lies
 * behind the end is left alone.
 *
 * Requests come out of order and run side by side, so a clear and a write of
 * the same bytes exclude each other: the clear takes only what nobody is
 * writing, and a write waits for the clear that runs, 16 MiB at most.
 *
 * Offsets are those of the die's memory.
 */
#ifndef K80FS_IMAGE_H
#define K80FS_IMAGE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "backend/backend.h"
#include "engine/ranges.h"

/* ranges of one image; with more of them the smallest hole is cleared first,
 * which of 1024 in a die of 12 GiB is 12 MiB at most */
#define IMAGE_RANGES 1024

/**
 * struct image - of one open file; starts zeroed, see image_start()
 * @generation: of the die's contents when it was started
 * @base:       where its file starts
 * @end:        0 or @base at first
 */
struct image {
	struct image *next;
	_Atomic bool is_live;
	unsigned int die;
	uint64_t generation;
	uint64_t base;
	uint64_t end;
	struct ranges written;
};

/**
 * struct image_op - a write or a clear that is under way
 * @is_listed: there were images when it began
 */
struct image_op {
	struct image_op *next;
	bool is_listed;
	bool is_clear;
	unsigned int die;
	struct range range;
};

/**
 * struct images - of all dies
 * @lock:   guards the rest of its die, and every image of it; never held across
 *          a copy
 * @cleared: a clear ended
 * @n_live: images there are, for those who need not look closer
 */
struct images {
	struct backend *be;
	struct image_die {
		pthread_mutex_t lock;
		pthread_cond_t cleared;
		atomic_uint n_live;
		struct image *live;
		struct image_op *ops;
	} dies[BACKEND_MAX_DIES];
};

void images_init(struct images *all, struct backend *be);
void images_free(struct images *all);

/** image_start() - the file at @base of @die was truncated to 0, maybe again */
void image_start(struct images *all, struct image *im, unsigned int die,
		 uint64_t base);

/** image_stop() - the file is closed; also if there never was an image */
void image_stop(struct images *all, struct image *im);

/**
 * image_set_end() - its file was given a size
 * @end: what lies behind it is forgotten, unless it is only to @grow
 *
 * Return: the end before; @end if there is no image.
 */
uint64_t image_set_end(struct images *all, struct image *im, uint64_t end,
		       bool grow);

/** image_has_holes() - whether anything is left to clear */
bool image_has_holes(struct images *all, struct image *im);

/**
 * image_write_begin() - bytes are about to be written, by whichever file
 *
 * Waits for a clear of the same bytes. image_write_end() must follow.
 * Return: 0; -ENOMEM.
 */
int image_write_begin(struct images *all, struct image_op *op, unsigned int die,
		      uint64_t start, uint64_t len);

/**
 * image_write_end() - they were, or (@is_done false) were not
 * @im: the image of the file that wrote, which grows; NULL: none does
 *
 * Return: where the bytes start that others see in another way now: a hole that
 * came to be, or the write itself.
 */
uint64_t image_write_end(struct images *all, struct image_op *op,
			 struct image *im, bool is_done);

/**
 * image_clear_begin() - the next hole of @im
 * @max: bytes at most
 * @op:  out: what to clear; image_clear_end() must follow
 *
 * Return: false: there is none that nobody is about to write.
 */
bool image_clear_begin(struct images *all, struct image *im, uint64_t max,
		       struct image_op *op);

/**
 * image_room_begin() - the smallest hole of an image that has too many ranges
 *
 * As image_clear_begin(), before a write of @die.
 */
bool image_room_begin(struct images *all, unsigned int die, uint64_t max,
		      struct image_op *op);

/** image_clear_end() - it is zero now, or (@is_done false) was left as it was */
void image_clear_end(struct images *all, struct image_op *op, bool is_done);

/** image_is_full() - whether image_room_begin() would find something to do */
bool image_is_full(struct images *all, unsigned int die);

/**
 * image_holes() - what a reader that starts now is to see as zeros
 * @holes: out: to be freed; NULL if there are none
 *
 * Return: how many; -ENOMEM.
 */
int image_holes(struct images *all, unsigned int die, uint64_t start,
		uint64_t len, struct range **holes);

#endif /* K80FS_IMAGE_H */
