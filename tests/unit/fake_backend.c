// SPDX-License-Identifier: GPL-2.0-or-later
#include "fake_backend.h"

#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include "base/util.h"
#include "mock_clock.h"

/* of all that a reset makes undefined; enough to be seen */
#define LOST_BYTES ((size_t)64 << 10)

struct gate {
	bool is_closed;
	unsigned int n_held;
	unsigned int tickets; /* calls that may pass although it is closed */
};

struct fake_die {
	unsigned char *mem;
	unsigned int copies; /* under way */
	unsigned int calls[FAKE_N_CALLS];
	unsigned int failures[FAKE_N_CALLS]; /* still to come */
	int error[FAKE_N_CALLS];
	int state; /* -1: active or idle */
	struct bs_info info;
};

static struct {
	pthread_mutex_t lock; /* guards all below */
	pthread_cond_t opened;
	unsigned int n_dies;
	size_t bytes;
	int bound;
	bool is_binding;
	unsigned int bind_flags;
	uint64_t cost;
	unsigned int waiters;
	const char *complaint;
	struct gate gates[FAKE_N_CALLS];
	struct fake_die dies[BACKEND_MAX_DIES];
} fake = { .lock = PTHREAD_MUTEX_INITIALIZER, .opened = PTHREAD_COND_INITIALIZER };

static void take(void)
{
	pthread_mutex_lock(&fake.lock);
}

static void drop(void)
{
	pthread_mutex_unlock(&fake.lock);
}

static void complain_locked(const char *what)
{
	if (!fake.complaint)
		fake.complaint = what;
}

/* Counts the call, stops at the gate. Returns what it is to fail with. */
static int enter_locked(enum fake_call call, unsigned int die)
{
	struct fake_die *d = &fake.dies[die];
	struct gate *gate = &fake.gates[call];

	d->calls[call]++;
	gate->n_held++;
	while (gate->is_closed && !gate->tickets)
		pthread_cond_wait(&fake.opened, &fake.lock);
	if (gate->tickets)
		gate->tickets--;
	gate->n_held--;
	if (!d->failures[call])
		return 0;
	d->failures[call]--;
	return d->error[call];
}

static int op_open(struct backend *be, const char *device)
{
	(void)be;
	(void)device;
	return 0;
}

static void op_close(struct backend *be)
{
	(void)be;
}

static void slot_enter_locked(void)
{
	if (fake.is_binding)
		complain_locked("two calls that program the slot at once");
	fake.is_binding = true;
	for (unsigned int die = 0; die < fake.n_dies; die++)
		if (fake.dies[die].copies)
			complain_locked("the slot is programmed under a copy");
}

static void lose_locked(unsigned int die)
{
	fake.dies[die].info.generation++;
	memset(fake.dies[die].mem, FAKE_SCRAP, MIN(fake.bytes, LOST_BYTES));
}

static int op_bind(struct backend *be, unsigned int die, unsigned int flags)
{
	struct bs_info *info = &fake.dies[die].info;
	int ret;

	take();
	slot_enter_locked();
	fake.bind_flags = flags;
	ret = enter_locked(FAKE_BIND, die);
	if (ret) {
		if (ret != -EAGAIN)
			fake.bound = -1;
		goto out;
	}
	if (flags & BS_FORCE_SBR) {
		lose_locked(die);
		info->resets++;
	}
	info->acquires++;
	be->dies[die].acquires++;
	if (fake.bound != (int)die || flags) {
		if (fake.bound >= 0)
			fake.dies[fake.bound].info.swaps_out++;
		info->swaps_in++;
		mock_clock_advance(fake.cost);
	}
	fake.bound = (int)die;
out:
	fake.is_binding = false;
	drop();
	return ret;
}

static int op_unbind(struct backend *be, unsigned int die)
{
	int ret;

	(void)be;
	take();
	slot_enter_locked();
	ret = enter_locked(FAKE_UNBIND, die);
	if (!ret && fake.bound == (int)die) {
		fake.dies[die].info.swaps_out++;
		fake.bound = -1;
	}
	fake.is_binding = false;
	drop();
	return ret;
}

static void op_rest(struct backend *be, unsigned int die)
{
	(void)be;
	take();
	slot_enter_locked();
	enter_locked(FAKE_REST, die);
	fake.is_binding = false;
	drop();
}

/* A copy starts: the die must be in, and stays in until copy_end(). */
static int copy_begin(enum fake_call call, unsigned int die)
{
	int ret;

	take();
	if (fake.bound != (int)die || fake.is_binding)
		complain_locked("a copy on a die that is not bound");
	fake.dies[die].copies++;
	ret = enter_locked(call, die);
	if (!fake.dies[die].info.alive)
		ret = -EIO;
	drop();
	return ret;
}

static int copy_end(unsigned int die, int ret)
{
	take();
	if (fake.bound != (int)die)
		complain_locked("the die left under a copy");
	fake.dies[die].copies--;
	drop();
	return ret;
}

static int op_read(struct backend *be, unsigned int die, uint64_t off,
		   void *buf, size_t len)
{
	int ret = copy_begin(FAKE_READ, die);

	(void)be;
	if (!ret)
		memcpy(buf, fake.dies[die].mem + off, len);
	return copy_end(die, ret);
}

static int op_write(struct backend *be, unsigned int die, uint64_t off,
		    const void *buf, size_t len)
{
	int ret = copy_begin(FAKE_WRITE, die);

	(void)be;
	if (!ret)
		memcpy(fake.dies[die].mem + off, buf, len);
	return copy_end(die, ret);
}

