// SPDX-License-Identifier: GPL-2.0-or-later
/* randops: which values each byte may have */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "randops.h"

void model_init(struct model *m, bool may_lose)
{
	m->now = malloc(REGION);
	m->flags = NULL;
	m->other = NULL;
	if (!may_lose)
		return;
	m->flags = malloc(REGION);
	m->other = calloc(REGION, N_OTHER);
	memset(m->flags, MODEL_ANY, REGION);
}

static bool may_be(const struct model *m, size_t i, unsigned char value)
{
	unsigned int n = m->flags[i] & MODEL_COUNT;

	if (m->flags[i] & MODEL_ANY)
		return true;
	while (n > 0)
		if (m->other[i][--n] == value)
			return true;
	return false;
}

static void add(struct model *m, size_t i, unsigned char value)
{
	unsigned int n = m->flags[i] & MODEL_COUNT;

	if (may_be(m, i, value))
		return;
	if (n == N_OTHER) {
		m->flags[i] |= MODEL_ANY;
		return;
	}
	m->other[i][n] = value;
	m->flags[i]++;
}

static void begin_byte(struct model *m, size_t i, unsigned char value)
{
	add(m, i, m->now[i]);
	m->now[i] = value;
	m->flags[i] &= (unsigned char)~MODEL_SURE;
}

void model_begin(struct model *m, size_t at, const unsigned char *bytes,
		 size_t len)
{
	size_t i;

	if (m->flags) {
		for (i = 0; i < len; i++)
			begin_byte(m, at + i, bytes ? bytes[i] : 0);
	} else if (bytes) {
		memcpy(m->now + at, bytes, len);
	} else {
		memset(m->now + at, 0, len);
	}
}

static void add_others(struct model *m, size_t i, const struct model *from,
		       size_t k)
{
	unsigned int n = from->flags[k] & MODEL_COUNT;

	while (n > 0)
		add(m, i, from->other[k][--n]);
	m->flags[i] |= from->flags[k] & MODEL_ANY;
}

void model_begin_copy(struct model *m, size_t at, const struct model *from,
		      size_t from_at, size_t len)
{
	size_t i;

	if (!m->flags) {
		memcpy(m->now + at, from->now + from_at, len);
		return;
	}
	for (i = 0; i < len; i++) {
		begin_byte(m, at + i, from->now[from_at + i]);
		if (!(from->flags[from_at + i] & MODEL_SURE))
			add_others(m, at + i, from, from_at + i);
	}
}

void model_end(struct model *m, size_t at, const struct model *from,
	       size_t from_at, size_t len)
{
	size_t i;

	if (!m->flags)
		return;
	for (i = 0; i < len; i++)
		if (!from || from->flags[from_at + i] & MODEL_SURE)
			m->flags[at + i] |= MODEL_SURE;
}

void model_copied_old(struct model *m, size_t at, const struct model *from,
		      size_t from_at, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		add_others(m, at + i, from, from_at + i);
}

void model_synced(struct model *m, size_t at, size_t len)
{
	size_t i;

	if (!m->flags)
		return;
	for (i = at; i < at + len; i++)
		if (m->flags[i] & MODEL_SURE)
			m->flags[i] = MODEL_SURE;
}

void model_doubt(struct model *m, size_t at, size_t len)
{
	size_t i;

	if (!m->flags)
		return;
	for (i = at; i < at + len; i++)
		if (m->flags[i] != MODEL_SURE)
			m->flags[i] &= (unsigned char)~MODEL_SURE;
}

void model_may_clear(struct model *m, size_t at, size_t len)
{
	size_t i;

	if (!m->flags)
		return;
	for (i = at; i < at + len; i++) {
		add(m, i, 0);
		m->flags[i] &= (unsigned char)~MODEL_SURE;
	}
}

void model_lost(struct model *m)
{
	model_doubt(m, 0, REGION);
}

void model_wiped(struct model *m)
{
	memset(m->flags, MODEL_ANY, REGION);
}

static bool is_right(const struct model *m, size_t i, unsigned char got,
		     bool is_strict)
{
	if (m->now[i] == got)
		return true;
	return m->flags && !(is_strict && m->flags[i] & MODEL_SURE) &&
	       may_be(m, i, got);
}

size_t model_compare(const struct model *m, size_t at, const unsigned char *got,
		     size_t len, bool is_strict)
{
	size_t i;

	if (!memcmp(m->now + at, got, len))
		return len;
	for (i = 0; i < len && is_right(m, at + i, got[i], is_strict); i++)
		;
	return i;
}

void model_describe(const struct model *m, size_t at, char *text, size_t room)
{
	unsigned int i, n = m->flags ? m->flags[at] & MODEL_COUNT : 0;
	size_t len = (size_t)snprintf(text, room, "0x%02x", m->now[at]);

	if (m->flags && m->flags[at] & MODEL_SURE)
		len += (size_t)snprintf(text + len, room - len, " for sure");
	for (i = 0; i < n && len < room; i++)
		len += (size_t)snprintf(text + len, room - len, "%s0x%02x",
					i ? ", " : "; before: ", m->other[at][i]);
}
