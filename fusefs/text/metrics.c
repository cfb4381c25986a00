/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "text/metrics.h"

#include <inttypes.h>

#include "base/util.h"
#include "text/put.h"

/* A K80 takes milliseconds without a reset, 0.1 to 0.2 s with one. */
static const struct {
	uint64_t ns;
	const char *le;
} bounds[METRICS_BUCKETS] = {
	{ 100000, "0.0001" }, { 200000, "0.0002" }, { 500000, "0.0005" },
	{ 1000000, "0.001" }, { 2000000, "0.002" }, { 5000000, "0.005" },
	{ 10000000, "0.01" }, { 20000000, "0.02" }, { 50000000, "0.05" },
	{ 100000000, "0.1" }, { 200000000, "0.2" }, { 500000000, "0.5" },
	{ 1000000000, "1" },  { 5000000000, "5" },
};

/* What is told of each die: a number, or nanoseconds shown as seconds. */
static const struct {
	const char *name;
	const char *type;
	const char *help;
	size_t offset;
	enum { NUMBER, FLAG, SECONDS } kind;
} families[] = {
#define OF(field) offsetof(struct metrics_die, field)
	{ "die_in_slot", "gauge", "Whether the die is in the slot.",
	  OF(in_slot), FLAG },
	{ "die_alive", "gauge", "Whether the die answers.", OF(alive), FLAG },
	{ "die_memory_bytes", "gauge", "Length of the die's vram file.",
	  OF(vram_bytes), NUMBER },
	{ "die_swaps_total", "counter",
	  "Times the die was put into the slot, by anybody.", OF(swaps), NUMBER },
	{ "die_resets_total", "counter", "Resets of the die, by anybody.",
	  OF(resets), NUMBER },
	{ "die_read_bytes_total", "counter", "Bytes copied out of the die.",
	  OF(read_bytes), NUMBER },
	{ "die_written_bytes_total", "counter", "Bytes copied into the die.",
	  OF(written_bytes), NUMBER },
	{ "die_waits_total", "counter",
	  "Requests that had to wait for the slot.", OF(waits), NUMBER },
	{ "die_wait_seconds_total", "counter",
	  "Time that those requests waited.", OF(wait_ns), SECONDS },
	{ "die_waiting_requests", "gauge", "Requests that wait for the slot.",
	  OF(waiting), NUMBER },
	{ "die_errors_total", "counter", "Transfers that failed.", OF(errors),
	  NUMBER },
	{ "die_lost_writes_total", "counter",
	  "Writes that failed after they were answered.", OF(lost), NUMBER },
	{ "die_mem_files", "gauge", "Files in the die's mem folder.",
	  OF(mem_files), NUMBER },
	{ "die_mem_bytes", "gauge", "Memory that these files take.",
	  OF(mem_bytes), NUMBER },
	{ "die_slot_seconds_total", "counter",
	  "Time that this mount had the die in the slot.", OF(slot_ns), SECONDS },
#undef OF
};

static void put_seconds(struct text *t, uint64_t ns)
{
	put(t, "%llu.%09llu\n", ns / NSEC_PER_SEC, ns % NSEC_PER_SEC);
}

static void put_head(struct text *t, const char *name, const char *type,
		     const char *help)
{
	put(t, "# HELP k80fs_%s %s\n# TYPE k80fs_%s %s\n", name, help, name,
	    type);
}

static void put_swaps(struct text *t, const struct metrics *m)
{
	static const char name[] = "swap_seconds";
	uint64_t count = 0;

	put_head(t, name, "histogram", "How long swaps of this daemon took.");
	for (unsigned int i = 0; i < METRICS_BUCKETS; i++) {
		count += m->swap_counts[i];
		put(t, "k80fs_%s_bucket{le=\"%s\"} %" PRIu64 "\n", name,
		    bounds[i].le, count);
	}
	count += m->swap_counts[METRICS_BUCKETS];
	put(t, "k80fs_%s_bucket{le=\"+Inf\"} %" PRIu64 "\n", name, count);
	put(t, "k80fs_%s_sum ", name);
	put_seconds(t, m->swap_ns);
	put(t, "k80fs_%s_count %" PRIu64 "\n", name, count);
}

unsigned int metrics_bucket(uint64_t ns)
{
	unsigned int i = 0;

	while (i < METRICS_BUCKETS && ns > bounds[i].ns)
		i++;
	return i;
}

size_t metrics_text(const struct metrics *m, char *buf)
{
	struct text t = { buf, METRICS_MAX, 0 };

	for (size_t f = 0; f < ARRAY_SIZE(families); f++) {
		put_head(&t, families[f].name, families[f].type,
			 families[f].help);
		for (unsigned int die = 0; die < m->n_dies; die++) {
			const char *value =
				(const char *)&m->dies[die] + families[f].offset;

			put(&t, "k80fs_%s{die=\"%u\"} ", families[f].name, die);
			if (families[f].kind == FLAG)
				put(&t, "%d\n", *(const bool *)value);
			else if (families[f].kind == NUMBER)
				put(&t, "%" PRIu64 "\n",
				    *(const uint64_t *)value);
			else
				put_seconds(&t, *(const uint64_t *)value);
		}
	}
	put_swaps(&t, m);
	put_head(&t, "age_seconds", "gauge", "Time since the mount was made.");
	put(&t, "k80fs_age_seconds ");
	put_seconds(&t, m->age_ns);
	return t.len;
}
