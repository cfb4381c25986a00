// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of a pool: what is read back, after any death and any damage. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/util.h"
#include "mem/crc.h"
#include "mem/table.h"
#include "suites.h"
#include "support.h"

#define UNIT MEM_TABLE_UNIT

/* The format, once more: what is written here is what older programs wrote. */
#define WORD_AT       16
#define GENERATION_AT 0
#define CRC_AT        8
#define LEN_AT        16
#define N_FILES_AT    24
#define NEXT_INO_AT   32
#define NEXT_ID_AT    40
#define RECORD_AT     48
/* in a record; the name is behind it */
#define R_INO      0
#define R_LEN      8
#define R_MODE     40
#define R_N_CHUNKS 52
#define R_NAME_LEN 56
#define R_NAME     64

static int fd;
static void *map;
static char why[256];

static void setup(void)
{
	ck_assert_int_eq(mem_table_new(&fd, &map), 0);
}

static void teardown(void)
{
	mem_table_unmap(map);
	close(fd);
}

/* ---- files that are made and read ------------------------------------------ */

/* A table in a buffer: what was read, or is to be written. */
struct files {
	struct mem_table_head head;
	size_t n;
	struct mem_table_file *file;
	struct mem_table_chunk *chunks;
	size_t n_chunks;
};

static void files_free(struct files *f)
{
	free(f->file);
	free(f->chunks);
	memset(f, 0, sizeof(*f));
}

static int take(void *arg, const struct mem_table_file *one)
{
	struct files *f = arg;
	size_t n = one->n_chunks;

	f->file = realloc(f->file, (f->n + 1) * sizeof(*f->file));
	f->chunks =
		realloc(f->chunks, (f->n_chunks + n + 1) * sizeof(*f->chunks));
	support_assert(f->file && f->chunks);
	f->file[f->n++] = *one;
	if (n)
		memcpy(f->chunks + f->n_chunks, one->chunks,
		       n * sizeof(*f->chunks));
	f->n_chunks += n;
	return 0;
}

static int read_files(const void *from, struct files *f)
{
	memset(f, 0, sizeof(*f));
	return mem_table_read(from, &f->head, take, f, why, sizeof(why));
}

/* A file @name of @n_chunks; ids and offsets go on from what there is. */
static void plan(struct files *f, const char *name, unsigned int n_chunks)
{
	struct mem_table_chunk chunks[256];
	struct mem_table_file one = {
		.ino = f->n + 1,
		.len = n_chunks * UNIT - n_chunks,
		.mode = S_IFREG | 0640,
		.uid = 1000,
		.gid = (uint32_t)-2,
		.mtime_ns = -1,
		.ctime_ns = INT64_MAX,
		.atime_ns = (int64_t)f->n,
		.n_chunks = n_chunks,
		.chunks = chunks,
	};

	strcpy(one.name, name);
	for (unsigned int i = 0; i < n_chunks; i++)
		chunks[i] = (struct mem_table_chunk){ 2 * i * UNIT, UNIT,
						      f->n_chunks + i + 1 };
	take(f, &one);
	f->head.next_ino = f->n + 1;
	f->head.next_chunk_id = f->n_chunks + 1;
}

static void begin(const struct files *f)
{
	size_t at = 0;

	mem_table_begin(map, &f->head);
	for (size_t i = 0; i < f->n; i++) {
		struct mem_table_file one = f->file[i];

		one.chunks = f->chunks + at;
		support_assert(!mem_table_add(map, &one));
		at += one.n_chunks;
	}
}

static void commit(const struct files *f)
{
	begin(f);
	mem_table_commit(map);
}

static bool are_equal(const struct files *a, const struct files *b)
{
	if (a->n != b->n || a->n_chunks != b->n_chunks ||
	    memcmp(&a->head, &b->head, sizeof(a->head)) ||
	    (a->n_chunks &&
	     memcmp(a->chunks, b->chunks, a->n_chunks * sizeof(*a->chunks))))
		return false;
	for (size_t i = 0; i < a->n; i++) {
		const struct mem_table_file *x = &a->file[i], *y = &b->file[i];

		if (strcmp(x->name, y->name) || x->ino != y->ino ||
		    x->len != y->len || x->mode != y->mode ||
		    x->uid != y->uid || x->gid != y->gid ||
		    x->mtime_ns != y->mtime_ns || x->ctime_ns != y->ctime_ns ||
		    x->atime_ns != y->atime_ns || x->n_chunks != y->n_chunks)
			return false;
	}
	return true;
}

