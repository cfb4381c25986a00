/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fuse/handle.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "fuse/fs.h"

/* FNV-1a, www.isthe.com/chongo/tech/comp/fnv */
#define FNV_OFFSET 0xcbf29ce484222325u
#define FNV_PRIME  0x100000001b3u

static uint64_t mix(uint64_t h, const void *data, size_t len)
{
	const unsigned char *p = data;

	while (len--)
		h = (h ^ *p++) * FNV_PRIME;
	return h;
}

/* What the dies' memory lives as long as. */
static uint64_t hash_of_life(const struct options *o)
{
	uint64_t h = FNV_OFFSET;
	struct timespec now;
	char id[64];
	FILE *f;

	if (!o->kept_in) {
		/* no two mounts begin at one time */
		clock_gettime(CLOCK_REALTIME, &now);
		return mix(h, &now, sizeof(now));
	}
	h = mix(h, o->kept_in, strlen(o->kept_in));
	if (!strcmp(o->backend, "sim"))
		return h;
	f = fopen("/proc/sys/kernel/random/boot_id", "re");
	if (f) {
		h = mix(h, id, fread(id, 1, sizeof(id), f));
		fclose(f);
	}
	return h;
}

void fs_handle_init(struct fs *fs, const struct node_die *dies)
{
	uint64_t h = hash_of_life(fs->opts);

	for (unsigned int die = 0; die < fs->be.n_dies; die++) {
		uint64_t g = mix(h, dies[die].bdf, strlen(dies[die].bdf));

		fs->generations[die] = (uint32_t)(g ^ g >> 32);
	}
}

uint32_t fs_handle_generation(const struct fs *fs, const struct node *n)
{
	return n->die < 0 ? 1 : fs->generations[n->die];
}
