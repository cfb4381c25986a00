/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The copy engine: every variant against a byte loop, between guard pages, and
 * (x86-64) one device access at a time.
 */
#include "copy/copy.h"

#include <check.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/util.h"
#include "suites.h"

#define PAGE     4096u
#define LINE     64u
#define LEN_MAX  300u
#define DEV_OFFS 65u
#define MEM_OFFS 17u
/* what is checked on either side of a copy */
#define MARGIN  64u
#define BUF_LEN (MARGIN + DEV_OFFS + LEN_MAX + MARGIN)
#define PAPER   0xa5
/* three pages' worth and then some, and far above any threshold */
#define BIG_LEN (9 * MIB + 4321)

static const struct copy_variant *variants;
static size_t n_variants;

static void setup(void)
{
	n_variants = copy_variants(&variants);
}

/* valgrind is slow and cannot single-step */
static bool under_valgrind(void)
{
	const char *preload = getenv("LD_PRELOAD");

	return preload && strstr(preload, "vgpreload");
}

static uint8_t pattern(size_t i)
{
	return (uint8_t)(i * 31 + i / 251 + 7);
}

static void fill(uint8_t *buf, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		buf[i] = pattern(i);
}

/* a row this CPU cannot run counts as passed: there is nothing to run */
static const struct copy_ops *ops_of(int row)
{
	return variants[row].is_usable() ? &variants[row].ops : NULL;
}

static void check_same(const struct copy_ops *ops, const char *what,
		       const uint8_t *got, const uint8_t *want, size_t dev_off,
		       size_t mem_off, size_t len)
{
	if (!memcmp(got, want, BUF_LEN))
		return;
	ck_abort_msg("%s %s: dev_off %zu mem_off %zu len %zu", ops->name, what,
		     dev_off, mem_off, len);
}

static _Alignas(LINE) uint8_t src_buf[BUF_LEN];
static _Alignas(LINE) uint8_t dst_buf[BUF_LEN];
static uint8_t want_buf[BUF_LEN];

/*
 * Every length at one pair of offsets. want_buf grows by a byte a round, which
 * is the byte loop.
 */
static void each_length(const struct copy_ops *ops, bool is_read,
			size_t dev_off, size_t mem_off)
{
	size_t dst_off = MARGIN + (is_read ? mem_off : dev_off);
	size_t src_off = MARGIN + (is_read ? dev_off : mem_off);
	copy_fn fn = is_read ? ops->from_dev : ops->to_dev;
	size_t len;

	memset(want_buf, PAPER, BUF_LEN);
	for (len = 0; len <= LEN_MAX; len++) {
		if (len)
			want_buf[dst_off + len - 1] = src_buf[src_off + len - 1];
		memset(dst_buf, PAPER, BUF_LEN);
		fn(dst_buf + dst_off, src_buf + src_off, len);
		check_same(ops, is_read ? "from_dev" : "to_dev", dst_buf,
			   want_buf, dev_off, mem_off, len);
	}
}

static void each_shape(const struct copy_ops *ops, bool is_read)
{
	size_t step = under_valgrind() ? 8 : 1;
	size_t dev_off, mem_off;

	fill(src_buf, BUF_LEN);
	for (dev_off = 0; dev_off < DEV_OFFS; dev_off++)
		for (mem_off = 0; mem_off < MEM_OFFS; mem_off += step)
			each_length(ops, is_read, dev_off, mem_off);
}

START_TEST(read_of_any_shape_matches_byte_loop)
{
	const struct copy_ops *ops = ops_of(_i);

	if (!ops)
		return;
	each_shape(ops, true);
}
END_TEST

START_TEST(write_of_any_shape_matches_byte_loop)
{
	const struct copy_ops *ops = ops_of(_i);

	if (!ops)
		return;
	each_shape(ops, false);
}
END_TEST

START_TEST(zero_of_any_shape_matches_byte_loop)
{
	const struct copy_ops *ops = ops_of(_i);
	size_t off, len, i;

	if (!ops)
		return;
	for (off = 0; off < DEV_OFFS; off++) {
		for (len = 0; len <= LEN_MAX; len++) {
			memset(dst_buf, PAPER, BUF_LEN);
			memset(want_buf, PAPER, BUF_LEN);
			for (i = 0; i < len; i++)
				want_buf[MARGIN + off + i] = 0;
			ops->zero(dst_buf + MARGIN + off, len);
			check_same(ops, "zero", dst_buf, want_buf, off, 0, len);
		}
	}
}
END_TEST

