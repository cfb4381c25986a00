/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/image.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

void images_init(struct images *all, struct backend *be)
{
	memset(all, 0, sizeof(*all));
	all->be = be;
	for (unsigned int die = 0; die < BACKEND_MAX_DIES; die++) {
		pthread_mutex_init(&all->dies[die].lock, NULL);
		pthread_cond_init(&all->dies[die].cleared, NULL);
	}
}

void images_free(struct images *all)
{
	for (unsigned int die = 0; die < BACKEND_MAX_DIES; die++) {
		pthread_cond_destroy(&all->dies[die].cleared);
		pthread_mutex_destroy(&all->dies[die].lock);
	}
}

/* A reset takes the image with the memory. */
static bool is_valid(struct images *all, const struct image *im)
{
	return im->is_live &&
	       im->generation == backend_generation(all->be, im->die);
}

void image_start(struct images *all, struct image *im, unsigned int die,
		 uint64_t base)
{
	struct image_die *d = &all->dies[die];

	pthread_mutex_lock(&d->lock);
	im->die = die;
	if (!im->is_live) {
		im->next = d->live;
		d->live = im;
		d->n_live++;
	}
	im->is_live = true;
	im->generation = backend_generation(all->be, die);
	im->base = im->end = base;
	im->written.n = 0;
	pthread_mutex_unlock(&d->lock);
}

void image_stop(struct images *all, struct image *im)
{
	struct image_die *d = &all->dies[im->die];
	struct image **link;

	if (!im->is_live)
		return;
	pthread_mutex_lock(&d->lock);
	for (link = &d->live; *link != im; link = &(*link)->next)
		;
	*link = im->next;
	d->n_live--;
	im->is_live = false;
	pthread_mutex_unlock(&d->lock);
	ranges_free(&im->written);
}

uint64_t image_set_end(struct images *all, struct image *im, uint64_t end,
		       bool grow)
{
	struct image_die *d = &all->dies[im->die];
	uint64_t before = end;

	if (!im->is_live)
		return before;
	pthread_mutex_lock(&d->lock);
	before = im->end;
	if (!grow)
		ranges_cut(&im->written, end);
	if (!grow || end > im->end)
		im->end = end;
	pthread_mutex_unlock(&d->lock);
	return before;
}

bool image_has_holes(struct images *all, struct image *im)
{
	struct image_die *d = &all->dies[im->die];
	struct range gap;
	bool has;

	if (!im->is_live)
		return false;
	pthread_mutex_lock(&d->lock);
	has = is_valid(all, im) &&
	      ranges_gap(&im->written, im->base, im->end, &gap);
	pthread_mutex_unlock(&d->lock);
	return has;
}

static bool overlaps(const struct range *a, const struct range *b)
{
	return a->start < b->end && b->start < a->end;
}

static bool is_clearing_locked(const struct image_die *d, const struct range *r)
{
	for (const struct image_op *op = d->ops; op; op = op->next)
		if (op->is_clear && overlaps(&op->range, r))
			return true;
	return false;
}

/* Each op that is listed may become a range of its own in each image. */
static int reserve_locked(struct image_die *d)
{
	unsigned int n = 1;
	int ret = 0;

	for (const struct image_op *op = d->ops; op; op = op->next)
		n++;
	for (struct image *im = d->live; im && !ret; im = im->next)
		ret = ranges_reserve(&im->written, n);
	return ret;
}

static void list_locked(struct image_die *d, struct image_op *op)
{
	op->next = d->ops;
	d->ops = op;
	op->is_listed = true;
}

static void unlist_locked(struct image_die *d, struct image_op *op)
{
	struct image_op **link = &d->ops;

	while (*link != op)
		link = &(*link)->next;
	*link = op->next;
}

int image_write_begin(struct images *all, struct image_op *op, unsigned int die,
		      uint64_t start, uint64_t len)
{
	struct image_die *d = &all->dies[die];
	int ret;

	*op = (struct image_op){ .die = die, .range = { start, start + len } };
	if (!d->n_live)
		return 0;
	pthread_mutex_lock(&d->lock);
	while (is_clearing_locked(d, &op->range))
		pthread_cond_wait(&d->cleared, &d->lock);
	ret = reserve_locked(d);
	if (!ret)
		list_locked(d, op);
	pthread_mutex_unlock(&d->lock);
	return ret;
}

/* An image that was started after the op has reserved nothing for it: what was
 * under way then came before the truncation. */
static void mark_locked(struct image_die *d, const struct range *r)
{
	for (struct image *im = d->live; im; im = im->next)
		if (!ranges_reserve(&im->written, 1))
			ranges_add(&im->written, r->start, r->end);
}

uint64_t image_write_end(struct images *all, struct image_op *op,
			 struct image *im, bool is_done)
{
	struct image_die *d = &all->dies[op->die];
	uint64_t from = op->range.start;