/* Whether the table is @wanted. */
static bool holds(const void *from, const struct files *wanted)
{
	struct files got;
	bool ret = !read_files(from, &got) && are_equal(&got, wanted);

	files_free(&got);
	return ret;
}

/* Two different tables that share names and chunks. */
static void plan_two(struct files *old, struct files *new)
{
	memset(old, 0, sizeof(*old));
	memset(new, 0, sizeof(*new));
	plan(old, "model.safetensors", 3);
	plan(old, "empty", 0);
	plan(new, "model.safetensors", 2);
	plan(new, "x", 1);
	plan(new, "exactly", 1);
}

/* ---- reading back ---------------------------------------------------------- */

START_TEST(new_table_is_empty)
{
	struct files f;

	ck_assert_int_eq(read_files(map, &f), 0);
	ck_assert_uint_eq(f.n, 0);
	ck_assert_uint_eq(f.head.next_ino, 1);
	ck_assert_uint_eq(f.head.next_chunk_id, 1);
	ck_assert_str_eq(why, "");
}
END_TEST

START_TEST(committed_table_is_read_back_by_another)
{
	char name[256];
	struct files f = { 0 };
	void *other;

	for (size_t len = 1; len <= 255; len++) {
		memset(name, 'n', len);
		name[len] = '\0';
		plan(&f, name, (unsigned int)len % 4);
	}
	plan(&f, "\xff\n ..", 220);
	plan(&f, "...", 0);
	commit(&f);
	ck_assert_int_eq(mem_table_open(fd, &other), 0);
	ck_assert(holds(other, &f));
	ck_assert_str_eq(why, "");
	mem_table_unmap(other);
	files_free(&f);
}
END_TEST

START_TEST(what_is_not_committed_is_not_there)
{
	struct files old, new;

	plan_two(&old, &new);
	commit(&old);
	begin(&new);
	ck_assert(holds(map, &old));
	/* and a second beginning forgets the first */
	commit(&new);
	ck_assert(holds(map, &new));
	begin(&old);
	commit(&old);
	ck_assert(holds(map, &old));
	files_free(&old);
	files_free(&new);
}
END_TEST

START_TEST(thousand_files_and_one_of_220_chunks)
{
	char name[32];
	struct files f = { 0 };

	for (int i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "file-%d.bin", i);
		plan(&f, name, 1);
	}
	plan(&f, "100G", 220);
	for (int i = 0; i < 10; i++)
		commit(&f);
	ck_assert(holds(map, &f));
	files_free(&f);
}
END_TEST

static int count_file(void *arg, const struct mem_table_file *f)
{
	(void)f;
	++*(uint64_t *)arg;
	return 0;
}

START_TEST(full_table_is_enospc_and_keeps_what_fits)
{
	char names[2][32] = { "", "" };
	struct mem_table_file one = { .mode = 0600 };
	const struct mem_table_head head = { 1 << 20, 1 };
	struct mem_table_head got;
	uint64_t n = 0, n_read = 0;
	int ret;

	mem_table_begin(map, &head);
	do {
		memset(one.name, 'x', 255);
		snprintf(names[0], sizeof(names[0]), "%" PRIu64, n);
		memcpy(one.name, names[0], strlen(names[0]));
		one.ino = ++n;
		ret = mem_table_add(map, &one);
	} while (!ret);
	ck_assert_int_eq(ret, -ENOSPC);
	ck_assert_int_eq(mem_table_add(map, &one), -ENOSPC);
	mem_table_commit(map);
	ck_assert_int_eq(mem_table_read(map, &got, count_file, &n_read, why,
					sizeof(why)),
			 0);
	ck_assert_uint_eq(n_read, n - 1);
	ck_assert_uint_gt(n_read, 40000);
	/* one byte is not written behind it: the next copy begins there */
	ck_assert_int_eq(mem_table_add(map, &one), -ENOSPC);
}
END_TEST