/* two accessible pages between two that are not */
static uint8_t *guarded_map(void)
{
	uint8_t *map;

	map = mmap(NULL, 4 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(map, MAP_FAILED);
	ck_assert_int_eq(mprotect(map + PAGE, 2 * PAGE, PROT_READ | PROT_WRITE),
			 0);
	return map + PAGE;
}

static void guarded_unmap(uint8_t *area)
{
	ck_assert_int_eq(munmap(area - PAGE, 4 * PAGE), 0);
}

START_TEST(copy_beside_guard_pages_does_not_fault)
{
	const struct copy_ops *ops = ops_of(_i);
	uint8_t *dev, *mem, *d, *m;
	size_t len;
	int side;

	if (!ops)
		return;
	dev = guarded_map();
	mem = guarded_map();
	fill(dev, 2 * PAGE);
	/* bit 0: device side ends at its guard; bit 1: memory side does */
	for (side = 0; side < 4; side++) {
		for (len = 0; len <= 2 * PAGE; len += len < 600 ? 1 : 617) {
			d = dev + (side & 1 ? 2 * PAGE - len : 0);
			m = mem + (side & 2 ? 2 * PAGE - len : 0);
			ops->from_dev(m, d, len);
			ck_assert_int_eq(memcmp(m, d, len), 0);
			ops->zero(d, len);
			ops->to_dev(d, m, len);
			ck_assert_int_eq(memcmp(m, d, len), 0);
		}
	}
	guarded_unmap(dev);
	guarded_unmap(mem);
}
END_TEST

static bool is_all(const uint8_t *buf, uint8_t byte, size_t len)
{
	return !len || (buf[0] == byte && !memcmp(buf, buf + 1, len - 1));
}

START_TEST(copy_of_megabytes_round_trips)
{
	static const size_t offs[][2] = { { 0, 0 },  { 1, 0 },   { 0, 1 },
					  { 63, 5 }, { 16, 16 }, { 33, 47 } };
	const struct copy_ops *ops = ops_of(_i);
	uint8_t *src, *dev, *dst;
	size_t i, d, m;

	if (!ops)
		return;
	src = malloc(BIG_LEN + LINE);
	dst = malloc(BIG_LEN + LINE);
	dev = aligned_alloc(PAGE, BIG_LEN / PAGE * PAGE + 2 * PAGE);
	ck_assert(src && dst && dev);
	fill(src, BIG_LEN + LINE);
	for (i = 0; i < ARRAY_SIZE(offs); i++) {
		d = offs[i][0] + LINE;
		m = offs[i][1];
		memset(dev, PAPER, BIG_LEN / PAGE * PAGE + 2 * PAGE);
		ops->to_dev(dev + d, src + m, BIG_LEN);
		ck_assert(is_all(dev, PAPER, d));
		ck_assert(is_all(dev + d + BIG_LEN, PAPER, LINE));
		memset(dst, 0, BIG_LEN + LINE);
		ops->from_dev(dst + m, dev + d, BIG_LEN);
		ck_assert_int_eq(memcmp(dst + m, src + m, BIG_LEN), 0);
		ops->zero(dev + d + 1, BIG_LEN - 2);
		ck_assert_uint_eq(dev[d], src[m]);
		ck_assert(is_all(dev + d + 1, 0, BIG_LEN - 2));
		ck_assert_uint_eq(dev[d + BIG_LEN - 1], src[m + BIG_LEN - 1]);
	}
	free(src);
	free(dst);
	free(dev);
}
END_TEST

static sigjmp_buf bus_jmp;

static void on_sigbus(int sig)
{
	(void)sig;
	siglongjmp(bus_jmp, 1);
}

/* the device goes away in the middle of a copy */
START_TEST(copy_into_sigbus_can_be_jumped_out_of)
{
	struct sigaction sa = { .sa_handler = on_sigbus }, old;
	const struct copy_ops *ops = ops_of(_i);
	static uint8_t mem[2 * PAGE];
	uint8_t *dev;
	int fd;

	if (!ops)
		return;
	fd = memfd_create("dev", MFD_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(fd, PAGE), 0);
	dev = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ck_assert_ptr_ne(dev, MAP_FAILED);
	fill(mem, sizeof(mem));
	ck_assert_int_eq(sigaction(SIGBUS, &sa, &old), 0);
	if (!sigsetjmp(bus_jmp, 1)) {
		ops->to_dev(dev + 3, mem, sizeof(mem) - 3);
		ck_abort_msg("%s: no SIGBUS", ops->name);
	}
	if (!sigsetjmp(bus_jmp, 1)) {
		ops->from_dev(mem, dev + 3, sizeof(mem) - 3);
		ck_abort_msg("%s: no SIGBUS", ops->name);
	}
	/* and the next copy works */
	fill(mem, sizeof(mem));
	ops->to_dev(dev, mem, PAGE);
	ck_assert_int_eq(memcmp(dev, mem, PAGE), 0);
	ck_assert_int_eq(sigaction(SIGBUS, &old, NULL), 0);
	munmap(dev, 2 * PAGE);
	close(fd);
}
END_TEST

#ifdef __x86_64__
/*
 * Each device access faults on a closed page, is noted, and is let through for
 * one instruction by the trap flag.
 */
#define TRAP_FLAG 0x100

static struct {
	uint8_t *page;
	size_t n;
	uint16_t off[PAGE];
} trace;

static void on_access(int sig, siginfo_t *si, void *uc)
{
	greg_t *flags = &((ucontext_t *)uc)->uc_mcontext.gregs[REG_EFL];
	uintptr_t off = (uintptr_t)si->si_addr - (uintptr_t)trace.page;

	if (off >= PAGE || trace.n == PAGE) {
		signal(sig, SIG_DFL);
		return;
	}
	trace.off[trace.n++] = (uint16_t)off;
	mprotect(trace.page, PAGE, PROT_READ | PROT_WRITE);
	*flags |= TRAP_FLAG;
}

static void on_step(int sig, siginfo_t *si, void *uc)
{
	(void)sig;
	(void)si;
	mprotect(trace.page, PAGE, PROT_NONE);
	((ucontext_t *)uc)->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
}

/* width in bytes of the accesses a whole line is made of */
static size_t line_width(const char *how)
{
	return strstr(how, "avx2") ? 32 : 16;
}

/* fewest naturally aligned accesses of 1..16 bytes for [off, end) */
static size_t fewest(size_t off, size_t end)
{
	size_t best[2 * LINE], size, at;

	ck_assert_uint_le(end - off, LINE);
	best[end - off] = 0;
	for (at = end; at-- > off;) {
		best[at - off] = SIZE_MAX;
		for (size = 1; size <= 16 && at + size <= end; size *= 2)
			if (at % size == 0)
				best[at - off] = MIN(best[at - off],
						     1 + best[at + size - off]);
	}
	return best[0];
}

static size_t fewest_of_range(size_t off, size_t len, size_t width)
{
	size_t first = (off + LINE - 1) / LINE * LINE;
	size_t last = (off + len) / LINE * LINE;

	if (first > last)
		return fewest(off, off + len);
	return fewest(off, first) + (last - first) / width +
	       fewest(last, off + len);
}

static void check_trace(const struct copy_ops *ops, const char *what,
			const char *how, size_t off, size_t len)
{
	size_t want = fewest_of_range(off, len, line_width(how));
	size_t i;

	ck_assert_msg(trace.n == want,
		      "%s %s: off %zu len %zu: %zu accesses, not %zu",
		      ops->name, what, off, len, trace.n, want);
	for (i = 0; i < trace.n; i++) {
		ck_assert_uint_ge(trace.off[i], off);
		ck_assert_uint_lt(trace.off[i], off + len);
		/* the compiler may reorder within a line */
		if (i)
			ck_assert_uint_ge(trace.off[i] / LINE,
					  trace.off[i - 1] / LINE);
	}
}

static void trace_shape(const struct copy_ops *ops, size_t off, size_t len)
{
	static uint8_t mem[PAGE];

	trace.n = 0;
	ops->from_dev(mem, trace.page + off, len);
	check_trace(ops, "from_dev", ops->read_name, off, len);
	trace.n = 0;
	ops->to_dev(trace.page + off, mem, len);
	check_trace(ops, "to_dev", ops->write_name, off, len);
	trace.n = 0;
	ops->zero(trace.page + off, len);
	check_trace(ops, "zero", ops->write_name, off, len);
}

START_TEST(wc_copy_makes_fewest_accesses_in_order)
{
	struct sigaction segv = { .sa_flags = SA_SIGINFO };
	struct sigaction trap = { .sa_flags = SA_SIGINFO };
	static const size_t lens[] = { 0,  1,  3,  7,  15,  16, 17,
				       31, 64, 65, 79, 130, 191 };
	const struct copy_ops *ops = ops_of(_i);
	struct sigaction old_segv, old_trap;
	size_t off, i;

	if (!ops || variants[_i].mem != COPY_MEM_WC || under_valgrind())
		return;
	trace.page =
		mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(trace.page, MAP_FAILED);
	segv.sa_sigaction = on_access;
	trap.sa_sigaction = on_step;
	ck_assert_int_eq(sigaction(SIGSEGV, &segv, &old_segv), 0);
	ck_assert_int_eq(sigaction(SIGTRAP, &trap, &old_trap), 0);
	/* an access costs 50 us: every alignment up to a word, then a few */
	for (off = 0; off <= LINE; off += off < 17 ? 1 : 5)
		for (i = 0; i < ARRAY_SIZE(lens); i++)
			trace_shape(ops, off, lens[i]);
	ck_assert_int_eq(sigaction(SIGSEGV, &old_segv, NULL), 0);
	ck_assert_int_eq(sigaction(SIGTRAP, &old_trap, NULL), 0);
	munmap(trace.page, PAGE);
}
END_TEST
#endif

START_TEST(select_returns_first_usable_row_of_that_memory)
{
	enum copy_mem mem = _i ? COPY_MEM_WB : COPY_MEM_WC;
	const struct copy_ops *ops = copy_select(mem);
	size_t i;

	for (i = 0; i < n_variants; i++)
		if (variants[i].mem == mem && variants[i].is_usable())
			break;
	ck_assert_uint_lt(i, n_variants);
	ck_assert_ptr_eq(ops, &variants[i].ops);
	ck_assert_ptr_eq(copy_select(mem), ops);
	ops->fence();
}
END_TEST

START_TEST(variant_names_are_unique)
{
	size_t i, j;

	for (i = 0; i < n_variants; i++)
		for (j = 0; j < i; j++)
			ck_assert_str_ne(variants[i].ops.name,
					 variants[j].ops.name);
}
END_TEST

Suite *copy_suite(void)
{
	Suite *s = suite_create("copy");
	TCase *shape = tcase_create("shape");
	TCase *table = tcase_create("table");
	int rows;

	setup();
	rows = (int)n_variants;
	tcase_set_timeout(shape, 120);
	tcase_add_checked_fixture(shape, setup, NULL);
	tcase_add_loop_test(shape, read_of_any_shape_matches_byte_loop, 0, rows);
	tcase_add_loop_test(shape, write_of_any_shape_matches_byte_loop, 0, rows);
	tcase_add_loop_test(shape, zero_of_any_shape_matches_byte_loop, 0, rows);
	tcase_add_loop_test(shape, copy_beside_guard_pages_does_not_fault, 0,
			    rows);
	tcase_add_loop_test(shape, copy_of_megabytes_round_trips, 0, rows);
	tcase_add_loop_test(shape, copy_into_sigbus_can_be_jumped_out_of, 0,
			    rows);
#ifdef __x86_64__
	tcase_add_loop_test(shape, wc_copy_makes_fewest_accesses_in_order, 0,
			    rows);
#endif
	suite_add_tcase(s, shape);

	tcase_add_checked_fixture(table, setup, NULL);
	tcase_add_loop_test(
		table, select_returns_first_usable_row_of_that_memory, 0, 2);
	tcase_add_test(table, variant_names_are_unique);
	suite_add_tcase(s, table);
	return s;
}
