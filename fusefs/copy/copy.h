/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * copy/ - moving bytes to and from a mapping that is slow, and that may be
 * taken away: copy.c chooses, words.c and x86.c move, guard.c survives SIGBUS.
 * May use: base.
 * Must not know: whose mapping it is.
 *
 * The copy engine: bytes between a die's mapping and ordinary memory.
 *
 * A load from write-combined memory is one bus read of its own width, so plain
 * loops crawl; a streaming load fetches a whole line. Which routine is right
 * depends on the mapping's memory type and on the CPU, and is chosen once.
 *
 * Pure: no locks, no allocation, no system call; safe from any thread. A SIGBUS
 * handler may jump out of every function here.
 */
#ifndef K80FS_COPY_H
#define K80FS_COPY_H

#include <stdbool.h>
#include <stddef.h>

enum copy_mem {
	COPY_MEM_WC, /* a BAR: write-combined or uncached */
	COPY_MEM_WB, /* ordinary memory: the simulator's files */
};

typedef void (*copy_fn)(void *dst, const void *src, size_t len);

/**
 * struct copy_ops - the routines for one memory type on one CPU
 * @name:       for status and log; unique
 * @read_name:  what @from_dev uses
 * @write_name: what @to_dev and @zero use
 * @from_dev:   device to memory
 * @to_dev:     memory to device; its stores are ordered before whatever the
 *              caller stores next
 * @zero:       clear device memory, ordered like @to_dev
 * @fence:      push the stores of this CPU that still sit in its
 *              write-combining buffers; a bus may still hold them
 *
 * Any @len, 0 too, and any alignment of either side; the two must not overlap.
 * Nothing outside the range is read or written on either side. With COPY_MEM_WC
 * the device side sees whole 64-byte lines in rising order; what is left at
 * either end goes by the fewest naturally aligned accesses of 1 to 16 bytes.
 */
struct copy_ops {
	const char *name;
	const char *read_name;
	const char *write_name;
	copy_fn from_dev;
	copy_fn to_dev;
	void (*zero)(void *dst, size_t len);
	void (*fence)(void);
};

/**
 * copy_select() - the best routines this CPU can run
 * @mem: type of the device's mapping
 *
 * The same answer every time; ask once at start.
 *
 * Return: never NULL.
 */
const struct copy_ops *copy_select(enum copy_mem mem);

/**
 * struct copy_variant - one row of the table that copy_select() chooses from
 * @ops:       the routines
 * @mem:       memory type they are meant for; all of them are correct on both
 * @is_usable: can this CPU and system run it
 */
struct copy_variant {
	struct copy_ops ops;
	enum copy_mem mem;
	bool (*is_usable)(void);
};

/**
 * copy_variants() - every variant built for this architecture
 * @out: out: the table, best first within one memory type
 *
 * Return: number of rows.
 */
size_t copy_variants(const struct copy_variant **out);

/*
 * words.c: naturally aligned accesses of at most 16 bytes on the device side,
 * as few as cover the range. The heads and tails of every variant, and the
 * whole of it where there is nothing better.
 */
void copy_words_from_dev(void *dst, const void *src, size_t len);
void copy_words_to_dev(void *dst, const void *src, size_t len);
void copy_words_zero(void *dst, size_t len);

/* x86.c: only where the variant's is_usable() says so */
#ifdef __x86_64__
bool copy_has_sse41(void);
bool copy_has_avx2(void);
void copy_sse41_from_dev(void *dst, const void *src, size_t len);
void copy_avx2_from_dev(void *dst, const void *src, size_t len);
void copy_sse2_to_dev(void *dst, const void *src, size_t len);
void copy_sse2_zero(void *dst, size_t len);
void copy_avx2_to_dev(void *dst, const void *src, size_t len);
void copy_avx2_zero(void *dst, size_t len);
void copy_wb_avx2_to_dev(void *dst, const void *src, size_t len);
void copy_wb_avx2_zero(void *dst, size_t len);
void copy_x86_fence(void);
#endif

#endif /* K80FS_COPY_H */