static int stop(void *arg, const struct mem_table_file *f)
{
	(void)f;
	return --*(int *)arg ? 0 : -42;
}

START_TEST(reading_ends_where_it_is_told_to)
{
	struct mem_table_head head;
	struct files old, new;
	int left = 2;

	plan_two(&old, &new);
	commit(&new);
	ck_assert_int_eq(
		mem_table_read(map, &head, stop, &left, why, sizeof(why)), -42);
	ck_assert_int_eq(left, 0);
	files_free(&old);
	files_free(&new);
}
END_TEST

/* ---- death ----------------------------------------------------------------- */

/* Commits in a child that stops before every instruction; at each of them the
 * table is read beside it. */
START_TEST(death_at_any_instruction_leaves_the_old_or_the_new_table)
{
	struct files old, new;
	bool is_new = false;
	unsigned long steps = 0;
	int status;
	pid_t pid;

	plan_two(&old, &new);
	commit(&old);
	pid = fork();
	if (!pid) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
			_exit(77);
		raise(SIGSTOP);
		commit(&new);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	while (WIFSTOPPED(status)) {
		/* there is no way back */
		if (is_new || !holds(map, &old)) {
			is_new = true;
			support_assert(holds(map, &new));
		}
		support_assert(!*why);
		steps++;
		support_assert(!ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL));
		support_assert(waitpid(pid, &status, 0) == pid);
	}
	ck_assert(WIFEXITED(status));
	if (WEXITSTATUS(status) != 77) {
		ck_assert_int_eq(WEXITSTATUS(status), 0);
		ck_assert(is_new);
		ck_assert_uint_gt(steps, 1000);
	}
	files_free(&old);
	files_free(&new);
}
END_TEST

/* As if the bytes of a commit had come one by one, from the first and from the
 * last; but the word, which is one store, comes behind them. */
START_TEST(death_between_any_two_bytes_leaves_the_old_table)
{
	size_t len = MEM_TABLE_HEAD_BYTES + 2 * MEM_TABLE_COPY_BYTES;
	char *before = malloc(len), *now = map;
	struct files old, new;
	char *after;

	ck_assert_ptr_nonnull(before);
	plan_two(&old, &new);
	commit(&old);
	memcpy(before, map, len);
	commit(&new);
	ck_assert(holds(map, &new));
	after = malloc(len);
	ck_assert_ptr_nonnull(after);
	memcpy(after, map, len);
	memcpy(map, before, len);
	for (size_t i = 0; i < len; i++) {
		size_t at = _i ? len - 1 - i : i;

		if (before[at] == after[at] || at / 8 == WORD_AT / 8)
			continue;
		now[at] = after[at];
		support_assert(holds(map, &old));
	}
	memcpy(now + WORD_AT, after + WORD_AT, 8);
	ck_assert(holds(map, &new));
	free(before);
	free(after);
	files_free(&old);
	files_free(&new);
}
END_TEST

/* ---- damage ---------------------------------------------------------------- */

static uint64_t *word_at(size_t at)
{
	return (uint64_t *)((char *)map + at);
}

/* Where the copy is that the word names. */
static size_t valid_copy(void)
{
	return MEM_TABLE_HEAD_BYTES +
	       *word_at(WORD_AT) % 2 * MEM_TABLE_COPY_BYTES;
}

static size_t other_copy(void)
{
	return MEM_TABLE_HEAD_BYTES +
	       (*word_at(WORD_AT) + 1) % 2 * MEM_TABLE_COPY_BYTES;
}

/* The CRC of a copy as it is now. */
static void seal(size_t copy)
{
	uint64_t len = *word_at(copy + LEN_AT);

	*word_at(copy + CRC_AT) =
		crc_words(crc_words(0, word_at(copy + GENERATION_AT), 1),
			  word_at(copy + LEN_AT), (len - LEN_AT) / 8);
}

