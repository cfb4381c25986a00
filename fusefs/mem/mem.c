/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mem/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/log.h"
#include "base/util.h"
#include "mem/chunks.h"
#include "mem/commit.h"
#include "mem/file.h"
#include "mem/keep.h"
#include "mem/recover.h"
#include "mem/tend.h"
#include "mem/trial.h"
#include "owner/minor.h"

#define SPACE_ALIGN (64 * MIB) /* of the first file behind vram */

/* A descriptor a chunk is much more than a program has unasked. */
static void raise_nofile(void)
{
	struct rlimit lim;

	if (getrlimit(RLIMIT_NOFILE, &lim))
		return;
	lim.rlim_cur = lim.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &lim))
		log_warn("mem: RLIMIT_NOFILE cannot be raised: %s",
			 strerror(errno));
}

static bool is_usable(const struct mem_die *d)
{
	return !*d->why;
}

static int die_why(struct mem_die *d, const char *what, int ret)
{
	snprintf(d->why, sizeof(d->why), "%s: %s", what, strerror(-ret));
	return ret;
}

/* A quarter of the space, but all of the memory if there is room. */
static uint64_t longest(uint64_t from, uint64_t space, uint64_t total)
{
	uint64_t len = SPACE_ALIGN, most = from ? space / 2 : space;

	while (len * 2 <= most && (len * 2 <= space / 4 || len < total))
		len *= 2;
	return len;
}

static void open_anchor(struct mem_die *d)
{
	struct bs_info info;
	char path[32];
	int minor;

	if (backend_info(d->be, d->die, &info))
		return;
	minor = minor_of(MINOR_GPUS, info.bdf);
	if (minor < 0)
		return;
	snprintf(path, sizeof(path), "/dev/nvidia%d", minor);
	d->anchor = open(path, O_RDWR | O_CLOEXEC);
	if (d->anchor < 0)
		log_warn("mem: die=%u %s: %s", d->die, path, strerror(errno));
}

static void say_no_chunks(struct mem_die *d)
{
	backend_chunk_why(d->be, d->die, d->why, sizeof(d->why));
	if (!*d->why)
		strcpy(d->why, "its driver shares no memory");
}

/* What needs no keeper. */
static int die_init(struct mem *m, unsigned int die)
{
	struct mem_die *d = &m->dies[die];
	pthread_condattr_t attr;
	uint8_t uuid[BACKEND_UUID_LEN];
	uint64_t from, available, total;
	int ret;

	d->m = m;
	d->be = m->be;
	d->die = die;
	d->table_fd = d->anchor = -1;
	pthread_mutex_init(&d->commit_lock, NULL);
	pthread_mutex_init(&d->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&d->left, &attr);
	pthread_condattr_destroy(&attr);
	if (!backend_has_chunks(d->be, die)) {
		say_no_chunks(d);
		return 0;
	}
	ret = backend_uuid(d->be, die, uuid);
	if (ret)
		return die_why(d, "its UUID", ret);
	for (size_t i = 0; i < sizeof(uuid); i++)
		sprintf(d->uuid + 2 * i, "%02x", uuid[i]);
	ret = backend_free_memory(d->be, die, &available, &total);
	if (ret)
		return die_why(d, "its memory", ret);
	d->unit = backend_chunk_unit(d->be, die);
	from = (d->be->dies[die].len + SPACE_ALIGN - 1) / SPACE_ALIGN *
	       SPACE_ALIGN;
	d->max_len = longest(from, d->be->dies[die].space, total);
	ret = extents_init(&d->space, from, d->be->dies[die].space);
	return ret ? die_why(d, "its address space", ret) : 0;
}

static void keeper_missing(struct mem *m, const char *why, int ret)
{
	for (unsigned int die = 0; die < m->n_dies; die++)
		if (is_usable(&m->dies[die]))
			snprintf(m->dies[die].why, sizeof(m->dies[die].why),
				 "k80-keeper: %s", *why ? why : strerror(-ret));
}

