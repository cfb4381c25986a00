/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <fuse_lowlevel.h>
#include <grp.h>
#include <inttypes.h>
#include <limits.h>
#include <mntent.h>
#include <pwd.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/util.h"
#include "text/ctl.h"
#include "text/quote.h"
#include "text/uring.h"

#define DEFAULT_WAIT_MS 5000
#define PAGE            4096u

/* Options as text: each is checked as a whole, never read as 0. */
struct raw {
	struct options *o;
	char *backend, *device, *wait, *timeslice, *uid, *gid, *umask;
	char *sim_dies, *sim_vram, *sim_resmem, *sim_swap_us, *sim_dir, *sim_ctl;
	char *uring_depth;
	char *fsname;
	char *cuda_vram, *cuda_devices;
	char *mem_keeper;
	int mem;
	char *compute; /* compute=VALUE */
	int with_compute;
	int cache;
	int sync;
	int uring;
	int allow_other;
	int auto_unmount;
	int bad;
};

#define RAW(t, field)                             \
	{                                         \
		t, offsetof(struct raw, field), 0 \
	}

static const struct fuse_opt specs[] = {
	RAW("backend=%s", backend),
	RAW("device=%s", device),
	RAW("wait=%s", wait),
	RAW("timeslice=%s", timeslice),
	RAW("uid=%s", uid),
	RAW("gid=%s", gid),
	RAW("umask=%s", umask),
	RAW("sim_dies=%s", sim_dies),
	RAW("sim_vram=%s", sim_vram),
	RAW("sim_resmem=%s", sim_resmem),
	RAW("sim_swap_us=%s", sim_swap_us),
	RAW("sim_dir=%s", sim_dir),
	RAW("sim_ctl=%s", sim_ctl),
	RAW("io_uring_q_depth=%s", uring_depth),
	RAW("cuda_vram=%s", cuda_vram),
	RAW("cuda_devices=%s", cuda_devices),
	RAW("mem_keeper=%s", mem_keeper),
	{ "mem", offsetof(struct raw, mem), 1 },
	RAW("compute=%s", compute),
	RAW("fsname=%s", fsname),
	{ "compute", offsetof(struct raw, with_compute), 1 },
	{ "cache", offsetof(struct raw, cache), 1 },
	{ "io_uring", offsetof(struct raw, uring), 1 },
	{ "allow_other", offsetof(struct raw, allow_other), 1 },
	FUSE_OPT_KEY("allow_other", FUSE_OPT_KEY_KEEP),
	/* libfuse's: the kernel lets everybody in, and it refuses them */
	{ "allow_root", offsetof(struct raw, allow_other), 1 },
	FUSE_OPT_KEY("allow_root", FUSE_OPT_KEY_KEEP),
	FUSE_OPT_KEY("-f", 'f'),
	FUSE_OPT_KEY("-d", 'd'),
	FUSE_OPT_KEY("-h", 'h'),
	FUSE_OPT_KEY("--help", 'h'),
	FUSE_OPT_KEY("-V", 'V'),
	FUSE_OPT_KEY("--version", 'V'),
	FUSE_OPT_KEY("defaults", FUSE_OPT_KEY_DISCARD),
	/* libfuse's and the kernel's */
	FUSE_OPT_KEY("rw", FUSE_OPT_KEY_KEEP),
	FUSE_OPT_KEY("ro", FUSE_OPT_KEY_KEEP),
	/* the tree has neither programs nor devices: never in force */
	FUSE_OPT_KEY("suid", FUSE_OPT_KEY_DISCARD),
	FUSE_OPT_KEY("nosuid", FUSE_OPT_KEY_KEEP),
	FUSE_OPT_KEY("dev", FUSE_OPT_KEY_DISCARD),
	FUSE_OPT_KEY("nodev", FUSE_OPT_KEY_KEEP),
	FUSE_OPT_KEY("exec", FUSE_OPT_KEY_KEEP),
	FUSE_OPT_KEY("noexec", FUSE_OPT_KEY_KEEP),
	FUSE_OPT_KEY("atime", FUSE_OPT_KEY_KEEP),
	FUSE_OPT_KEY("noatime", FUSE_OPT_KEY_KEEP),
	/* the kernel marks each write, and the rest is for us to know */
	{ "sync", offsetof(struct raw, sync), 1 },
	{ "async", offsetof(struct raw, sync), 0 },
	FUSE_OPT_KEY("sync", FUSE_OPT_KEY_KEEP),
	FUSE_OPT_KEY("async", FUSE_OPT_KEY_KEEP),
	{ "auto_unmount", offsetof(struct raw, auto_unmount), 1 },
	FUSE_OPT_KEY("auto_unmount", FUSE_OPT_KEY_KEEP),
	/* SELinux's, which the kernel reads */
	FUSE_OPT_KEY("context=", FUSE_OPT_KEY_KEEP),
	FUSE_OPT_KEY("fscontext=", FUSE_OPT_KEY_KEEP),
	FUSE_OPT_KEY("defcontext=", FUSE_OPT_KEY_KEEP),
	FUSE_OPT_KEY("rootcontext=", FUSE_OPT_KEY_KEEP),
	/* always in force */
	FUSE_OPT_KEY("default_permissions", FUSE_OPT_KEY_DISCARD),
	FUSE_OPT_KEY("nonempty", FUSE_OPT_KEY_DISCARD),
	/* what /proc/mounts shows of each FUSE mount, and so has a line of
	 * fstab that was made from it */
	FUSE_OPT_KEY("user_id=", FUSE_OPT_KEY_DISCARD),
	FUSE_OPT_KEY("group_id=", FUSE_OPT_KEY_DISCARD),
	FUSE_OPT_KEY("rootmode=", FUSE_OPT_KEY_DISCARD),
	FUSE_OPT_KEY("max_read=", FUSE_OPT_KEY_DISCARD),
	FUSE_OPT_KEY("subtype=", FUSE_OPT_KEY_DISCARD),
	/* what mount(8) has for every file system and means nothing here */
	FUSE_OPT_KEY("symfollow", FUSE_OPT_KEY_DISCARD),
	FUSE_OPT_KEY("nosymfollow", FUSE_OPT_KEY_DISCARD),
	FUSE_OPT_KEY("dirsync", FUSE_OPT_KEY_DISCARD),
	FUSE_OPT_KEY("diratime", FUSE_OPT_KEY_DISCARD),
	FUSE_OPT_KEY("nodiratime", FUSE_OPT_KEY_DISCARD),
	FUSE_OPT_KEY("relatime", FUSE_OPT_KEY_DISCARD),
	FUSE_OPT_KEY("norelatime", FUSE_OPT_KEY_DISCARD),
	FUSE_OPT_KEY("strictatime", FUSE_OPT_KEY_DISCARD),
	FUSE_OPT_KEY("nostrictatime", FUSE_OPT_KEY_DISCARD),
	FUSE_OPT_KEY("lazytime", FUSE_OPT_KEY_DISCARD),
	FUSE_OPT_KEY("nolazytime", FUSE_OPT_KEY_DISCARD),
	FUSE_OPT_END
};

