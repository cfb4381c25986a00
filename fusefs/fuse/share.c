/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fuse/share.h"

#include <errno.h>
#include <fcntl.h>
#include <fuse_lowlevel.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "fuse/fs.h"
#include "mem/mem.h"
#include "mem/share.h"
#include "owner/owner.h"

/* The die's vram has no chunks that could be taken for another's. */
#define VRAM_ID UINT64_MAX

static const struct share_source source = {
	.count = mem_count,
	.put = mem_put,
	.get = mem_share_get,
	.free = mem_share_free,
};

/* Beside the socket of whoever holds the memory. */
void fs_share_start(struct fs *fs)
{
	const char *path = NULL;
	char dir[sizeof(((struct k80_share *)0)->socket)];
	const char *slash;
	int ret;

	if (!fs->mem || !mem_keeper(fs->mem, &path))
		return;
	slash = strrchr(path, '/');
	snprintf(dir, sizeof(dir), "%.*s", slash ? (int)(slash - path) : 1,
		 slash ? path : ".");
	ret = share_start(&fs->share, dir, &source);
	if (ret)
		log_warn("no socket in %s, so no program can map files of mem: %s",
			 dir, strerror(-ret));
}

void fs_share_stop(struct fs *fs)
{
	share_stop(fs->share);
}

/* ---- ioctl ----------------------------------------------------------------- */

static int where(struct fs *fs, struct fs_file *f, struct k80_where *out)
{
	struct mem_stat st;

	memset(out, 0, sizeof(*out));
	mem_stat(f->mem, &st);
	out->len = st.len;
	return backend_uuid(&fs->be, mem_die(f->mem), out->uuid);
}

/* CUDA cannot keep whoever has memory from writing to it. */
static int token(fuse_req_t req, struct fs_file *f, struct k80_share *out)
{
	struct fs *fs = fuse_req_userdata(req);

	if ((f->flags & O_ACCMODE) != O_RDWR)
		return -EACCES;
	if (!fs->share)
		return -EOPNOTSUPP;
	return share_token(fs->share, f->mem, fuse_req_ctx(req)->uid, out);
}

void fs_share_ioctl(fuse_req_t req, struct fs_file *f, unsigned int cmd)
{
	struct k80_share share;
	struct k80_where place;
	int ret = -ENOTTY;

	if (cmd == K80_SHARE)
		ret = token(req, f, &share);
	else if (cmd == K80_WHERE)
		ret = where(fuse_req_userdata(req), f, &place);
	if (ret)
		fuse_reply_err(req, -ret);
	else if (cmd == K80_SHARE)
		fuse_reply_ioctl(req, 0, &share, sizeof(share));
	else
		fuse_reply_ioctl(req, 0, &place, sizeof(place));
}

/* ---- kernels --------------------------------------------------------------- */

static int vram_memory(struct fs *fs, unsigned int die, struct owner_memory *out)
{
	uint64_t unit = backend_chunk_unit(&fs->be, die);
	int fd = backend_vram_fd(&fs->be, die), ret;

	if (fd < 0)
		return -EOPNOTSUPP;
	memset(out, 0, sizeof(*out));
	ret = backend_uuid(&fs->be, die, out->uuid);
	/* what was written has reached the memory, and nothing is read ahead of
	 * what the kernel will change; first the mark, for files opened now */
	if (!ret) {
		fs->is_vram_given[die] = true;
		backend_forget(&fs->be, die, 0, fs->be.dies[die].len);
		ret = backend_sync(&fs->be, die);
	}
	if (ret)
		return ret;
	out->chunks = calloc(1, sizeof(*out->chunks));
	if (!out->chunks)
		return -ENOMEM;
	out->chunks->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (out->chunks->fd < 0) {
		ret = -errno;
		free(out->chunks);
		return ret;
	}
	out->n = 1;
	out->len = fs->be.dies[die].vram_bytes;
	out->chunks->len = (out->len + unit - 1) / unit * unit;
	out->chunks->id = VRAM_ID;
	return 0;
}

/* Takes the descriptors over, on success. */
static int take(struct mem_share *memory, struct owner_memory *out)
{
	if (!memory->n)
		return -ENODATA;
	memset(out, 0, sizeof(*out));
	out->chunks = calloc(memory->n, sizeof(*out->chunks));
	if (!out->chunks)
		return -ENOMEM;
	out->len = memory->len;
	out->n = memory->n;
	memcpy(out->uuid, memory->uuid, sizeof(out->uuid));
	for (unsigned int i = 0; i < memory->n; i++) {
		const struct mem_share_chunk *c = &memory->chunks[i];

		out->chunks[i] = (struct owner_chunk){ .len = c->len,
						       .id = c->id,
						       .fd = c->fd };
	}
	free(memory->chunks);
	return 0;
}

int fs_share_memory(void *arg, unsigned int die, const char *name,
		    struct owner_memory *out)
{
	struct mem_share memory;
	struct fs *fs = arg;
	struct mem_file *f;
	int ret;

	if (!*name)
		return vram_memory(fs, die, out);
	if (!fs->mem || mem_why(fs->mem, die))
		return -EOPNOTSUPP;
	ret = mem_lookup(fs->mem, die, name, &f);
	if (ret)
		return ret;
	ret = mem_share_get(f, &memory);
	mem_put(f);
	if (ret)
		return ret;
	ret = take(&memory, out);
	if (ret)
		mem_share_free(&memory);
	return ret;
}