static int op_zero(struct backend *be, unsigned int die, uint64_t off,
		   uint64_t len)
{
	int ret = copy_begin(FAKE_ZERO, die);

	(void)be;
	if (!ret)
		memset(fake.dies[die].mem + off, 0, len);
	return copy_end(die, ret);
}

static int op_sync(struct backend *be, unsigned int die)
{
	(void)be;
	return copy_end(die, copy_begin(FAKE_SYNC, die));
}

static int op_info(struct backend *be, unsigned int die, struct bs_info *info)
{
	(void)be;
	take();
	*info = fake.dies[die].info;
	info->waiters = fake.waiters;
	info->state = fake.bound == (int)die ? BS_STATE_ACTIVE : BS_STATE_IDLE;
	if (!info->alive)
		info->state = BS_STATE_DEAD;
	if (fake.dies[die].state >= 0)
		info->state = fake.dies[die].state;
	drop();
	return 0;
}

static int op_poll_fd(struct backend *be)
{
	(void)be;
	return -1;
}

static const struct backend_ops fake_ops = {
	.name = "fake",
	.has_slot = true,
	.open = op_open,
	.close = op_close,
	.bind = op_bind,
	.unbind = op_unbind,
	.rest = op_rest,
	.read = op_read,
	.write = op_write,
	.zero = op_zero,
	.sync = op_sync,
	.info = op_info,
	.poll_fd = op_poll_fd,
	.poll_ack = op_close,
};

void fake_open(struct backend *be, unsigned int n_dies, size_t bytes)
{
	memset(be, 0, sizeof(*be));
	be->ops = &fake_ops;
	be->n_dies = n_dies;
	take();
	memset(fake.gates, 0, sizeof(fake.gates));
	memset(fake.dies, 0, sizeof(fake.dies));
	fake.n_dies = n_dies;
	fake.bytes = bytes;
	fake.bound = -1;
	fake.is_binding = false;
	fake.bind_flags = 0;
	fake.cost = 0;
	fake.waiters = 0;
	fake.complaint = NULL;
	for (unsigned int die = 0; die < n_dies; die++) {
		fake.dies[die].mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
					  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		ck_assert_ptr_ne(fake.dies[die].mem, MAP_FAILED);
		fake.dies[die].state = -1;
		fake.dies[die].info.alive = 1;
		fake.dies[die].info.bar1_mode = BS_MODE_PHYSICAL;
		fake.dies[die].info.vram_bytes = bytes;
		be->dies[die].len = be->dies[die].vram_bytes = bytes;
		be->dies[die].space = bytes;
	}
	drop();
}

void fake_close(void)
{
	for (unsigned int call = 0; call < FAKE_N_CALLS; call++)
		fake_let_go(call);
	for (unsigned int die = 0; die < fake.n_dies; die++)
		munmap(fake.dies[die].mem, fake.bytes);
	fake.n_dies = 0;
}

unsigned char *fake_mem(unsigned int die)
{
	return fake.dies[die].mem;
}

void fake_hold(enum fake_call call)
{
	take();
	fake.gates[call].is_closed = true;
	drop();
}

void fake_let_go(enum fake_call call)
{
	take();
	fake.gates[call].is_closed = false;
	pthread_cond_broadcast(&fake.opened);
	drop();
}

void fake_let_one_go(enum fake_call call)
{
	take();
	fake.gates[call].tickets++;
	pthread_cond_broadcast(&fake.opened);
	drop();
}

unsigned int fake_n_held(enum fake_call call)
{
	unsigned int n;

	take();
	n = fake.gates[call].is_closed ? fake.gates[call].n_held : 0;
	drop();
	return n;
}

void fake_fail(enum fake_call call, unsigned int die, int error, unsigned int n)
{
	take();
	fake.dies[die].error[call] = error;
	fake.dies[die].failures[call] = n;
	drop();
}

unsigned int fake_count(enum fake_call call, int die)
{
	unsigned int n = 0;

	take();
	for (unsigned int i = 0; i < fake.n_dies; i++)
		if (die == FAKE_ANY_DIE || die == (int)i)
			n += fake.dies[i].calls[call];
	drop();
	return n;
}

unsigned int fake_bind_flags(void)
{
	unsigned int flags;

	take();
	flags = fake.bind_flags;
	drop();
	return flags;
}

int fake_bound(void)
{
	int die;

	take();
	die = fake.bound;
	drop();
	return die;
}

void fake_set_cost(uint64_t ns)
{
	take();
	fake.cost = ns;
	drop();
}

void fake_reset(unsigned int die)
{
	take();
	lose_locked(die);
	drop();
}

void fake_set_alive(unsigned int die, int alive)
{
	take();
	fake.dies[die].info.alive = alive;
	drop();
}

void fake_set_driver(unsigned int die, const char *name)
{
	take();
	strcpy(fake.dies[die].info.driver, name);
	drop();
}

void fake_set_mode(unsigned int die, int mode)
{
	take();
	fake.dies[die].info.bar1_mode = mode;
	drop();
}

void fake_set_state(unsigned int die, int state)
{
	take();
	fake.dies[die].state = state;
	drop();
}

void fake_set_waiters(unsigned int n)
{
	take();
	fake.waiters = n;
	drop();
}

const char *fake_complaint(void)
{
	const char *complaint;

	take();
	complaint = fake.complaint;
	drop();
	return complaint;
}

void fake_acquire_elsewhere(unsigned int die)
{
	take();
	fake.dies[die].info.acquires++;
	drop();
}