/* The folder to mount on, or NULL with errno. */
static char *resolve_mountpoint(const char *arg)
{
	char *path = realpath(arg, NULL);
	struct statfs st;

	/* a folder's attributes outlive its daemon in the kernel's cache */
	if (path && statfs(path, &st) && errno == ENOTCONN) {
		free(path);
		errno = ENOTCONN;
		return NULL;
	}
	return path;
}

/* Whether a k80fs is there, which a second one would hide. */
static bool is_mounted(const char *dir)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	const struct mntent *m;
	bool found = false;

	/* without /proc the kernel says what else is wrong */
	if (!mounts)
		return false;
	while (!found && (m = getmntent(mounts)))
		found = !strcmp(m->mnt_type, "fuse.k80fs") &&
			!strcmp(m->mnt_dir, dir);
	endmntent(mounts);
	return found;
}

/* One line: what is wrong with a mount point, and what to run, if anything. */
static void say_of_dir(const char *dir, const char *what, const char *command)
{
	fputs("k80fs: ", stderr);
	quote_plain(stderr, dir);
	fprintf(stderr, ": %s", what);
	if (command) {
		fprintf(stderr, ": %s ", command);
		quote_word(stderr, dir);
	}
	fputc('\n', stderr);
}

static void say_no_mountpoint(const char *arg, const char *why)
{
	quote_line(stderr, "k80fs: mount point %s: %s", arg, why);
}

