/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tree is what the hardware is: nothing is made, renamed or removed. But
 * for plain files in mem folders.
 */
#include "fuse/change.h"

#include <errno.h>
#include <fuse_lowlevel.h>

#include "fuse/fs.h"
#include "fuse/mem.h"

/* The mem folder that a request is about; NULL: it was refused. */
static const struct node *folder_or_refuse(fuse_req_t req, uint64_t ino)
{
	struct fs *fs = fuse_req_userdata(req);
	const struct node *dir = fs_mem_folder(fs, ino);

	fs_pair_forget(&fs->pairs, req);
	if (!dir)
		fuse_reply_err(req, EPERM);
	return dir;
}

static void refuse(fuse_req_t req)
{
	struct fs *fs = fuse_req_userdata(req);

	fs_pair_forget(&fs->pairs, req);
	fuse_reply_err(req, EPERM);
}

void fs_mknod(fuse_req_t req, uint64_t parent, const char *name, mode_t mode,
	      dev_t rdev)
{
	const struct node *dir = folder_or_refuse(req, parent);

	(void)rdev;
	if (dir)
		fs_mem_mknod(req, dir, name, mode);
}

void fs_mkdir(fuse_req_t req, uint64_t parent, const char *name, mode_t mode)
{
	(void)parent;
	(void)name;
	(void)mode;
	refuse(req);
}

void fs_symlink(fuse_req_t req, const char *target, uint64_t parent,
		const char *name)
{
	(void)target;
	(void)parent;
	(void)name;
	refuse(req);
}

void fs_unlink(fuse_req_t req, uint64_t parent, const char *name)
{
	const struct node *dir = folder_or_refuse(req, parent);

	if (dir)
		fs_mem_unlink(req, dir, name);
}

void fs_rmdir(fuse_req_t req, uint64_t parent, const char *name)
{
	(void)parent;
	(void)name;
	refuse(req);
}

void fs_rename(fuse_req_t req, uint64_t parent, const char *name,
	       uint64_t new_parent, const char *new_name, unsigned int flags)
{
	struct fs *fs = fuse_req_userdata(req);
	const struct node *new_dir = fs_mem_folder(fs, new_parent);
	const struct node *dir = new_dir ? folder_or_refuse(req, parent) : NULL;

	if (dir)
		fs_mem_rename(req, dir, name, new_dir, new_name, flags);
	else if (!new_dir)
		refuse(req);
}

void fs_link(fuse_req_t req, uint64_t ino, uint64_t new_parent,
	     const char *new_name)
{
	(void)ino;
	(void)new_parent;
	(void)new_name;
	refuse(req);
}
