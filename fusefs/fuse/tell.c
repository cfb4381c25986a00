/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fuse/tell.h"

#include <stdio.h>
#include <string.h>

#include "base/notify.h"
#include "base/util.h"
#include "fuse/fs.h"

struct summary {
	unsigned int n_dead, n_unusable, n_no_vram;
	char held[64]; /* one of those that are, or "" */
};

static void look(struct fs *fs, unsigned int die, struct summary *s)
{
	struct sched_view view;
	struct bs_info info;

	if (backend_info(&fs->be, die, &info))
		info.state = BS_STATE_DEAD;
	s->n_dead += info.state == BS_STATE_DEAD;
	s->n_unusable += info.state == BS_STATE_UNUSABLE;
	s->n_no_vram += info.state == BS_STATE_NO_VRAM;
	sched_view(fs->io.sched, die, &view);
	if (strcmp(view.hold, "none"))
		snprintf(s->held, sizeof(s->held), ", %s of die %u by %.30s",
			 view.hold, die, view.holder);
}

static void add(char *text, size_t size, unsigned int n, const char *what)
{
	size_t len = strlen(text);

	if (n)
		snprintf(text + len, size - len, ", %u %s", n, what);
}

static void tell(struct fs *fs, enum notify_state state)
{
	struct summary s = { 0 };
	char text[128] = "";

	if (!notify_is_on())
		return;
	for (unsigned int die = 0; die < fs->be.n_dies; die++)
		look(fs, die, &s);
	add(text, sizeof(text), s.n_dead, "dead");
	add(text, sizeof(text), s.n_unusable, "unusable");
	add(text, sizeof(text), s.n_no_vram, "without memory");
	notify(state, "%u dies of %s%s%s", fs->be.n_dies, fs->be.ops->name,
	       text, s.held);
}

void fs_tell_ready(struct fs *fs)
{
	tell(fs, NOTIFY_READY);
}

void fs_tell_changed(struct fs *fs)
{
	tell(fs, NOTIFY_RUNNING);
}

void fs_tell_ending(struct fs *fs)
{
	unsigned int n_open = fs->n_open;

	if (n_open)
		notify(NOTIFY_STOPPING,
		       "let go, and served until no file is open: %u are",
		       n_open);
	else
		notify(NOTIFY_STOPPING, "waits until what was written is there");
}

void fs_tell_ended(bool is_whole)
{
	notify(NOTIFY_STOPPING,
	       is_whole ? "ended: all that was written has reached its die"
			: "ended: some of what was written is lost, see the log");
}
