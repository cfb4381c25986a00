/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mem/table.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mem/crc.h"
#include "mem/record.h"

#define MAGIC   0x6c6261746d303838ULL
#define VERSION 1
#define SEALS   (F_SEAL_SHRINK | F_SEAL_GROW)

/**
 * struct head - the first page
 * @word: generation of the valid copy, which is copy @word % 2
 * @next: generation of the copy that is being written; the writer's alone
 */
struct head {
	uint64_t magic;
	uint64_t version;
	uint64_t word;
	uint64_t next;
};

/**
 * struct copy - one of the two; behind it n_files records
 * @generation: 0 while it is being written
 * @crc:        of the generation and of everything from @len on
 * @len:        bytes, this struct included
 */
struct copy {
	uint64_t generation;
	uint64_t crc;
	uint64_t len;
	uint64_t n_files;
	struct mem_table_head head;
};

/* ---- the memory ------------------------------------------------------------ */

static struct copy *copy_of(void *map, uint64_t generation)
{
	return (struct copy *)((char *)map + MEM_TABLE_HEAD_BYTES +
			       generation % 2 * MEM_TABLE_COPY_BYTES);
}

static uint32_t copy_crc(const struct copy *c, uint64_t generation, uint64_t len)
{
	size_t skip = offsetof(struct copy, len);
	uint32_t crc = crc_words(0, &generation, 1);

	return crc_words(crc, &c->len, (len - skip) / sizeof(uint64_t));
}

static bool is_len(uint64_t len)
{
	return len >= sizeof(struct copy) && len <= MEM_TABLE_COPY_BYTES &&
	       !(len % sizeof(uint64_t));
}

static bool is_whole(const struct copy *c, uint64_t len)
{
	return is_len(len) && c->len == len && c->generation &&
	       c->generation <= INT64_MAX &&
	       c->crc == copy_crc(c, c->generation, len);
}

static uint64_t read_word(const void *map)
{
	return __atomic_load_n(&((const struct head *)map)->word,
			       __ATOMIC_ACQUIRE);
}

