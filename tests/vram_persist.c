// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * vram_persist [--reload] [die]: does what is in VRAM survive while the die is
 * out?
 *
 * Fills blocks all over the memory of a die, releases it, uses every other
 * die, and looks. Then, where there is CUDA, the same with a context's buffer:
 * on the module's dies the vendor's driver is loaded and bound for that, and
 * taken away again. Where that cannot be tried a line says so. With --reload,
 * on the module's dies and as root, the blocks are written once more, the driver
 * comes, opens the device once and goes, and we look again: blocks that it used
 * itself are wrong then and say so. The device is $BARSWAP_DEVICE or the module's
 * node. Overwrites VRAM of all dies. Exit code: 0 PASS, 1 FAIL, 2 could not try.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "lib/barswap.h"
#include "owner/bind.h"
#include "owner/minor.h"
#include "owner/owner.h"

#define BLOCK          MIB
#define WORDS          (BLOCK / sizeof(uint64_t))
#define OFFS_MAX       16
#define PERSIST_ERRORS 8 /* wrong words that are printed */

enum { PASS, FAIL, NOT_TRIED };

/* Where blocks are put: @n distinct ones, ascending. */
struct places {
	uint64_t off[OFFS_MAX];
	unsigned int n;
};

static void add_place(struct places *places, uint64_t off, uint64_t size)
{
	uint64_t end = places->n ? places->off[places->n - 1] + BLOCK : 0;

	if (off >= end && off + BLOCK <= size)
		places->off[places->n++] = off;
}

/* Start, both sides of every 4 GiB boundary, middle and end where distinct. */
static void find_places(struct places *places, uint64_t size)
{
	places->n = 0;
	add_place(places, 0, size);
	if (size < 8 * GIB)
		add_place(places, size / 2 / BLOCK * BLOCK, size);
	/* room for two of a boundary and the one at the end */
	for (uint64_t boundary = 4 * GIB;
	     boundary < size && places->n + 3 <= OFFS_MAX; boundary += 4 * GIB) {
		add_place(places, boundary - BLOCK, size);
		add_place(places, boundary, size);
	}
	add_place(places, size - BLOCK, size);
}

/* Differs for each die, each offset and each word (splitmix64). */
static uint64_t pattern(int die, uint64_t off)
{
	uint64_t x = off + ((uint64_t)die << 56) + 0x9e3779b97f4a7c15ULL;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return x ^ (x >> 31);
}

/* Printed by the handler of SIGBUS: the memory went away under a copy. */
static void on_sigbus(int sig)
{
	static const char text[] = "FAIL: SIGBUS: the die left the slot\n";

	(void)sig;
	if (write(STDOUT_FILENO, text, sizeof(text) - 1) < 0)
		_exit(NOT_TRIED);
	_exit(FAIL);
}

static bs_gpu *acquire(bs_context *ctx, int die)
{
	struct bs_info info;
	bs_gpu *gpu = bs_acquire(ctx, die);

	if (!gpu) {
		printf("acquire die %d: %s\n", die, strerror(errno));
		if (!bs_die_info(ctx, die, &info) && *info.last_error)
			printf("%s\n", info.last_error);
		return NULL;
	}
	if (gpu->vram && gpu->vram_mapped_size >= BLOCK)
		return gpu;
	printf("die %d: no memory to map\n", die);
	bs_release(ctx, gpu);
	return NULL;
}

static bool is_alive(bs_context *ctx, int die)
{
	struct bs_health health;

	if (!bs_check(ctx, die, &health) && health.alive)
		return true;
	printf("FAIL: die %d does not answer\n", die);
	return false;
}

static int write_die(bs_context *ctx, int die)
{
	static uint64_t block[WORDS];
	struct places places;
	bs_gpu *gpu = acquire(ctx, die);
	bool alive;

	if (!gpu)
		return NOT_TRIED;
	find_places(&places, gpu->vram_mapped_size);
	for (unsigned int i = 0; i < places.n; i++) {
		for (uint64_t w = 0; w < WORDS; w++)
			block[w] = pattern(die, places.off[i] + w * 8);
		memcpy((char *)gpu->vram + places.off[i], block, BLOCK);
	}
	alive = is_alive(ctx, die);
	bs_release(ctx, gpu);
	return alive ? PASS : FAIL;
}

static unsigned int count_wrong(int die, uint64_t off, const uint64_t *block)
{
	unsigned int wrong = 0;

	for (uint64_t w = 0; w < WORDS; w++) {
		uint64_t want = pattern(die, off + w * 8);

		if (block[w] == want)
			continue;
		if (wrong++ < PERSIST_ERRORS)
			printf("die %d offset %#llx: %016llx, not %016llx\n",
			       die, (unsigned long long)(off + w * 8),
			       (unsigned long long)block[w],
			       (unsigned long long)want);
	}
	return wrong;
}