/* Returns whether it will do. */
static bool take_mountpoint(struct options *o, const char *arg)
{
	struct stat st;
	char why[128];

	if (o->mountpoint) {
		say_of_dir(arg, "one mount point only", NULL);
		return false;
	}
	o->mountpoint = resolve_mountpoint(arg);
	if (!o->mountpoint && errno == ENOTCONN) {
		say_of_dir(arg, "a dead mount is in the way; run",
			   "fusermount3 -uz");
		return false;
	}
	if (!o->mountpoint) {
		snprintf(why, sizeof(why), "%s%s", strerror(errno),
			 errno == ENOENT ? " (mkdir it)" : "");
		say_no_mountpoint(arg, why);
		return false;
	}
	if (stat(o->mountpoint, &st) || !S_ISDIR(st.st_mode)) {
		say_no_mountpoint(arg, "not a directory");
		return false;
	}
	if (is_mounted(o->mountpoint)) {
		say_of_dir(arg, "k80fs is already mounted there; run first",
			   "fusermount3 -u");
		return false;
	}
	return true;
}

static int on_arg(void *data, const char *arg, int key, struct fuse_args *out)
{
	struct raw *raw = data;
	struct options *o = raw->o;

	(void)out;
	switch (key) {
	case 'f':
		o->foreground = true;
		return 0;
	case 'd':
		o->foreground = true;
		o->debug = true;
		return 1; /* libfuse's too */
	case 'h':
		o->show_help = true;
		return 0;
	case 'V':
		o->show_version = true;
		return 0;
	case FUSE_OPT_KEY_NONOPT:
		raw->bad |= !take_mountpoint(o, arg);
		return 0;
	default:
		/* as -o "$OPTIONS" is where there are none */
		if (!*arg)
			return 0;
		quote_line(stderr,
			   "k80fs: unknown option '%s'; see k80fs --help", arg);
		raw->bad = 1;
		return 0;
	}
}

/* A number without sign, spaces or anything behind it. */
static int number(const char *name, const char *text, int base,
		  unsigned long max, unsigned long *out)
{
	char *end;

	errno = 0;
	*out = strtoul(text, &end, base);
	if (*text < '0' || *text > '9' || *end || errno || *out > max) {
		quote_line(stderr,
			   base == 8 ? "k80fs: bad value in -o %s=%s: 0 to %lo"
				     : "k80fs: bad value in -o %s=%s: 0 to %lu",
			   name, text, max);
		return -EINVAL;
	}
	return 0;
}

/* The same with K, M or G behind it; whole pages, and not nothing. */
static int size(const char *name, const char *text, uint64_t *out)
{
	static const char units[] = "KMG";
	size_t len = strlen(text);
	const char *unit =
		len ? strchr(units, toupper((unsigned char)text[len - 1])) : NULL;
	unsigned int shift = unit ? 10 * (unsigned int)(unit - units + 1) : 0;
	char digits[24] = "";
	unsigned long v = 0;

	if (len - !!unit < sizeof(digits))
		memcpy(digits, text, len - !!unit);
	errno = 0;
	if (*digits >= '0' && *digits <= '9' &&
	    !digits[strspn(digits, "0123456789")])
		v = strtoul(digits, NULL, 10);
	if (!v || errno || v > UINT64_MAX >> shift || (v << shift) % PAGE) {
		quote_line(stderr, "k80fs: bad value in -o %s=%s", name, text);
		return -EINVAL;
	}
	*out = v << shift;
	return 0;
}

static bool is_number(const char *text)
{
	return *text && !text[strspn(text, "0123456789")];
}

/* Whether this user namespace has the number; without /proc the kernel says. */
static bool is_mapped(const char *map, unsigned long id)
{
	unsigned long first, count;
	bool found = false;
	FILE *f = fopen(map, "re");

	if (!f)
		return true;
	while (!found && fscanf(f, "%lu %*u %lu", &first, &count) == 2)
		found = id >= first && id - first < count;
	fclose(f);
	return found;
}

static int owner_id(const char *name, const char *text, bool is_known,
		    const char *map, unsigned long *id)
{
	if (!is_known && !is_number(text)) {
		quote_line(stderr,
			   "k80fs: bad value in -o %s=%s: there is no such %s",
			   name, text, *name == 'u' ? "user" : "group");
		return -EINVAL;
	}
	if (!is_known && number(name, text, 10, UINT_MAX - 1, id))
		return -EINVAL;
	if (!is_mapped(map, *id)) {
		fprintf(stderr,
			"k80fs: bad value in -o %s=%s: %s of this user namespace does not have it\n",
			name, text, map);
		return -EINVAL;
	}
	return 0;
}

