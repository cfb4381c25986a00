// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Loaded before the daemon: the first time that somebody looks for a name it
 * makes the file that SLOW_LOOK names, and never answers.
 */
#define _FILE_OFFSET_BITS 64
#define FUSE_USE_VERSION  35

#include <dlfcn.h>
#include <fcntl.h>
#include <fuse3/fuse_lowlevel.h>
#include <linux/fuse.h>
#include <stdlib.h>
#include <unistd.h>

void fuse_session_process_buf(struct fuse_session *se, const struct fuse_buf *buf)
{
	static void (*next)(struct fuse_session * se, const struct fuse_buf *buf);
	const struct fuse_in_header *in = buf->mem;

	if (in->opcode == FUSE_LOOKUP) {
		close(open(getenv("SLOW_LOOK"), O_CREAT | O_WRONLY, 0600));
		for (;;)
			pause();
	}
	if (!next)
		next = (void (*)(struct fuse_session *, const struct fuse_buf *))
			dlsym(RTLD_NEXT, "fuse_session_process_buf");
	next(se, buf);
}
