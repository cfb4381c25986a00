// SPDX-License-Identifier: GPL-2.0-or-later
/* Loaded before the daemon: what the kernel forgets, it learns late. */
#define _FILE_OFFSET_BITS 64
#define FUSE_USE_VERSION  35

#include <dlfcn.h>
#include <fuse3/fuse_lowlevel.h>
#include <linux/fuse.h>
#include <unistd.h>

#define LATE_US 100000

void fuse_session_process_buf(struct fuse_session *se, const struct fuse_buf *buf)
{
	static void (*next)(struct fuse_session * se, const struct fuse_buf *buf);
	const struct fuse_in_header *in = buf->mem;

	if (in->opcode == FUSE_FORGET || in->opcode == FUSE_BATCH_FORGET)
		usleep(LATE_US);
	if (!next)
		next = (void (*)(struct fuse_session *, const struct fuse_buf *))
			dlsym(RTLD_NEXT, "fuse_session_process_buf");
	next(se, buf);
}