START_TEST(any_changed_byte_gives_the_table_before)
{
	struct files old, new;
	size_t copy, len;

	plan_two(&old, &new);
	commit(&old);
	commit(&new);
	copy = valid_copy();
	len = *word_at(copy + LEN_AT);
	for (size_t i = 0; i < len; i++) {
		char *byte = (char *)map + copy + i;

		*byte ^= (char)(1 << i % 8);
		support_assert(holds(map, &old));
		support_assert(*why);
		*byte ^= (char)(1 << i % 8);
		support_assert(holds(map, &new));
		support_assert(!*why);
	}
	files_free(&old);
	files_free(&new);
}
END_TEST

START_TEST(two_broken_copies_are_ebadmsg)
{
	struct files old, new, got;

	plan_two(&old, &new);
	commit(&old);
	commit(&new);
	*word_at(valid_copy() + RECORD_AT) ^= 1;
	*word_at(other_copy() + RECORD_AT) ^= 1;
	ck_assert_int_eq(read_files(map, &got), -EBADMSG);
	ck_assert_uint_eq(got.n, 0);
	ck_assert_ptr_nonnull(strstr(why, "CRC"));
	/* a new table can be made there all the same */
	commit(&new);
	ck_assert(holds(map, &new));
	files_free(&old);
	files_free(&new);
}
END_TEST

/* The older copy is all that there is: it is not what is written over. */
START_TEST(writing_after_damage_keeps_the_copy_that_is_right)
{
	struct files old, new;

	plan_two(&old, &new);
	commit(&old);
	commit(&new);
	*word_at(valid_copy() + RECORD_AT) ^= 1;
	ck_assert(holds(map, &old));
	begin(&new);
	ck_assert(holds(map, &old));
	mem_table_commit(map);
	ck_assert(holds(map, &new));
	ck_assert_str_eq(why, "");
	begin(&old);
	ck_assert(holds(map, &new));
	files_free(&old);
	files_free(&new);
}
END_TEST

/* One wrong thing in a table whose CRC is right: 64 bits at a place, or with
 * @is_32 the 32 there. The files are those of plan_two(): "model.safetensors"
 * with three chunks, "empty" with none. */
#define SECOND   (RECORD_AT + R_NAME + 24 + 3 * 24)
#define CHUNK(i) (RECORD_AT + R_NAME + 24 + (i)*24)

static const struct {
	const char *what;
	size_t at;
	uint64_t value;
	bool is_32;
} lies[] = {
	{ "more files", N_FILES_AT, 3, false },
	{ "fewer files", N_FILES_AT, 1, false },
	{ "very many files", N_FILES_AT, UINT64_MAX, false },
	{ "one byte more", LEN_AT, SECOND + R_NAME + 9, false },
	{ "one word more", LEN_AT, SECOND + R_NAME + 16, false },
	{ "one word less", LEN_AT, SECOND + R_NAME, false },
	{ "no name", RECORD_AT + R_NAME_LEN, 0, false },
	{ "a shorter name", RECORD_AT + R_NAME_LEN, 16, false },
	{ "a longer name", RECORD_AT + R_NAME_LEN, 18, false },
	{ "a long name", RECORD_AT + R_NAME_LEN, 256, false },
	{ "an endless name", RECORD_AT + R_NAME_LEN, UINT64_MAX, false },
	{ "a slash", RECORD_AT + R_NAME, 0x2f, false },
	{ "ino 0", RECORD_AT + R_INO, 0, false },
	{ "ino of the other", RECORD_AT + R_INO, 2, false },
	{ "ino to come", RECORD_AT + R_INO, 3, false },
	{ "a length below 0", RECORD_AT + R_LEN, 1ULL << 63, false },
	{ "a folder", RECORD_AT + R_MODE, S_IFDIR | 0755, true },
	{ "more chunks", RECORD_AT + R_N_CHUNKS, 4, true },
	{ "fewer chunks", RECORD_AT + R_N_CHUNKS, 2, true },
	{ "very many chunks", RECORD_AT + R_N_CHUNKS, UINT32_MAX, true },
	{ "chunks of the last", SECOND + R_N_CHUNKS, 1, true },
	{ "a chunk off the unit", CHUNK(0), 4096, false },
	{ "a chunk within another", CHUNK(1), 0, false },
	{ "a chunk at the end of all", CHUNK(2), -UNIT, false },
	{ "a chunk without bytes", CHUNK(0) + 8, 0, false },
	{ "a chunk of half a unit", CHUNK(0) + 8, UNIT / 2, false },
	{ "a chunk over the next", CHUNK(0) + 8, 3 * UNIT, false },
	{ "a chunk over all", CHUNK(2) + 8, -UNIT, false },
	{ "chunk 0", CHUNK(0) + 16, 0, false },
	{ "a chunk twice", CHUNK(0) + 16, 2, false },
	{ "a chunk to come", CHUNK(0) + 16, 4, false },
	{ "fewer inos", NEXT_INO_AT, 2, false },
	{ "fewer ids", NEXT_ID_AT, 3, false },
	{ "generation 0", GENERATION_AT, 0, false },
	{ "another generation", GENERATION_AT, 4, false },
};