static int verify_die(bs_context *ctx, int die)
{
	static uint64_t block[WORDS];
	struct places places;
	bs_gpu *gpu = acquire(ctx, die);
	unsigned int n_bad = 0;
	bool alive;

	if (!gpu)
		return NOT_TRIED;
	find_places(&places, gpu->vram_mapped_size);
	for (unsigned int i = 0; i < places.n; i++) {
		uint64_t off = places.off[i];
		unsigned int wrong;

		memcpy(block, (char *)gpu->vram + off, BLOCK);
		wrong = count_wrong(die, off, block);
		printf("%s: die %d [%#llx, %#llx): %u words wrong\n",
		       wrong ? "FAIL" : "PASS", die, (unsigned long long)off,
		       (unsigned long long)(off + BLOCK), wrong);
		n_bad += wrong != 0;
	}
	alive = is_alive(ctx, die);
	bs_release(ctx, gpu);
	return alive && !n_bad ? PASS : FAIL;
}

static int persist(bs_context *ctx, int die)
{
	int ret = write_die(ctx, die);

	for (int other = 0; !ret && other < (int)bs_num_dies(ctx); other++) {
		if (other != die)
			ret = write_die(ctx, other);
	}
	return ret ? ret : verify_die(ctx, die);
}

/* ---- with the vendor's driver ---------------------------------------------- */

static char bdf[OWNER_MAX_DIES][16];

static int enter(void *arg, unsigned int die)
{
	bs_context *ctx = arg;
	int ret = bs_acquire_flags(ctx, (int)die, BS_LEASE, NULL);

	/* the driver is bound to it, or to the one that is in */
	if (ret == -EBUSY)
		ret = bs_acquire_flags(ctx, (int)die, BS_LEASE | BS_FORCE, NULL);
	return ret;
}

static void leave(void *arg, unsigned int die)
{
	bs_unlease(arg, (int)die);
}

static void on_log(void *arg, unsigned int die, const char *line)
{
	(void)arg;
	printf("die %u: %s\n", die, line);
}

static int put_others_in(bs_context *ctx, int die)
{
	int ret = 0;

	for (int other = 0; !ret && other < (int)bs_num_dies(ctx); other++) {
		if (other == die)
			continue;
		ret = enter(ctx, (unsigned int)other);
		if (!ret)
			leave(ctx, (unsigned int)other);
	}
	return ret;
}

/* Through the context, whose memory lies where the driver put it. */
static int persist_buffer(bs_context *ctx, struct owner *owner, int die)
{
	static uint64_t block[WORDS];
	unsigned int wrong;
	int ret;

	for (uint64_t w = 0; w < WORDS; w++)
		block[w] = pattern(die, w * 8);
	ret = owner_write(owner, (unsigned int)die, OWNER_IN, 0, block, BLOCK);
	if (!ret)
		ret = bs_release_flags(ctx, die, BS_FORCE);
	if (!ret)
		ret = put_others_in(ctx, die);
	memset(block, 0, sizeof(block));
	if (!ret)
		ret = owner_read(owner, (unsigned int)die, OWNER_IN, 0, block,
				 BLOCK);
	if (ret) {
		printf("FAIL: die %d, a context's buffer: %s\n", die,
		       strerror(-ret));
		return FAIL;
	}
	wrong = count_wrong(die, 0, block);
	printf("%s: die %d, a context's buffer: %u words wrong\n",
	       wrong ? "FAIL" : "PASS", die, wrong);
	return wrong ? FAIL : PASS;
}

/* @must: not to have tried it is not to have passed */
static int persist_context(bs_context *ctx, int die, const char *device, bool must)
{
	struct owner_config cfg = {
		.n_dies = MIN(bs_num_dies(ctx), (uint32_t)OWNER_MAX_DIES),
		.node = bs_lease_fd(ctx) < 0 ? NULL : device,
		.bdf = (const char(*)[16])bdf,
		.lease_fd = bs_lease_fd(ctx),
		.window = { enter, leave, ctx },
		.log = on_log,
	};
	struct owner *owner;
	int ret, after;

	ret = owner_open(&owner, &cfg);
	if (!ret) {
		ret = owner_online(owner, (unsigned int)die);
		if (ret)
			printf("die %d, a context's buffer: not tried: %s\n",
			       die, strerror(-ret));
		else
			ret = persist_buffer(ctx, owner, die);
		after = owner_offline(owner, (unsigned int)die);
		after = owner_free(owner) || after;
		if (after)
			printf("FAIL: die %d: its worker did not end in order\n",
			       die);
		if (after)
			ret = FAIL;
	}
	/* memory alone can be tried where there is no CUDA, or no driver */
	if (ret < 0)
		return must ? NOT_TRIED : PASS;
	return ret;
}