	if (!op->is_listed)
		return from;
	pthread_mutex_lock(&d->lock);
	unlist_locked(d, op);
	if (is_done)
		mark_locked(d, &op->range);
	if (is_done && im && im->is_live && im->end < op->range.end) {
		from = MIN(from, im->end);
		im->end = op->range.end;
	}
	pthread_mutex_unlock(&d->lock);
	return from;
}

/* The part of a hole, from its start, that no op is about. */
static bool clip_locked(const struct image_die *d, struct range *gap,
			uint64_t *next)
{
	*next = gap->end;
	for (const struct image_op *op = d->ops; op; op = op->next) {
		if (!overlaps(&op->range, gap))
			continue;
		if (op->range.start > gap->start) {
			gap->end = *next = op->range.start;
		} else {
			*next = MIN(op->range.end, *next);
			return false;
		}
	}
	return true;
}

bool image_clear_begin(struct images *all, struct image *im, uint64_t max,
		       struct image_op *op)
{
	struct image_die *d = &all->dies[im->die];
	uint64_t at, next;
	struct range gap;
	bool found = false;

	pthread_mutex_lock(&d->lock);
	at = im->base;
	while (!found && is_valid(all, im) &&
	       ranges_gap(&im->written, at, im->end, &gap)) {
		found = clip_locked(d, &gap, &next);
		at = next;
	}
	if (found && !reserve_locked(d)) {
		gap.end = MIN(gap.end, gap.start + max);
		*op = (struct image_op){ .is_clear = true,
					 .die = im->die,
					 .range = gap };
		list_locked(d, op);
	} else {
		found = false;
	}
	pthread_mutex_unlock(&d->lock);
	return found;
}

static struct image *full_locked(struct images *all, struct image_die *d)
{
	struct image *im = d->live;

	while (im && !(is_valid(all, im) && im->written.n >= IMAGE_RANGES))
		im = im->next;
	return im;
}

bool image_is_full(struct images *all, unsigned int die)
{
	struct image_die *d = &all->dies[die];
	bool is_full;

	if (!d->n_live)
		return false;
	pthread_mutex_lock(&d->lock);
	is_full = full_locked(all, d);
	pthread_mutex_unlock(&d->lock);
	return is_full;
}

/* The smallest hole between two ranges that no op is about. */
static bool smallest_locked(const struct image_die *d, const struct image *im,
			    struct range *out)
{
	uint64_t best = UINT64_MAX;

	for (unsigned int i = 1; i < im->written.n; i++) {
		struct range gap = { im->written.list[i - 1].end,
				     im->written.list[i].start };
		uint64_t end = gap.end, next;

		if (gap.end > im->end || gap.end - gap.start >= best ||
		    !clip_locked(d, &gap, &next) || gap.end != end)
			continue;
		best = gap.end - gap.start;
		*out = gap;
	}
	return best != UINT64_MAX;
}

bool image_room_begin(struct images *all, unsigned int die, uint64_t max,
		      struct image_op *op)
{
	struct image_die *d = &all->dies[die];
	struct range gap = { 0, 0 };
	struct image *im;
	bool found = false;

	if (!d->n_live)
		return false;
	pthread_mutex_lock(&d->lock);
	im = full_locked(all, d);
	if (im && smallest_locked(d, im, &gap) && gap.end - gap.start <= max &&
	    !reserve_locked(d)) {
		*op = (struct image_op){ .is_clear = true,
					 .die = die,
					 .range = gap };
		list_locked(d, op);
		found = true;
	}
	pthread_mutex_unlock(&d->lock);
	return found;
}

void image_clear_end(struct images *all, struct image_op *op, bool is_done)
{
	struct image_die *d = &all->dies[op->die];

	pthread_mutex_lock(&d->lock);
	unlist_locked(d, op);
	if (is_done)
		mark_locked(d, &op->range);
	pthread_cond_broadcast(&d->cleared);
	pthread_mutex_unlock(&d->lock);
}

/* Counts the holes in [@start, @end), and writes them down if there is @out. */
static unsigned int holes_locked(struct images *all, const struct image_die *d,
				 uint64_t start, uint64_t end, struct range *out)
{
	unsigned int n = 0;
	struct range gap;

	for (const struct image *im = d->live; im; im = im->next) {
		uint64_t at = start < im->base ? im->base : start;
		uint64_t to = MIN(end, im->end);

		while (is_valid(all, im) &&
		       ranges_gap(&im->written, at, to, &gap)) {
			if (out)
				out[n] = gap;
			n++;
			at = gap.end;
		}
	}
	return n;
}

int image_holes(struct images *all, unsigned int die, uint64_t start,
		uint64_t len, struct range **holes)
{
	struct image_die *d = &all->dies[die];
	unsigned int n;

	*holes = NULL;
	if (!d->n_live)
		return 0;
	pthread_mutex_lock(&d->lock);
	n = holes_locked(all, d, start, start + len, NULL);
	if (n) {
		*holes = malloc(n * sizeof(**holes));
		if (*holes)
			holes_locked(all, d, start, start + len, *holes);
	}
	pthread_mutex_unlock(&d->lock);
	return n && !*holes ? -ENOMEM : (int)n;
}
