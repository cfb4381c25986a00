/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "copy/guard.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>

/* Where this thread's guarded copy runs; len 0 outside of one. */
static __thread struct {
	sigjmp_buf env;
	volatile uintptr_t start;
	volatile size_t len;
} guard;

/* Whose handler ours took the place of; written before the first copy. */
static struct sigaction before;

/* A SIGBUS that is none of ours goes where it would have gone without us. */
static void pass_on(int sig, siginfo_t *si, void *uc)
{
	if (before.sa_flags & SA_SIGINFO)
		before.sa_sigaction(sig, si, uc);
	else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
		before.sa_handler(sig);
	else
		/* the faulting instruction runs again and ends the process */
		signal(sig, SIG_DFL);
}

static void on_sigbus(int sig, siginfo_t *si, void *uc)
{
	uintptr_t addr = (uintptr_t)si->si_addr;
	const ucontext_t *interrupted = uc;

	if (guard.len && addr - guard.start < guard.len) {
		/* the jump does not restore a mask that was never saved */
		pthread_sigmask(SIG_SETMASK, &interrupted->uc_sigmask, NULL);
		siglongjmp(guard.env, 1);
	}
	pass_on(sig, si, uc);
}

int guard_init(void)
{
	struct sigaction sa = {
		.sa_sigaction = on_sigbus,
		.sa_flags = SA_SIGINFO | SA_ONSTACK,
	};
	struct sigaction now;

	if (sigaction(SIGBUS, NULL, &now))
		return -errno;
	if (now.sa_flags & SA_SIGINFO && now.sa_sigaction == on_sigbus)
		return 0;
	before = now;
	sigemptyset(&sa.sa_mask);
	return sigaction(SIGBUS, &sa, NULL) ? -errno : 0;
}

int guard_copy(guard_fn fn, void *dst, const void *src, size_t len,
	       const void *dev)
{
	if (sigsetjmp(guard.env, 0)) {
		guard.len = 0;
		return -EIO;
	}
	guard.start = (uintptr_t)dev;
	guard.len = len;
	atomic_signal_fence(memory_order_seq_cst);
	fn(dst, src, len);
	atomic_signal_fence(memory_order_seq_cst);
	guard.len = 0;
	return 0;
}
