/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "text/status.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "text/put.h"

static const char *or_none(const char *s)
{
	return s && *s ? s : "none";
}

/* A line break inside a value would look like another key. */
static void put_text(struct text *t, const char *key, const char *value)
{
	size_t at;

	put(t, "%s ", key);
	at = t->len;
	put(t, "%s", or_none(value));
	for (; at < t->len; at++)
		if ((unsigned char)t->buf[at] < ' ')
			t->buf[at] = ' ';
	put(t, "\n");
}

/* Padded behind to the width of any 64-bit number: the length stays. */
static void put_counter(struct text *t, const char *key, uint64_t v)
{
	put(t, "%s %-20" PRIu64 "\n", key, v);
}

static void put_addr(struct text *t, const char *key, uint64_t v)
{
	if (v)
		put(t, "%s 0x%" PRIx64 "\n", key, v);
	else
		put(t, "%s none\n", key);
}

static void put_mem(struct text *t, const struct status_die *s)
{
	char no[512];

	snprintf(no, sizeof(no), "no: %s", or_none(s->mem_why));
	put_text(t, "mem", s->mem_why ? no : "yes");
	put_counter(t, "mem_files", s->mem_files);
	put_counter(t, "mem_bytes", s->mem_bytes);
	put_counter(t, "mem_lost", s->mem_lost);
}

size_t status_die_text(const struct status_die *s, char *buf)
{
	struct text t = { buf, STATUS_MAX, 0 };

	put(&t, "die %u\n", s->die);
	put_text(&t, "bdf", s->bdf);
	put(&t, "id %04x:%04x %04x:%04x\n", s->vendor, s->device, s->subvendor,
	    s->subdevice);
	put_text(&t, "state", s->state);
	put(&t, "slot %s\n", s->in_slot ? "0" : "none");
	put_text(&t, "hold", s->hold);
	put_text(&t, "holder", s->holder);
	put(&t, "vram_bytes %" PRIu64 "\n", s->vram_bytes);
	put(&t, "resmem_bytes %" PRIu64 "\n", s->resmem_bytes);
	put_addr(&t, "bar0", s->bar0);
	put_addr(&t, "bar1", s->bar1);
	put(&t, "bar1_bytes %" PRIu64 "\n", s->bar1_bytes);
	put_addr(&t, "bar3", s->bar3);
	put_text(&t, "bar1_mode", s->bar1_mode);
	put_text(&t, "driver", s->driver);
	put(&t, "alive %d\n", s->alive);
	put_counter(&t, "generation", s->generation);
	put_counter(&t, "resets", s->resets);
	put_counter(&t, "acquires", s->acquires);
	put_counter(&t, "swaps_in", s->swaps_in);
	put_counter(&t, "swaps_out", s->swaps_out);
	put_counter(&t, "last_swap_ns", s->last_swap_ns);
	put_counter(&t, "read_bytes", s->read_bytes);
	put_counter(&t, "written_bytes", s->written_bytes);
	put_counter(&t, "waiters", s->waiters);
	put_text(&t, "progress", s->progress);
	if (s->name) {
		put_text(&t, "name", s->name);
		put(&t, "driver_version %u.%u\n", s->driver_version / 1000,
		    s->driver_version % 1000 / 10);
		put_counter(&t, "memory_free", s->memory_free);
		put_counter(&t, "memory_total", s->memory_total);
	}
	if (s->shows_mem)
		put_mem(&t, s);
	put_text(&t, "bar1_cache", s->bar1_cache);
	put_text(&t, "last_error", s->last_error);
	return t.len;
}

size_t status_root_text(const struct status_root *s, char *buf)
{
	struct text t = { buf, STATUS_MAX, 0 };

	put_text(&t, "version", s->version);
	put_text(&t, "backend", s->backend);
	put_text(&t, "transport", s->transport);
	put_text(&t, "copy", s->copy);
	put(&t, "dies %u\n", s->n_dies);
	put(&t, "slots %u\n", s->n_slots);
	if (s->active >= 0)
		put(&t, "active %d\n", s->active);
	else
		put(&t, "active none\n");
	put(&t, "mapped%s", s->n_dies ? "" : " none");
	for (unsigned int i = 0; i < s->n_dies; i++)
		put(&t, " %d", (int)i == s->active);
	put(&t, "\n");
	put_addr(&t, "slot_bar0", s->slot_bar0);
	put_addr(&t, "slot_bar1", s->slot_bar1);
	put_addr(&t, "slot_bar3", s->slot_bar3);
	if (s->timeslice_ms)
		put(&t, "timeslice_ms %u\n", s->timeslice_ms);
	else
		put(&t, "timeslice_ms auto\n");
	put_counter(&t, "swaps", s->swaps);
	if (s->mem_keeper)
		put_text(&t, "mem_keeper", s->mem_keeper);
	if (s->mem_share)
		put_text(&t, "mem_share", s->mem_share);
	put_text(&t, "last_error", s->last_error);
	return t.len;
}
