/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What there is, what it is in, what it says.
 */
#include "owner/owner.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "owner/priv.h"

int owner_open(struct owner **out, const struct owner_config *cfg)
{
	struct owner *o;

	if (!cfg->n_dies || cfg->n_dies > OWNER_MAX_DIES)
		return -EINVAL;
	o = calloc(1, sizeof(*o));
	if (!o)
		return -ENOMEM;
	o->cfg = *cfg;
	pthread_mutex_init(&o->lock, NULL);
	for (unsigned int die = 0; die < cfg->n_dies; die++) {
		pthread_mutex_init(&o->dies[die].lock, NULL);
		o->dies[die].view.device = -1;
		o->dies[die].view.verified = -1;
	}
	*out = o;
	return 0;
}

void owner_free(struct owner *o)
{
	struct owner_ctx *c;

	if (!o)
		return;
	while ((c = o->ctxs)) {
		o->ctxs = c->next;
		free(c);
	}
	for (unsigned int die = 0; die < o->cfg.n_dies; die++)
		pthread_mutex_destroy(&o->dies[die].lock);
	pthread_mutex_destroy(&o->lock);
	free(o);
}

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

int owner_use(struct owner *o, unsigned int die)
{
	CUresult err;
	int ret;

	ret = owner_enter(o, die);
	if (ret)
		return ret;
	err = cuda.cuCtxSetCurrent(o->dies[die].ctx->ctx);
	if (!err)
		return 0;
	ret = owner_failed(o, die, "cuCtxSetCurrent", err);
	owner_leave(o, die);
	return ret;
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

void owner_set_state(struct owner_die *d, enum owner_state state)
{
	pthread_mutex_lock(&d->lock);
	d->view.state = state;
	pthread_mutex_unlock(&d->lock);
}

/*
 * A call was refused. If nothing works any more in the context, a kernel has
 * spoilt it, and only a new context helps, or, with some drivers and errors, a
 * new process (CUDA 13, CUDA_ERROR_ILLEGAL_ADDRESS: seen).
 */
int owner_failed(struct owner *o, unsigned int die, const char *what, CUresult err)
{
	struct owner_die *d = &o->dies[die];
	CUresult now;

	owner_blame(o, die, "%s: %s", what, cuda_name(err));
	if (d->view.state == OWNER_OFFLINE)
		return cuda_errno(err);
	now = cuda.cuStreamQuery(d->stream);
	if (now == CUDA_SUCCESS || now == CUDA_ERROR_NOT_READY)
		return cuda_errno(err);
	pthread_mutex_lock(&o->lock);
	d->ctx->is_bad = true;
	pthread_mutex_unlock(&o->lock);
	owner_set_state(d, OWNER_FAILED);
	owner_blame(o, die, "%s: %s: failed; online starts it again", what,
		    cuda_name(now));
	return -EIO;
}

/* The GPU writes it behind the compiler's back. */
__attribute__((no_sanitize("thread"))) bool
owner_is_marked_locked(const struct owner_die *d)
{
	const volatile unsigned char *done = d->done;

	return done && *done == d->mark_want;
}

void owner_view(struct owner *o, unsigned int die, struct owner_view *view)
{
	struct owner_die *d = &o->dies[die];

	pthread_mutex_lock(&d->lock);
	*view = d->view;
	if (view->state == OWNER_RUNNING && owner_is_marked_locked(d))
		view->state = OWNER_IDLE;
	pthread_mutex_unlock(&d->lock);
}

void owner_list(struct owner *o, unsigned int die, char *buf, size_t len)
{
	struct owner_die *d = &o->dies[die];
	const struct owner_module *modules[] = { &d->user, &d->builtin };
	size_t at = 0;

	*buf = '\0';
	pthread_mutex_lock(&d->lock);
	for (size_t m = 0; m < ARRAY_SIZE(modules); m++) {
		for (unsigned int i = 0; i < modules[m]->n_kernels; i++) {
			const char *name = modules[m]->kernels[i].name;

			if (at + strlen(name) + 2 > len)
				break;
			at += (size_t)sprintf(buf + at, "%s%s", at ? " " : "",
					      name);
		}
	}
	pthread_mutex_unlock(&d->lock);
}
