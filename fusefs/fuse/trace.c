/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fuse/trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/trace.h"
#include "base/util.h"
#include "fuse/fs.h"
#include "text/trace.h"

static size_t len_of(size_t n)
{
	return TRACE_TEXT_LEN(MIN(n, (size_t)TRACE_LEN));
}

uint64_t fs_trace_len(void)
{
	return len_of(trace_count());
}

int fs_trace_snapshot(struct fs *fs, struct fs_file *f)
{
	struct trace_span *spans = malloc((TRACE_LEN + 1) * sizeof(*spans));
	size_t n, size, len = 0;

	if (!spans)
		return -ENOMEM;
	n = trace_copy(spans);
	size = len_of(n);
	f->text = malloc(size);
	if (f->text)
		len = trace_text(spans, n, fs->be.n_dies, f->text);
	free(spans);
	if (!len)
		return -ENOMEM;
	memset(f->text + len, ' ', size - len);
	f->text[size - 1] = '\n';
	f->text_len = size;
	return 0;
}