static void on_step(void *arg, unsigned int die, const char *line)
{
	on_log(arg, die, line);
}

static struct bind *open_bind(bs_context *ctx)
{
	const struct bind_env env = {
		.sysfs = "/sys",
		.gpus = MINOR_GPUS,
		.dev = "/dev",
		.modprobe = "modprobe",
		.rmmod = "rmmod",
		.n_dies = bs_num_dies(ctx),
		.bdf = (const char(*)[16])bdf,
		.step = on_step,
	};
	struct bind *b = NULL;

	return bind_open(&b, &env) ? NULL : b;
}

/* The vendor's driver comes and goes; both need the die in the slot. */
static int reload(bs_context *ctx, struct bind *b, int die)
{
	char why[512] = "";
	int ret, after;

	if (write_die(ctx, die))
		return NOT_TRIED;
	ret = enter(ctx, (unsigned int)die);
	if (ret) {
		printf("acquire die %d: %s\n", die, strerror(-ret));
		return NOT_TRIED;
	}
	ret = bind_take(b, (unsigned int)die, why, sizeof(why));
	if (!ret)
		ret = bind_open_node(b, (unsigned int)die, why, sizeof(why));
	if (ret)
		printf("%s\n", why);
	after = bind_give(b, (unsigned int)die, why, sizeof(why));
	if (!after)
		after = bind_unload(b, why, sizeof(why));
	leave(ctx, (unsigned int)die);
	if (after)
		printf("%s\n", why);
	return ret || after ? NOT_TRIED : verify_die(ctx, die);
}

/* The driver was not there, or its modules are not ours to unload. */
static int with_driver(bs_context *ctx, int die, bool with_reload,
		       const char *device)
{
	char modules[256] = "", why[512];
	struct bind *b = NULL;
	struct bs_info info;
	int ret;

	for (unsigned int i = 0; i < MIN(bs_num_dies(ctx), 16u); i++)
		if (!bs_die_info(ctx, (int)i, &info))
			memcpy(bdf[i], info.bdf, sizeof(bdf[i]));
	if (bs_lease_fd(ctx) >= 0) {
		b = open_bind(ctx);
		if (!b)
			return NOT_TRIED;
		bind_modules(b, modules, sizeof(modules));
	}
	ret = persist_context(ctx, die, device, with_reload);
	if (b && !*modules && bind_unload(b, why, sizeof(why))) {
		printf("%s\n", why);
		ret = ret ? ret : NOT_TRIED;
	}
	if (!ret && with_reload)
		ret = reload(ctx, b, die);
	bind_close(b);
	return ret;
}

static int parse_die(const char *text)
{
	char *end;
	long die;

	errno = 0;
	die = strtol(text, &end, 10);
	if (errno || end == text || *end || die < 0 || die > 99)
		return -1;
	return (int)die;
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = on_sigbus };
	bs_context *ctx;
	bool with_reload = argc > 1 && !strcmp(argv[1], "--reload");
	const char *which = argv[1 + with_reload];
	const char *env = getenv("BARSWAP_DEVICE");
	const char *device = env ? env : "/dev/bar_swap";
	int die = which ? parse_die(which) : 0;
	int ret;

	if (argc > 2 + with_reload || die < 0) {
		fprintf(stderr, "usage: %s [--reload] [die]\n", argv[0]);
		return NOT_TRIED;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	sigaction(SIGBUS, &action, NULL);
	ctx = bs_init();
	if (!ctx) {
		fprintf(stderr,
			"vram_persist: open %s: %s; load the module, or try a simulator with BARSWAP_DEVICE=sim:vram=1G\n",
			device, strerror(errno));
		return NOT_TRIED;
	}
	if (with_reload && strcmp(bs_device_name(ctx), "bar_swap") != 0) {
		printf("NOT TRIED: --reload needs the module and its driver\n");
		bs_free(ctx);
		return NOT_TRIED;
	}
	ret = persist(ctx, die);
	if (!ret)
		ret = with_driver(ctx, die, with_reload, device);
	printf("%s: die %d, %u dies, device %s\n",
	       ret == PASS   ? "PASS"
	       : ret == FAIL ? "FAIL"
			     : "NOT TRIED",
	       die, bs_num_dies(ctx), bs_device_name(ctx));
	bs_free(ctx);
	return ret;
}