static int user_id(const char *text, unsigned long *id)
{
	const struct passwd *user = is_number(text) ? NULL : getpwnam(text);

	if (user)
		*id = user->pw_uid;
	return owner_id("uid", text, user, "/proc/self/uid_map", id);
}

static int group_id(const char *text, unsigned long *id)
{
	const struct group *group = is_number(text) ? NULL : getgrnam(text);

	if (group)
		*id = group->gr_gid;
	return owner_id("gid", text, group, "/proc/self/gid_map", id);
}

static int parse_numbers(struct raw *raw)
{
	struct options *o = raw->o;
	unsigned long v;

	o->wait_ms = DEFAULT_WAIT_MS;
	if (raw->wait) {
		if (number("wait", raw->wait, 10, CTL_MAX_WAIT_MS, &v))
			return -EINVAL;
		o->wait_ms = (uint32_t)v;
	}
	if (raw->timeslice && strcmp(raw->timeslice, "auto")) {
		if (number("timeslice", raw->timeslice, 10, CTL_MAX_SLICE_MS, &v))
			return -EINVAL;
		if (!v) {
			fprintf(stderr, "k80fs: bad value in -o timeslice=0\n");
			return -EINVAL;
		}
		o->slice_ms = (uint32_t)v;
	}
	if (raw->uid) {
		if (user_id(raw->uid, &v))
			return -EINVAL;
		o->uid = (uid_t)v;
		o->uid_set = true;
	}
	if (raw->gid) {
		if (group_id(raw->gid, &v))
			return -EINVAL;
		o->gid = (gid_t)v;
		o->gid_set = true;
	}
	if (raw->umask) {
		if (number("umask", raw->umask, 8, 0777, &v))
			return -EINVAL;
		o->umask = (mode_t)v;
	}
	if (raw->uring_depth) {
		if (number("io_uring_q_depth", raw->uring_depth, 10,
			   URING_DEPTH_MAX, &v))
			return -EINVAL;
		if (v < URING_DEPTH_MIN || !raw->uring) {
			fprintf(stderr,
				"k80fs: -o io_uring_q_depth=%s: wants %d to %d, and -o io_uring\n",
				raw->uring_depth, URING_DEPTH_MIN,
				URING_DEPTH_MAX);
			return -EINVAL;
		}
		o->uring_depth = (uint32_t)v;
	}
	return 0;
}

/* Of a device string. */
struct part {
	const char *key; /* with its "=", if it has one */
	const char *value; /* NULL: not given */
};

/* "NAME:KEY=VALUE,KEY,..." of what was given */
static int join(const char *name, const struct part *parts, size_t n,
		char **device)
{
	size_t len = strlen(name) + 1;
	char sep = ':';

	for (size_t i = 0; i < n; i++)
		if (parts[i].value)
			len += strlen(parts[i].key) + strlen(parts[i].value) + 1;
	*device = malloc(len);
	if (!*device)
		return -ENOMEM;
	strcpy(*device, name);
	for (size_t i = 0; i < n; i++) {
		const struct part *p = &parts[i];

		if (!p->value)
			continue;
		sprintf(*device + strlen(*device), "%c%s%s", sep, p->key,
			p->value);
		sep = ',';
	}
	return 0;
}

static int sim_device(struct raw *raw)
{
	const struct part parts[] = {
		{ "dies=", raw->sim_dies },
		{ "vram=", raw->sim_vram },
		{ "resmem=", raw->sim_resmem },
		{ "swap_us=", raw->sim_swap_us },
		{ "dir=", raw->sim_dir },
		{ "ctl=", raw->sim_ctl },
	};

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		if (parts[i].value && strchr(parts[i].value, ',')) {
			quote_line(stderr,
				   "k80fs: -o sim_%s%s: no comma may be in it",
				   parts[i].key, parts[i].value);
			return -EINVAL;
		}
	}
	return join("sim", parts, ARRAY_SIZE(parts), &raw->o->device);
}

