/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "text/lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

void lines_free(struct lines *l)
{
	free(l->kept);
	l->kept = NULL;
	l->len = 0;
}

void lines_work_free(struct lines_work *work)
{
	free(work->text);
	work->text = NULL;
}

/* What was kept and the write, in one piece. */
static int join(const struct lines *l, const char *text, size_t len,
		struct lines_work *work)
{
	const char *nl = memchr(text, '\n', len);
	size_t first = nl ? (size_t)(nl - text) + 1 : len;

	if (l->len + first > LINES_MAX)
		return -E2BIG;
	work->text = malloc(l->len + len + 1);
	if (!work->text)
		return -ENOMEM;
	if (l->len)
		memcpy(work->text, l->kept, l->len);
	memcpy(work->text + l->len, text, len);
	work->old = l->len;
	work->len = l->len + len;
	return 0;
}

int lines_add(struct lines *l, const char *text, size_t len,
	      lines_needs_fn needs, struct lines_work *work)
{
	bool is_first = !l->has_begun;
	struct lines_work w = { 0 };
	int ret = ctl_check(text, len);
	const char *nl;

	l->has_begun = true;
	if (!ret)
		ret = join(l, text, len, &w);
	lines_free(l);
	if (ret)
		return ret;
	nl = memrchr(w.text, '\n', w.len);
	if (nl)
		w.run = (size_t)(nl - w.text) + 1;
	else if (is_first && !(needs && needs(w.text, w.len)))
		w.run = w.len;
	*work = w;
	return 0;
}

int lines_keep(struct lines *l, const struct lines_work *work)
{
	size_t n = work->len - work->run;
	char *kept;

	if (!n)
		return 0;
	/* another write of this open file may have come first */
	if (l->len + n > LINES_MAX)
		return -E2BIG;
	kept = realloc(l->kept, l->len + n);
	if (!kept)
		return -ENOMEM;
	memcpy(kept + l->len, work->text + work->run, n);
	l->kept = kept;
	l->len += n;
	return 0;
}

long lines_answer(const struct lines_work *work, size_t done, int result)
{
	if (result && done <= work->old)
		return result;
	return (long)(done - MIN(done, work->old));
}

int lines_end(struct lines *l, lines_needs_fn needs, struct lines_work *work)
{
	struct lines_work w = { .text = l->kept, .len = l->len, .old = l->len };

	l->kept = NULL;
	l->len = 0;
	if (w.len && needs && needs(w.text, w.len)) {
		lines_work_free(&w);
		return -EINVAL;
	}
	w.run = w.len;
	*work = w;
	return 0;
}
