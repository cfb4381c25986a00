/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a die is in, what it says.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/util.h"
#include "owner/priv.h"

int owner_enter(struct owner *o, unsigned int die)
{
	const struct owner_window *w = &o->cfg.window;

	return w->enter ? w->enter(w->arg, die) : 0;
}

void owner_leave(struct owner *o, unsigned int die)
{
	const struct owner_window *w = &o->cfg.window;

	if (w->enter)
		w->leave(w->arg, die);
}

static void __attribute__((format(printf, 4, 0)))
say(struct owner *o, unsigned int die, bool is_error, const char *fmt, va_list ap)
{
	struct owner_die *d = &o->dies[die];
	char line[OWNER_LINE_LEN];

	vsnprintf(line, sizeof(line), fmt, ap);
	if (is_error) {
		pthread_mutex_lock(&d->lock);
		strcpy(d->view.error, line);
		pthread_mutex_unlock(&d->lock);
	}
	if (o->cfg.log)
		o->cfg.log(o->cfg.log_arg, die, line);
}

void owner_say(struct owner *o, unsigned int die, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(o, die, false, fmt, ap);
	va_end(ap);
}

void owner_blame(struct owner *o, unsigned int die, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(o, die, true, fmt, ap);
	va_end(ap);
}

enum owner_state owner_state(struct owner_die *d)
{
	enum owner_state state;

	pthread_mutex_lock(&d->lock);
	state = d->view.state;
	pthread_mutex_unlock(&d->lock);
	return state;
}

void owner_set_state(struct owner_die *d, enum owner_state state)
{
	pthread_mutex_lock(&d->lock);
	d->view.state = state;
	pthread_mutex_unlock(&d->lock);
}

/* The GPU writes it behind the compiler's back. */
__attribute__((no_sanitize("thread"))) static bool
is_marked_locked(const struct owner_die *d)
{
	const volatile struct wire_shared *shared = d->shared;

	return shared && shared->done == d->mark_want;
}

bool owner_is_marked(struct owner_die *d)
{
	bool marked;

	pthread_mutex_lock(&d->lock);
	marked = is_marked_locked(d);
	pthread_mutex_unlock(&d->lock);
	return marked;
}

void owner_view(struct owner *o, unsigned int die, struct owner_view *view)
{
	struct owner_die *d = &o->dies[die];

	pthread_mutex_lock(&d->lock);
	*view = d->view;
	if (view->state == OWNER_RUNNING && is_marked_locked(d))
		view->state = OWNER_IDLE;
	pthread_mutex_unlock(&d->lock);
}

static const struct ptx_kernel *kernel_at(const struct owner_die *d,
					  unsigned int index)
{
	if (index < d->user.n)
		return &d->user.list[index];
	index -= d->user.n;
	return index < d->builtin.n ? &d->builtin.list[index] : NULL;
}

bool owner_signature(struct owner *o, unsigned int die, unsigned int index,
		     char *buf, size_t len)
{
	static const char *const names[] = {
		[PTX_OTHER] = "other", [PTX_INT32] = "i32",
		[PTX_INT64] = "i64",   [PTX_FLOAT32] = "f32",
		[PTX_FLOAT64] = "f64",
	};
	struct owner_die *d = &o->dies[die];
	const struct ptx_kernel *k;
	size_t at = 0;

	pthread_mutex_lock(&d->lock);
	k = kernel_at(d, index);
	if (k)
		at = (size_t)snprintf(buf, len, "%s", k->name);
	for (unsigned int i = 0; k && i < k->n_params && at < len; i++)
		at += (size_t)snprintf(buf + at, len - at, " %s",
				       i < PTX_MAX_PARAMS ? names[k->params[i]]
							  : "...");
	pthread_mutex_unlock(&d->lock);
	return k;
}

void owner_list(struct owner *o, unsigned int die, char *buf, size_t len)
{
	struct owner_die *d = &o->dies[die];
	const struct owner_kernels *modules[] = { &d->user, &d->builtin };
	size_t at = 0;

	*buf = '\0';
	pthread_mutex_lock(&d->lock);
	for (size_t m = 0; m < ARRAY_SIZE(modules); m++) {
		for (unsigned int i = 0; i < modules[m]->n; i++) {
			const char *name = modules[m]->list[i].name;

			if (at + strlen(name) + 2 > len)
				break;
			at += (size_t)sprintf(buf + at, "%s%s", at ? " " : "",
					      name);
		}
	}
	pthread_mutex_unlock(&d->lock);
}