static int cuda_device(struct raw *raw)
{
	const char *vram = raw->cuda_vram, *devices = raw->cuda_devices;
	char number[32];
	uint64_t bytes;

	if (devices && (!*devices || strchr(devices, ','))) {
		quote_line(stderr,
			   "k80fs: bad value in -o cuda_devices=%s; names have + between them",
			   devices);
		return -EINVAL;
	}
	if (vram && strcmp(vram, "max") != 0) {
		if (size("cuda_vram", vram, &bytes))
			return -EINVAL;
		snprintf(number, sizeof(number), "%" PRIu64, bytes);
		vram = number;
	}
	return join("cuda",
		    (const struct part[]){ { "vram=", vram },
					   { "mem", raw->mem ? "" : NULL },
					   { "devices=", devices } },
		    3, &raw->o->device);
}

/* The daemon works in "/": there a relative path names something else. */
static int make_absolute(char **path)
{
	char *cwd, *full = NULL;

	if (!*path || !**path || **path == '/')
		return 0;
	cwd = getcwd(NULL, 0);
	if (!cwd || asprintf(&full, "%s/%s", cwd, *path) < 0)
		full = NULL;
	free(cwd);
	if (!full)
		return -ENOMEM;
	free(*path);
	*path = full;
	return 0;
}

static int parse_compute(struct raw *raw)
{
	struct options *o = raw->o;

	o->compute = raw->with_compute || raw->compute;
	o->streams = raw->compute && !strcmp(raw->compute, "streams");
	if (!raw->compute || o->streams || !strcmp(raw->compute, "contexts"))
		return 0;
	quote_line(stderr,
		   "k80fs: bad value in -o compute=%s; there are contexts and streams",
		   raw->compute);
	return -EINVAL;
}

static int check_no_cuda(const struct raw *raw)
{
	const char *option = raw->cuda_vram      ? "cuda_vram="
			     : raw->cuda_devices ? "cuda_devices="
			     : raw->mem          ? "mem"
			     : raw->mem_keeper   ? "mem_keeper="
						 : NULL;

	if (!option)
		return 0;
	fprintf(stderr, "k80fs: -o %s needs -o backend=cuda\n", option);
	return -EINVAL;
}

static int parse_backend(struct raw *raw)
{
	struct options *o = raw->o;
	bool has_sim = raw->sim_dies || raw->sim_vram || raw->sim_resmem ||
		       raw->sim_swap_us || raw->sim_dir || raw->sim_ctl;
	bool is_sim, is_cuda;

	o->backend = strdup(raw->backend ? raw->backend : "bar_swap");
	if (!o->backend || make_absolute(&raw->device) ||
	    make_absolute(&raw->sim_dir) || make_absolute(&raw->sim_ctl) ||
	    make_absolute(&raw->mem_keeper))
		return -ENOMEM;
	is_sim = !strcmp(o->backend, "sim");
	is_cuda = !strcmp(o->backend, "cuda");
	if (!is_sim && !is_cuda && strcmp(o->backend, "bar_swap")) {
		quote_line(stderr,
			   "k80fs: unknown backend '%s'; there are bar_swap, sim and cuda",
			   o->backend);
		return -EINVAL;
	}
	if ((is_sim || is_cuda) && raw->device) {
		fprintf(stderr,
			"k80fs: -o device= belongs to backend=bar_swap\n");
		return -EINVAL;
	}
	if (has_sim && !is_sim) {
		fprintf(stderr, "k80fs: the sim_ options need -o backend=sim\n");
		return -EINVAL;
	}
	if (!is_cuda && check_no_cuda(raw))
		return -EINVAL;
	o->mem = raw->mem;
	if (raw->mem_keeper && !o->mem) {
		fprintf(stderr, "k80fs: -o mem_keeper= needs -o mem\n");
		return -EINVAL;
	}
	o->mem_keeper = raw->mem_keeper;
	raw->mem_keeper = NULL;
	if (is_sim && raw->sim_dir) {
		o->kept_in = strdup(raw->sim_dir);
		if (!o->kept_in)
			return -ENOMEM;
	}
	if (is_sim)
		return sim_device(raw);
	if (is_cuda)
		return cuda_device(raw);
	o->device = strdup(raw->device ? raw->device : "/dev/bar_swap");
	o->kept_in = strdup(raw->device ? raw->device : "/dev/bar_swap");
	return o->device && o->kept_in ? 0 : -ENOMEM;
}

