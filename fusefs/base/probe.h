/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Probes for bpftrace, perf and SystemTap (USDT): an instruction that does
 * nothing until somebody looks. Built without <sys/sdt.h> there are none.
 */
#ifndef K80FS_PROBE_H
#define K80FS_PROBE_H

#include "base/trace.h"

#ifdef __has_include
#if __has_include(<sys/sdt.h>)
#define PROBE_HAS_SDT
#endif
#endif

/* k80fs:NAME, with the four arguments that all of them have: die, process id,
 * bytes, and nanoseconds that it took */
#ifdef PROBE_HAS_SDT
#include <sys/sdt.h>
#define PROBE(name, span)                                                   \
	DTRACE_PROBE4(k80fs, name, (span)->die, (span)->pid, (span)->bytes, \
		      (span)->end - (span)->start)
#else
#define PROBE(name, span) ((void)(span))
#endif

/** probe_span() - the probe of its kind; @span is over */
static inline void probe_span(const struct trace_span *span)
{
	switch (span->kind) {
	case TRACE_SLOT:
		PROBE(slot, span);
		break;
	case TRACE_SWAP:
		PROBE(swap, span);
		break;
	case TRACE_HOLD:
		PROBE(hold, span);
		break;
	case TRACE_WAIT:
		PROBE(wait, span);
		break;
	case TRACE_READ:
		PROBE(read, span);
		break;
	case TRACE_WRITE:
		PROBE(write, span);
		break;
	case TRACE_ZERO:
		PROBE(zero, span);
		break;
	case TRACE_N_KINDS:
		break;
	}
}

#endif /* K80FS_PROBE_H */