static int map_fd(int fd, void **map)
{
	void *p = mmap(NULL, MEM_TABLE_BYTES, PROT_READ | PROT_WRITE,
		       MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		return -errno;
	*map = p;
	return 0;
}

int mem_table_new(int *out, void **map)
{
	const struct mem_table_head head = { .next_ino = 1, .next_chunk_id = 1 };
	int fd = memfd_create("k80fs-table", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct head *h;
	int ret;

	if (fd < 0)
		return -errno;
	if (ftruncate(fd, MEM_TABLE_BYTES) ||
	    fcntl(fd, F_ADD_SEALS, SEALS | F_SEAL_SEAL))
		ret = -errno;
	else
		ret = map_fd(fd, map);
	if (ret) {
		close(fd);
		return ret;
	}
	h = *map;
	h->magic = MAGIC;
	h->version = VERSION;
	mem_table_begin(*map, &head);
	mem_table_commit(*map);
	*out = fd;
	return 0;
}

int mem_table_open(int fd, void **map)
{
	int seals = fcntl(fd, F_GET_SEALS);
	const struct head *h;
	struct stat st;
	int ret;

	/* memory that could get shorter would give SIGBUS */
	if (seals < 0 || (seals & SEALS) != SEALS || fstat(fd, &st) ||
	    st.st_size != (off_t)MEM_TABLE_BYTES)
		return -EBADMSG;
	ret = map_fd(fd, map);
	if (ret)
		return ret;
	h = *map;
	if (h->magic != MAGIC)
		ret = -EBADMSG;
	else if (h->version != VERSION)
		ret = -EPROTO;
	if (ret)
		mem_table_unmap(*map);
	return ret;
}

void mem_table_unmap(void *map)
{
	if (map)
		munmap(map, MEM_TABLE_BYTES);
}

/* ---- writing --------------------------------------------------------------- */

/* Never over the copy that mem_table_read() would take. */
static uint64_t next_generation(void *map)
{
	uint64_t word = read_word(map);
	const struct copy *named = copy_of(map, word);
	const struct copy *other = copy_of(map, word + 1);

	if (is_whole(named, named->len) && named->generation == word)
		return word + 1;
	if (is_whole(other, other->len) && other->generation % 2 != word % 2)
		return other->generation + 1;
	return 1;
}

void mem_table_begin(void *map, const struct mem_table_head *head)
{
	struct head *h = map;
	struct copy *c;

	h->next = next_generation(map);
	c = copy_of(map, h->next);
	/* from here to the commit nobody takes it for a whole one */
	__atomic_store_n(&c->generation, 0, __ATOMIC_SEQ_CST);
	c->len = sizeof(*c);
	c->n_files = 0;
	c->head = *head;
}

int mem_table_add(void *map, const struct mem_table_file *f)
{
	struct copy *c = copy_of(map, ((struct head *)map)->next);
	size_t len;

	if (!record_may_be(f, &c->head))
		return -EINVAL;
	len = record_room(f);
	if (len > MEM_TABLE_COPY_BYTES - c->len)
		return -ENOSPC;
	record_write((char *)c + c->len, f);
	c->len += len;
	c->n_files++;
	return 0;
}

void mem_table_commit(void *map)
{
	struct head *h = map;
	struct copy *c = copy_of(map, h->next);

	c->crc = copy_crc(c, h->next, c->len);
	__atomic_store_n(&c->generation, h->next, __ATOMIC_RELEASE);
	__atomic_store_n(&h->word, h->next, __ATOMIC_RELEASE);
}

/* ---- reading --------------------------------------------------------------- */

/* What no two files of a table have in common; @n_ids of them in all. */
struct names {
	const char **names;
	uint64_t *inos, *ids;
	size_t n_files, n_ids;
};

/* The record at @at, which goes on to the next. False: there is none. */
static bool next_file(const struct copy *c, size_t *at, const struct record **r,
		      struct mem_table_file *f)
{
	size_t len;

	*r = (const struct record *)((const char *)c + *at);
	len = record_read(*r, c->len - *at, f);
	*at += len;
	return len;
}

/* Whether every file alone is right. */
static bool count(const struct copy *c, struct names *n)
{
	size_t at = sizeof(*c);
	const struct record *r;
	struct mem_table_file f;

	while (next_file(c, &at, &r, &f)) {
		if (!record_may_be(&f, &c->head))
			return false;
		n->n_files++;
		n->n_ids += f.n_chunks;
	}
	return at == c->len && n->n_files == c->n_files;
}

static void collect(const struct copy *c, struct names *n)
{
	size_t at = sizeof(*c), file = 0, id = 0;
	const struct record *r;
	struct mem_table_file f;

	while (next_file(c, &at, &r, &f)) {
		n->names[file] = record_name(r);
		n->inos[file++] = f.ino;
		for (unsigned int i = 0; i < f.n_chunks; i++)
			n->ids[id++] = f.chunks[i].id;
	}
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool are_different(void *base, size_t n, size_t size,
			  int (*order)(const void *, const void *))
{
	const char *at = base;

	qsort(base, n, size, order);
	for (size_t i = 1; i < n; i++, at += size)
		if (!order(at, at + size))
			return false;
	return true;
}

/* Returns 0; -EBADMSG two of them are equal; -ENOMEM. */
static int check_names(const struct copy *c, struct names *n)
{
	int ret = -ENOMEM;

	/* of nothing, calloc() may be NULL */
	n->names = calloc(n->n_files + 1, sizeof(*n->names));
	n->inos = calloc(n->n_files + 1, sizeof(*n->inos));
	n->ids = calloc(n->n_ids + 1, sizeof(*n->ids));
	if (n->names && n->inos && n->ids) {
		collect(c, n);
		ret = -EBADMSG;
		if (are_different(n->names, n->n_files, sizeof(*n->names),
				  by_name) &&
		    are_different(n->inos, n->n_files, sizeof(*n->inos),
				  by_number) &&
		    are_different(n->ids, n->n_ids, sizeof(*n->ids), by_number))
			ret = 0;
	}
	free(n->names);
	free(n->inos);
	free(n->ids);
	return ret;
}

static int check_copy(const struct copy *c, uint64_t len, uint64_t generation,
		      bool is_named, const char **why)
{
	struct names n = { 0 };

	*why = "its CRC is wrong";
	if (!is_whole(c, len))
		return -EBADMSG;
	*why = "it is of another generation";
	if (is_named ? c->generation != generation
		     : c->generation % 2 != generation % 2)
		return -EBADMSG;
	*why = "a file in it cannot be";
	if (!count(c, &n))
		return -EBADMSG;
	*why = "a name or a number in it is there twice";
	return check_names(c, &n);
}

/*
 * A copy of a copy: what is checked is what is then used, whoever writes.
 * Returns 0; -EBADMSG; -ENOMEM. *out is for free().
 */
static int take_copy(const void *map, uint64_t generation, bool is_named,
		     struct copy **out, const char **why)
{
	const struct copy *c = copy_of((void *)map, generation);
	uint64_t len = __atomic_load_n(&c->len, __ATOMIC_RELAXED);
	struct copy *mine;
	int ret;

	*why = "its length is wrong";
	if (!is_len(len))
		return -EBADMSG;
	mine = malloc(len);
	if (!mine)
		return -ENOMEM;
	memcpy(mine, c, len);
	ret = check_copy(mine, len, generation, is_named, why);
	if (ret)
		free(mine);
	else
		*out = mine;
	return ret;
}

static int tell(const struct copy *c,
		int (*file)(void *arg, const struct mem_table_file *f), void *arg)
{
	size_t at = sizeof(*c);
	const struct record *r;
	struct mem_table_file f;
	int ret = 0;

	while (!ret && next_file(c, &at, &r, &f))
		ret = file(arg, &f);
	return ret;
}

int mem_table_read(const void *map, struct mem_table_head *head,
		   int (*file)(void *arg, const struct mem_table_file *f),
		   void *arg, char *why, size_t why_len)
{
	uint64_t word = read_word(map);
	const char *fault, *other_fault;
	struct copy *c;
	int ret = take_copy(map, word, true, &c, &fault);

	*why = '\0';
	if (ret == -EBADMSG) {
		ret = take_copy(map, word + 1, false, &c, &other_fault);
		snprintf(why, why_len,
			 "the valid copy of the table: %s; the one before it: %s",
			 fault, ret ? other_fault : "taken");
	}
	if (ret)
		return ret;
	*head = c->head;
	ret = tell(c, file, arg);
	free(c);
	return ret;
}