static void anchor_die(struct mem_die *d)
{
	int ret;

	open_anchor(d);
	if (d->anchor < 0)
		return;
	ret = keeper_anchor(d->m->keeper, d->uuid, d->anchor);
	if (ret)
		log_warn("mem: die=%u k80-keeper does not hold its node: %s",
			 d->die, strerror(-ret));
}

/* What a daemon before has left is the proof that it can be had. */
static void find_files(struct mem_die *d)
{
	bool has_memory;

	if (recover_claim(d, &has_memory))
		return;
	if (!has_memory)
		trial_run(d);
	if (is_usable(d) && !recover_die(d))
		anchor_die(d);
}

static int report(struct mem *m)
{
	int ret = -ENODEV;

	for (unsigned int die = 0; die < m->n_dies; die++) {
		struct mem_die *d = &m->dies[die];

		if (is_usable(d))
			ret = 0;
		else
			log_warn("mem: die=%u has no such files: %s", die,
				 d->why);
	}
	return ret;
}

int mem_start(struct mem **out, struct backend *be, const struct mem_config *cfg)
{
	struct mem *m = calloc(1, sizeof(*m));
	char why[256] = "";
	int ret = 0;

	if (!m)
		return -ENOMEM;
	m->be = be;
	m->n_dies = be->n_dies;
	pthread_mutex_init(&m->keep_lock, NULL);
	m->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (cfg->keeper_path)
		snprintf(m->keeper_path, sizeof(m->keeper_path), "%s",
			 cfg->keeper_path);
	else
		ret = keeper_default(m->keeper_path, sizeof(m->keeper_path));
	raise_nofile();
	for (unsigned int die = 0; die < m->n_dies; die++)
		die_init(m, die);
	if (!ret)
		ret = keep_open(m, why, sizeof(why));
	if (ret)
		keeper_missing(m, why, ret);
	for (unsigned int die = 0; !ret && die < m->n_dies; die++)
		if (is_usable(&m->dies[die]))
			find_files(&m->dies[die]);
	ret = report(m);
	if (!ret)
		ret = tend_start(m);
	*out = m;
	return ret;
}

static void die_stop(struct mem_die *d)
{
	if (is_usable(d))
		commit_now(d);
	for (size_t i = 0; i < d->n_files; i++)
		file_free(d->files[i], *d->files[i]->name);
	free(d->files);
	extents_free(&d->space);
	mem_table_unmap(d->table);
	if (d->table_fd >= 0)
		close(d->table_fd);
	if (d->anchor >= 0)
		close(d->anchor);
	pthread_cond_destroy(&d->left);
	pthread_mutex_destroy(&d->lock);
	pthread_mutex_destroy(&d->commit_lock);
}

void mem_stop(struct mem *m)
{
	if (!m)
		return;
	tend_stop(m);
	for (unsigned int die = 0; die < m->n_dies; die++)
		die_stop(&m->dies[die]);
	keep_close(m);
	close(m->wake);
	pthread_mutex_destroy(&m->keep_lock);
	free(m);
}

const char *mem_why(struct mem *m, unsigned int die)
{
	return is_usable(&m->dies[die]) ? NULL : m->dies[die].why;
}

void mem_view(struct mem *m, unsigned int die, struct mem_view *out)
{
	struct mem_die *d = &m->dies[die];

	pthread_mutex_lock(&d->lock);
	*out = (struct mem_view){
		.why = mem_why(m, die),
		.files = d->n_named,
		.bytes = d->bytes,
		.lost = d->lost,
	};
	pthread_mutex_unlock(&d->lock);
}

pid_t mem_keeper(struct mem *m, const char **path)
{
	*path = m->keeper_path;
	return m->keeper_pid;
}

uint64_t mem_max_len(struct mem *m, unsigned int die)
{
	return m->dies[die].max_len;
}

int mem_space(struct mem *m, unsigned int die, uint64_t *total, uint64_t *left)
{
	return backend_free_memory(m->be, die, left, total);
}
