// SPDX-License-Identifier: GPL-2.0-or-later
/* Options of the simulator: "dies=6,vram=12G,...". Pure. */
#include "lib/dev_sim_opt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "lib/dev.h"

/* 1 TiB: the module's mmap offsets leave that much to a die */
#define VRAM_MAX ((uint64_t)1 << 40)

int sim_parse_u64(const char *text, uint64_t max, uint64_t *value)
{
	uint64_t sum = 0;

	if (!*text)
		return -EINVAL;
	for (; *text; text++) {
		uint64_t digit;

		if (*text < '0' || *text > '9')
			return -EINVAL;
		digit = (uint64_t)(*text - '0');
		if (digit > max || sum > (max - digit) / 10)
			return -EINVAL;
		sum = sum * 10 + digit;
	}
	*value = sum;
	return 0;
}

/* Bytes with an optional suffix K, M or G, which is cut off @text. */
static int parse_bytes(char *text, uint64_t max, uint64_t *value)
{
	size_t len = strlen(text);
	uint64_t unit = 1;

	switch (len ? text[len - 1] : '\0') {
	case 'K':
		unit = KIB;
		break;
	case 'M':
		unit = MIB;
		break;
	case 'G':
		unit = GIB;
		break;
	}
	if (unit > 1)
		text[len - 1] = '\0';
	if (sim_parse_u64(text, max / unit, value))
		return -EINVAL;
	*value *= unit;
	return 0;
}

static int set_dies(struct sim_conf *conf, char *value)
{
	uint64_t n;

	if (sim_parse_u64(value, BS_DEV_MAX_DIES, &n) || !n)
		return -EINVAL;
	conf->n_dies = (unsigned int)n;
	return 0;
}

static int set_vram(struct sim_conf *conf, char *value)
{
	uint64_t bytes;

	if (parse_bytes(value, VRAM_MAX, &bytes) || !bytes || bytes % SIM_PAGE)
		return -EINVAL;
	conf->vram_bytes = bytes;
	return 0;
}

static int set_resmem(struct sim_conf *conf, char *value)
{
	uint64_t bytes;

	if (parse_bytes(value, VRAM_MAX, &bytes) || bytes % SIM_PAGE)
		return -EINVAL;
	conf->resmem_bytes = bytes;
	return 0;
}

static int set_swap_us(struct sim_conf *conf, char *value)
{
	uint64_t n;

	if (sim_parse_u64(value, SIM_SWAP_US_MAX, &n))
		return -EINVAL;
	conf->swap_us = (uint32_t)n;
	return 0;
}

static int set_path(char *path, size_t size, const char *value)
{
	size_t len = strlen(value);

	if (!len)
		return -EINVAL;
	if (len >= size)
		return -ENAMETOOLONG;
	memcpy(path, value, len + 1);
	return 0;
}

static int set_dir(struct sim_conf *conf, char *value)
{
	return set_path(conf->dir, sizeof(conf->dir), value);
}

static int set_ctl(struct sim_conf *conf, char *value)
{
	return set_path(conf->ctl, sizeof(conf->ctl), value);
}

static const struct {
	const char *name;
	int (*set)(struct sim_conf *conf, char *value);
} options_known[] = {
	{ "dies", set_dies },     { "vram", set_vram },
	{ "resmem", set_resmem }, { "swap_us", set_swap_us },
	{ "dir", set_dir },       { "ctl", set_ctl },
};

static int set_option(struct sim_conf *conf, char *item)
{
	char *value = strchr(item, '=');

	if (!value)
		return -EINVAL;
	*value++ = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(options_known); i++) {
		if (!strcmp(item, options_known[i].name))
			return options_known[i].set(conf, value);
	}
	return -EINVAL;
}

int sim_parse_conf(const char *options, struct sim_conf *conf)
{
	struct sim_conf found = { .n_dies = 6, .vram_bytes = 12 * GIB };
	char *copy, *rest, *item;
	int ret = 0;

	copy = strdup(options);
	if (!copy)
		return -ENOMEM;
	rest = *copy ? copy : NULL;
	while (!ret && (item = strsep(&rest, ",")))
		ret = set_option(&found, item);
	free(copy);
	if (!ret)
		*conf = found;
	return ret;
}
