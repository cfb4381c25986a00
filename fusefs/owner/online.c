/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A die gets its driver and its worker, and loses them.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "owner/priv.h"

/* In the window. On a card of ours the driver takes the die first. */
static int take(struct owner *o, unsigned int die)
{
	char why[OWNER_LINE_LEN / 2];
	int ret;

	if (!o->bind)
		return 0;
	pthread_mutex_lock(&o->lock);
	ret = bind_take(o->bind, die, why, sizeof(why));
	pthread_mutex_unlock(&o->lock);
	if (ret)
		owner_blame(o, die, "%s", why);
	return ret;
}

/* Which device a die is can be told once it is known how many there are. */
static int learn_devices(struct owner *o, unsigned int die)
{
	int count = 0, ret;

	pthread_mutex_lock(&o->lock);
	count = o->n_devices;
	pthread_mutex_unlock(&o->lock);
	if (count || o->cfg.node || o->cfg.is_streams)
		return 0;
	ret = owner_count_anew(o, die, &count);
	if (ret)
		return ret;
	if (count <= 0) {
		owner_blame(o, die, "CUDA has no device");
		return -ENODEV;
	}
	pthread_mutex_lock(&o->lock);
	o->n_devices = count;
	pthread_mutex_unlock(&o->lock);
	return 0;
}

static void set_kernels(struct owner_die *d, struct owner_kernels *k,
			const char *text, size_t len)
{
	pthread_mutex_lock(&d->lock);
	k->n = ptx_kernels(text, len, k->list);
	pthread_mutex_unlock(&d->lock);
}

static int join(struct owner *o, unsigned int die, struct wire_reply *reply)
{
	int ret;

	owner_say(o, die, "acquire");
	ret = owner_enter(o, die);
	if (ret)
		return ret;
	ret = take(o, die);
	if (!ret)
		ret = owner_join(o, die, reply);
	owner_leave(o, die);
	return ret;
}

static void now_offline(struct owner_die *d, enum owner_state state)
{
	pthread_mutex_lock(&d->lock);
	d->view.state = state;
	d->view.device = -1;
	d->view.has_module = false;
	d->user.n = 0;
	d->builtin.n = 0;
	pthread_mutex_unlock(&d->lock);
	d->has_work = false;
	owner_lose_ranges(d);
}

int owner_online(struct owner *o, unsigned int die)
{
	struct owner_die *d = &o->dies[die];
	struct wire_reply reply;
	bool had_failed;
	int ret;

	owner_check_alive(o, die);
	if (!owner_check_online(d)) {
		owner_say(o, die, "ok, it was online");
		return 0;
	}
	had_failed = owner_state(d) == OWNER_FAILED;
	owner_part(o, die);
	now_offline(d, had_failed ? OWNER_FAILED : OWNER_OFFLINE);
	ret = learn_devices(o, die);
	if (!ret)
		ret = join(o, die, &reply);
	if (ret) {
		owner_part(o, die);
		return ret;
	}
	set_kernels(d, &d->builtin, owner_builtin(), strlen(owner_builtin()));
	pthread_mutex_lock(&d->lock);
	d->view.device = reply.value;
	if (!o->cfg.node && !o->cfg.is_streams)
		d->view.device = o->cfg.uuid ? (int)die : (int)die % o->n_devices;
	snprintf(d->view.device_name, sizeof(d->view.device_name), "%.63s",
		 reply.text);
	d->view.verified = -1;
	*d->view.error = '\0';
	d->view.state = OWNER_IDLE;
	pthread_mutex_unlock(&d->lock);
	owner_say(o, die, "ok, device %d, %s%s", d->view.device, reply.text,
		  o->cfg.is_streams ? ", a stream" : "");
	return 0;
}

int owner_offline(struct owner *o, unsigned int die)
{
	char why[OWNER_LINE_LEN / 2];
	int ret;

	owner_part(o, die);
	now_offline(&o->dies[die], OWNER_OFFLINE);
	if (!o->bind)
		return 0;
	ret = owner_enter(o, die);
	if (ret)
		return ret;
	pthread_mutex_lock(&o->lock);
	ret = bind_give(o->bind, die, why, sizeof(why));
	pthread_mutex_unlock(&o->lock);
	owner_leave(o, die);
	if (ret)
		owner_blame(o, die, "%s", why);
	return ret;
}

int owner_probe(struct owner *o, unsigned int die, int *count)
{
	int ret = owner_enter(o, die);

	if (ret)
		return ret;
	ret = take(o, die);
	owner_leave(o, die);
	if (!ret)
		ret = owner_count_anew(o, die, count);
	return ret;
}

int owner_count(struct owner *o, int *count)
{
	if (!o->cfg.node)
		return owner_count_anew(o, 0, count);
	*count = 0;
	for (unsigned int die = 0; die < o->cfg.n_dies; die++)
		if (!owner_check_online(&o->dies[die]))
			*count += o->groups[die].found;
	return 0;
}

int owner_warm(struct owner *o, unsigned int die)
{
	char why[OWNER_LINE_LEN / 2];
	int ret;

	if (!o->bind)
		return -EOPNOTSUPP;
	owner_say(o, die, "acquire");
	ret = owner_enter(o, die);
	if (ret)
		return ret;
	pthread_mutex_lock(&o->lock);
	ret = bind_warm(o->bind, die, why, sizeof(why));
	pthread_mutex_unlock(&o->lock);
	owner_leave(o, die);
	if (ret)
		owner_blame(o, die, "%s", why);
	return ret;
}

void owner_modules(struct owner *o, char *buf, size_t len)
{
	*buf = '\0';
	if (o->bind)
		bind_modules(o->bind, buf, len);
}

int owner_load(struct owner *o, unsigned int die, const char *text, size_t len)
{
	struct wire_request req = { .op = WIRE_LOAD, .len = len };
	struct owner_die *d = &o->dies[die];
	struct wire_reply reply;
	int ret;

	if (len > OWNER_MAX_PTX)
		return -EFBIG;
	ret = owner_check_idle(o, die);
	if (ret)
		return ret;
	memcpy(d->shared->stage, text, len);
	ret = owner_enter(o, die);
	if (ret)
		return ret;
	ret = owner_call(o, die, &req, &reply);
	owner_leave(o, die);
	if (ret)
		return ret;
	set_kernels(d, &d->user, text, len);
	pthread_mutex_lock(&d->lock);
	d->view.has_module = true;
	pthread_mutex_unlock(&d->lock);
	owner_say(o, die, "module: %zu bytes, %u kernels", len, d->user.n);
	return 0;
}