START_TEST(lie_with_a_right_crc_is_refused)
{
	struct files old, new, got;
	size_t copy;

	plan_two(&old, &new);
	commit(&old);
	*word_at(other_copy() + GENERATION_AT) = 0;
	copy = valid_copy();
	ck_assert_uint_eq(*word_at(copy + LEN_AT), SECOND + R_NAME + 8);
	seal(copy);
	ck_assert(holds(map, &old));
	if (lies[_i].is_32)
		*(uint32_t *)word_at(copy + lies[_i].at) =
			(uint32_t)lies[_i].value;
	else
		*word_at(copy + lies[_i].at) = lies[_i].value;
	if (*word_at(copy + LEN_AT) % 8 == 0)
		seal(copy);
	ck_assert_msg(read_files(map, &got) == -EBADMSG, "%s", lies[_i].what);
	ck_assert_uint_eq(got.n, 0);
	files_free(&old);
	files_free(&new);
}
END_TEST

/* In place of "empty". */
static const struct {
	uint64_t len;
	char bytes[6];
} bad_names[] = {
	{ 5, "a/bcd" },   { 1, "/" },     { 1, "." },
	{ 2, ".." },      { 0, "" },      { 5, "e\0pty" },
	{ 5, "em\0\0y" }, { 4, "empty" }, { 6, "empty" },
};

START_TEST(bad_name_with_a_right_crc_is_refused)
{
	struct files old, new, got;
	size_t copy;

	plan_two(&old, &new);
	commit(&old);
	*word_at(other_copy() + GENERATION_AT) = 0;
	copy = valid_copy();
	memcpy((char *)map + copy + SECOND + R_NAME, bad_names[_i].bytes, 6);
	*word_at(copy + SECOND + R_NAME_LEN) = bad_names[_i].len;
	seal(copy);
	ck_assert_int_eq(read_files(map, &got), -EBADMSG);
	files_free(&old);
	files_free(&new);
}
END_TEST

START_TEST(name_that_is_there_twice_is_refused)
{
	struct files f = { 0 }, got;
	size_t copy;

	plan(&f, "aa", 0);
	plan(&f, "ab", 0);
	commit(&f);
	*word_at(other_copy() + GENERATION_AT) = 0;
	copy = valid_copy();
	((char *)map)[copy + RECORD_AT + R_NAME + 1] = 'b';
	seal(copy);
	ck_assert_int_eq(read_files(map, &got), -EBADMSG);
	ck_assert_ptr_nonnull(strstr(why, "twice"));
	files_free(&f);
}
END_TEST