/* The owner of the tree: root shares it with group k80, others keep it. */
static void default_owner(struct options *o)
{
	struct group *k80;

	if (!o->uid_set)
		o->uid = getuid();
	if (o->gid_set)
		return;
	o->gid = getgid();
	if (geteuid() == 0) {
		k80 = getgrnam("k80");
		if (k80 && is_mapped("/proc/self/gid_map", k80->gr_gid))
			o->gid = k80->gr_gid;
	}
}

/* What /proc/mounts shows as the source; a name may have commas. */
static int add_source(struct raw *raw, struct fuse_args *args)
{
	const char *name = raw->fsname && *raw->fsname ? raw->fsname : "k80fs";
	char *option = NULL, *list = NULL;
	int ret = -ENOMEM;

	if (asprintf(&option, "fsname=%s", name) < 0)
		return -ENOMEM;
	if (!fuse_opt_add_opt_escaped(&list, option) &&
	    !fuse_opt_add_opt(&list, "subtype=k80fs") &&
	    !fuse_opt_add_arg(args, "-o") && !fuse_opt_add_arg(args, list))
		ret = 0;
	free(list);
	free(option);
	return ret;
}

/* Its fusermount3 looks at the mount as root, whom that keeps out. */
static void warn_of_auto_unmount(const struct raw *raw)
{
	unsigned int major = 0, minor = 0;

	if (!raw->auto_unmount || raw->allow_other || geteuid() == 0)
		return;
	sscanf(fuse_pkgversion(), "%u.%u", &major, &minor);
	if (major < 3 || (major == 3 && minor < 15))
		fprintf(stderr,
			"k80fs: warning: auto_unmount without allow_other needs libfuse 3.15, here is %s: after a kill the mount stays\n",
			fuse_pkgversion());
}

static int add_mount_options(struct raw *raw, struct fuse_args *args)
{
	char max_read[32];

	snprintf(max_read, sizeof(max_read), "-omax_read=%u",
		 OPTIONS_MAX_REQUEST);
	if (add_source(raw, args) ||
	    fuse_opt_add_arg(args, "-odefault_permissions") ||
	    fuse_opt_add_arg(args, max_read))
		return -ENOMEM;
	if (geteuid() == 0 && !raw->allow_other &&
	    fuse_opt_add_arg(args, "-oallow_other"))
		return -ENOMEM;
	warn_of_auto_unmount(raw);
	return 0;
}

static void raw_free(struct raw *raw)
{
	free(raw->compute);
	free(raw->backend);
	free(raw->device);
	free(raw->wait);
	free(raw->timeslice);
	free(raw->uid);
	free(raw->gid);
	free(raw->umask);
	free(raw->uring_depth);
	free(raw->fsname);
	free(raw->sim_dies);
	free(raw->sim_vram);
	free(raw->sim_resmem);
	free(raw->sim_swap_us);
	free(raw->sim_dir);
	free(raw->sim_ctl);
	free(raw->cuda_vram);
	free(raw->cuda_devices);
	free(raw->mem_keeper);
}

/* As mount(8) reads a list: no comma in quotes, name="a,b", ends an option;
 * for libfuse it has a backslash. */
static char *escape_quoted(const char *list)
{
	char *out = malloc(2 * strlen(list) + 1), *p = out;
	const char *end = NULL;

	if (!out)
		return NULL;
	for (const char *s = list; *s; s++) {
		if (!end && *s == '"' && s > list && s[-1] == '=')
			end = strchr(s + 1, '"');
		else if (s == end)
			end = NULL;
		if (end && *s == ',' && s[-1] != '\\')
			*p++ = '\\';
		*p++ = *s;
	}
	*p = '\0';
	return out;
}

static int take_quotes(struct fuse_args *args)
{
	struct fuse_args out = FUSE_ARGS_INIT(0, NULL);
	bool is_list = false;

	for (int i = 0; i < args->argc; i++) {
		const char *arg = args->argv[i];
		bool is_joined = !strncmp(arg, "-o", 2) && arg[2];
		char *escaped =
			is_list || is_joined ? escape_quoted(arg) : strdup(arg);
		int ret = escaped ? fuse_opt_add_arg(&out, escaped) : -1;

		free(escaped);
		if (ret) {
			fuse_opt_free_args(&out);
			return -ENOMEM;
		}
		is_list = !is_list && !strcmp(arg, "-o");
	}
	fuse_opt_free_args(args);
	*args = out;
	return 0;
}

