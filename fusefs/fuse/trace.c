/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fuse/trace.h"

#include <errno.h>
#include <stdlib.h>

#include "base/trace.h"
#include "fuse/fs.h"
#include "text/trace.h"

int fs_trace_snapshot(struct fs *fs, struct fs_file *f)
{
	struct trace_span *spans = malloc((TRACE_LEN + 1) * sizeof(*spans));
	char *text = malloc(TRACE_TEXT_MAX), *fitting;
	size_t len = 0;

	if (spans && text)
		len = trace_text(spans, trace_copy(spans), fs->be.n_dies, text);
	free(spans);
	if (!len) {
		free(text);
		return -ENOMEM;
	}
	fitting = realloc(text, len);
	f->text = fitting ? fitting : text;
	f->text_len = len;
	return 0;
}