/* Any bytes, with a CRC that is right: nothing is read beyond them. */
START_TEST(garbage_with_a_right_crc_is_survived)
{
	uint64_t random = 1 + (uint64_t)_i;
	unsigned int n_read = 0;
	struct files old, new, got;
	size_t copy, len;
	char *kept;

	plan_two(&old, &new);
	commit(&old);
	*word_at(other_copy() + GENERATION_AT) = 0;
	copy = valid_copy();
	len = *word_at(copy + LEN_AT);
	kept = malloc(len);
	ck_assert_ptr_nonnull(kept);
	memcpy(kept, (char *)map + copy, len);
	for (int i = 0; i < 5000; i++) {
		for (uint64_t k = 1 + support_random(&random, 3); k; k--) {
			size_t at = N_FILES_AT +
				    support_random(&random, len - N_FILES_AT);

			((char *)map)[copy + at] =
				(char)support_random(&random, 256);
		}
		seal(copy);
		n_read += !read_files(map, &got);
		files_free(&got);
		memcpy((char *)map + copy, kept, len);
	}
	/* a time or a length that is another one is no lie */
	ck_assert_uint_gt(n_read, 50);
	free(kept);
	files_free(&old);
	files_free(&new);
}
END_TEST

/* ---- what may be added ----------------------------------------------------- */

static const struct mem_table_chunk chunk_sets[][2] = {
	{ { 0, UNIT, 1 }, { 0, UNIT, 2 } },
	{ { 0, 2 * UNIT, 1 }, { UNIT, UNIT, 2 } },
	{ { 2 * UNIT, UNIT, 1 }, { 0, UNIT, 2 } },
	{ { 0, UNIT, 1 }, { UNIT + 1, UNIT, 2 } },
	{ { 0, UNIT, 1 }, { UNIT, UNIT + 4096, 2 } },
	{ { 0, UNIT, 1 }, { UNIT, 0, 2 } },
	{ { 0, UNIT, 1 }, { UNIT, UNIT, 0 } },
	{ { 0, UNIT, 1 }, { UNIT, UNIT, 3 } },
	{ { 0, UNIT, 1 }, { INT64_MAX / UNIT * UNIT, UNIT, 2 } },
};

START_TEST(chunks_that_cannot_be_are_not_added)
{
	const struct mem_table_head head = { 2, 3 };
	struct mem_table_file f = {
		.name = "f", .ino = 1, .n_chunks = 2, .chunks = chunk_sets[_i]
	};
	struct files got;

	mem_table_begin(map, &head);
	ck_assert_int_eq(mem_table_add(map, &f), -EINVAL);
	f.n_chunks = 1;
	ck_assert_int_eq(mem_table_add(map, &f), 0);
	mem_table_commit(map);
	ck_assert_int_eq(read_files(map, &got), 0);
	ck_assert_uint_eq(got.n, 1);
	files_free(&got);
}
END_TEST

START_TEST(files_that_cannot_be_are_not_added)
{
	const struct mem_table_head head = { 2, 3 };
	const struct mem_table_file good = { .name = "f", .ino = 1 };
	struct mem_table_file f;

	mem_table_begin(map, &head);
#define REFUSED(change)                                            \
	do {                                                       \
		f = good;                                          \
		change;                                            \
		ck_assert_int_eq(mem_table_add(map, &f), -EINVAL); \
	} while (0)
	REFUSED(f.name[0] = '\0');
	REFUSED(strcpy(f.name, "."));
	REFUSED(strcpy(f.name, ".."));
	REFUSED(strcpy(f.name, "a/b"));
	REFUSED(memset(f.name, 'x', sizeof(f.name)));
	REFUSED(f.ino = 0);
	REFUSED(f.ino = 2);
	REFUSED(f.len = (uint64_t)INT64_MAX + 1);
	REFUSED(f.mode = S_IFDIR | 0700);
	REFUSED(f.mode = 1 << 20);
#undef REFUSED
	f = good;
	ck_assert_int_eq(mem_table_add(map, &f), 0);
}
END_TEST

/* ---- what is a table ------------------------------------------------------- */