int options_parse(struct options *o, struct fuse_args *args)
{
	struct raw raw = { .o = o };
	int ret;

	memset(o, 0, sizeof(*o));
	if (take_quotes(args))
		return -ENOMEM;
	if (fuse_opt_parse(args, &raw, specs, on_arg)) {
		raw_free(&raw);
		return -EINVAL;
	}
	ret = raw.bad ? -EINVAL : 0;
	if (ret || o->show_help || o->show_version)
		goto out;
	if (!o->mountpoint) {
		fprintf(stderr,
			"k80fs: no mount point given; see k80fs --help\n");
		ret = -EINVAL;
		goto out;
	}
	o->cache = raw.cache;
	o->sync = raw.sync;
	o->uring = raw.uring;
	ret = parse_numbers(&raw);
	if (!ret)
		ret = parse_compute(&raw);
	if (!ret)
		ret = parse_backend(&raw);
	if (!ret)
		ret = add_mount_options(&raw, args);
	default_owner(o);
out:
	raw_free(&raw);
	return ret;
}

void options_free(struct options *o)
{
	free(o->mountpoint);
	free(o->backend);
	free(o->device);
	free(o->mem_keeper);
	free(o->kept_in);
}

void options_help(const char *program)
{
	printf("usage: %s [options] MOUNTPOINT\n"
	       "Shows GPU dies that share one PCI slot as files: MOUNTPOINT/dieN/vram.\n"
	       "\n"
	       "  -o backend=bar_swap|sim|cuda\n"
	       "                           the kernel module (default), simulated dies, or\n"
	       "                           memory of CUDA devices through their driver\n"
	       "  -o device=PATH           node of the module (/dev/bar_swap)\n"
	       "  -o wait=MS               how long another's pin or lease may block (%d)\n"
	       "  -o timeslice=MS|auto     how long a die keeps the slot while others wait\n"
	       "  -o uid=USER,gid=GROUP    owner of the tree, by name or number\n"
	       "  -o umask=OCTAL           bits to clear from the default modes\n"
	       "  -o ro                    no writing\n"
	       "  -o cache                 use the page cache: MAP_SHARED works, but what\n"
	       "                           the GPU writes is seen at the next open\n"
	       "  -o sync                  answer a write when it has reached its die\n"
	       "  -o io_uring              talk to the kernel over io_uring where both it and\n"
	       "                           libfuse can, else over /dev/fuse (the default)\n"
	       "  -o io_uring_q_depth=N    requests of one CPU at a time, %d to %d (%d); dies\n"
	       "                           that take turns use io_uring only with this\n"
	       "  -o compute=contexts|streams\n"
	       "                           dieN/compute: start kernels, see k80fs(8);\n"
	       "                           without a value: contexts\n"
	       "  -o allow_other           other users too (the default for root)\n"
	       "  -o allow_root            root too, and no other user\n"
	       "  -o fsname=NAME           source in /proc/mounts (k80fs)\n"
	       "  -o sim_dies=N            simulated dies (6)\n"
	       "  -o sim_vram=SIZE         memory of each, with K, M or G (12G)\n"
	       "  -o sim_resmem=SIZE       carve-out at its end, shown as resmem (0)\n"
	       "  -o sim_swap_us=N         what a swap takes (0)\n"
	       "  -o sim_dir=DIR           keep their memory in DIR/dieN\n"
	       "  -o sim_ctl=PATH          socket that takes faults to order\n"
	       "  -o cuda_vram=SIZE|max    memory taken from each CUDA device as dieN/vram\n"
	       "  -o cuda_devices=LIST     only these: index by PCI address, PCI address or\n"
	       "                           UUID, with + between them (all)\n"
	       "  -o mem                   dieN/mem: files in the memory of CUDA devices that\n"
	       "                           outlive the mount, see k80fs(8)\n"
	       "  -o mem_keeper=PATH       socket of the k80-keeper that holds them\n"
	       "  -f                       stay in the foreground\n"
	       "  -d                       the same, with libfuse's debug output\n"
	       "  -h, --help               this text\n"
	       "  -V, --version            version of k80fs, libfuse and the transport\n"
	       "\n"
	       "Unmount with: fusermount3 -u MOUNTPOINT\n",
	       program, DEFAULT_WAIT_MS, URING_DEPTH_MIN, URING_DEPTH_MAX,
	       URING_DEPTH);
}