static int make_memfd(size_t len, unsigned int seals)
{
	int other = memfd_create("check", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	ck_assert_int_ge(other, 0);
	ck_assert_int_eq(ftruncate(other, (off_t)len), 0);
	ck_assert_int_eq(fcntl(other, F_ADD_SEALS, seals), 0);
	return other;
}

static void refused(int other, int error)
{
	void *p;

	ck_assert_int_eq(mem_table_open(other, &p), error);
	close(other);
}

START_TEST(what_is_no_table_is_refused)
{
	refused(open("/proc/self/exe", O_RDONLY | O_CLOEXEC), -EBADMSG);
	refused(open("/dev/null", O_RDWR | O_CLOEXEC), -EBADMSG);
	refused(make_memfd(MEM_TABLE_BYTES, F_SEAL_GROW), -EBADMSG);
	refused(make_memfd(MEM_TABLE_BYTES, F_SEAL_SHRINK), -EBADMSG);
	refused(make_memfd(4096, F_SEAL_SHRINK | F_SEAL_GROW), -EBADMSG);
	refused(make_memfd(MEM_TABLE_BYTES, F_SEAL_SHRINK | F_SEAL_GROW),
		-EBADMSG);
	*word_at(8) += 1;
	refused(dup(fd), -EPROTO);
	*word_at(0) += 1;
	refused(dup(fd), -EBADMSG);
}
END_TEST

START_TEST(nobody_makes_it_shorter)
{
	ck_assert_int_eq(ftruncate(fd, 4096), -1);
	ck_assert_int_eq(ftruncate(fd, MEM_TABLE_BYTES + 4096), -1);
	ck_assert_int_eq(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE), -1);
	ck_assert_int_eq(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
}
END_TEST

/* What zlib.crc32() of Python says of the same bytes. */
START_TEST(crc_is_the_one_of_zlib)
{
	uint64_t words[2];

	memcpy(words, "1234567812345678", 16);
	ck_assert_uint_eq(crc_words(0, words, 1), 0x9ae0daaf);
	ck_assert_uint_eq(crc_words(crc_words(0, words, 1), words + 1, 1),
			  crc_words(0, words, 2));
}
END_TEST

Suite *table_suite(void)
{
	Suite *s = suite_create("table");
	TCase *back = tcase_create("read back");
	TCase *death = tcase_create("death");
	TCase *damage = tcase_create("damage");
	TCase *added = tcase_create("added");

	tcase_add_checked_fixture(back, setup, teardown);
	tcase_add_test(back, new_table_is_empty);
	tcase_add_test(back, committed_table_is_read_back_by_another);
	tcase_add_test(back, what_is_not_committed_is_not_there);
	tcase_add_test(back, thousand_files_and_one_of_220_chunks);
	tcase_add_test(back, full_table_is_enospc_and_keeps_what_fits);
	tcase_add_test(back, reading_ends_where_it_is_told_to);
	suite_add_tcase(s, back);

	tcase_add_checked_fixture(death, setup, teardown);
	tcase_add_test(death,
		       death_at_any_instruction_leaves_the_old_or_the_new_table);
	tcase_add_loop_test(
		death, death_between_any_two_bytes_leaves_the_old_table, 0, 2);
	suite_add_tcase(s, death);

	tcase_add_checked_fixture(damage, setup, teardown);
	tcase_add_test(damage, any_changed_byte_gives_the_table_before);
	tcase_add_test(damage, two_broken_copies_are_ebadmsg);
	tcase_add_test(damage, writing_after_damage_keeps_the_copy_that_is_right);
	tcase_add_loop_test(damage, lie_with_a_right_crc_is_refused, 0,
			    ARRAY_SIZE(lies));
	tcase_add_loop_test(damage, bad_name_with_a_right_crc_is_refused, 0,
			    ARRAY_SIZE(bad_names));
	tcase_add_test(damage, name_that_is_there_twice_is_refused);
	tcase_add_loop_test(damage, garbage_with_a_right_crc_is_survived, 0, 4);
	suite_add_tcase(s, damage);

	tcase_add_checked_fixture(added, setup, teardown);
	tcase_add_loop_test(added, chunks_that_cannot_be_are_not_added, 0,
			    ARRAY_SIZE(chunk_sets));
	tcase_add_test(added, files_that_cannot_be_are_not_added);
	tcase_add_test(added, what_is_no_table_is_refused);
	tcase_add_test(added, nobody_makes_it_shorter);
	tcase_add_test(added, crc_is_the_one_of_zlib);
	suite_add_tcase(s, added);
	return s;
}
