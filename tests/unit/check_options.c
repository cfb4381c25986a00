// SPDX-License-Identifier: GPL-2.0-or-later
/* The command line. */
#include <errno.h>
#include <fuse_lowlevel.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/util.h"
#include "mock_user.h"
#include "options.h"
#include "suites.h"
#include "support.h"

#define USER     1234
#define USER_GID 5678

static struct options o;
static struct fuse_args args;
static char *dir; /* a mount point */
static char said[4096]; /* on stderr */

static void setup(void)
{
	mock_user_start(0, 0, false);
	memset(&o, 0, sizeof(o));
	dir = support_tempdir();
}

static void forget(void)
{
	options_free(&o);
	fuse_opt_free_args(&args);
	memset(&o, 0, sizeof(o));
}

static void teardown(void)
{
	forget();
	mock_user_stop();
	support_remove(dir);
}

/* Runs options_parse() and keeps what it says on stderr. */
static int parse_args(int argc, const char *const *argv)
{
	int fd = memfd_create("stderr", MFD_CLOEXEC);
	int saved = dup(STDERR_FILENO);
	ssize_t n;
	int ret;

	args = (struct fuse_args)FUSE_ARGS_INIT(0, NULL);
	for (int i = 0; i < argc; i++)
		ck_assert_int_eq(fuse_opt_add_arg(&args, argv[i]), 0);
	memset(&o, 0x5a, sizeof(o));
	dup2(fd, STDERR_FILENO);
	ret = options_parse(&o, &args);
	fflush(stderr);
	dup2(saved, STDERR_FILENO);
	n = pread(fd, said, sizeof(said) - 1, 0);
	ck_assert_int_ge(n, 0);
	said[n] = '\0';
	close(fd);
	close(saved);
	return ret;
}

/* k80fs [-o OPTIONS] DIR */
static int parse(const char *options)
{
	const char *argv[] = { "k80fs", dir, "-o", options };

	return parse_args(options ? 4 : 2, argv);
}

/* How often libfuse will see this word among its -o options. */
static int n_option(const char *word)
{
	int n = 0;

	for (int i = 1; i < args.argc; i++) {
		const char *p = args.argv[i];

		if (strncmp(p, "-o", 2))
			continue;
		p = p[2] ? p + 2 : args.argv[++i];
		while (*p) {
			size_t len = strcspn(p, ",");

			n += len == strlen(word) && !strncmp(p, word, len);
			p += len + (p[len] == ',');
		}
	}
	return n;
}

START_TEST(no_option_gives_the_defaults)
{
	char path[PATH_MAX];

	ck_assert_int_eq(parse(NULL), 0);
	ck_assert_str_eq(said, "");
	ck_assert_str_eq(o.mountpoint, realpath(dir, path));
	ck_assert_str_eq(o.backend, "bar_swap");
	ck_assert_str_eq(o.device, "/dev/bar_swap");
	ck_assert_uint_eq(o.wait_ms, 5000);
	ck_assert_uint_eq(o.slice_ms, 0);
	ck_assert_uint_eq(o.umask, 0);
	ck_assert(!o.uid_set && !o.gid_set);
	ck_assert(!o.cache && !o.sync && !o.foreground && !o.debug);
	ck_assert(!o.uring);
	ck_assert_uint_eq(o.uring_depth, 0);
	ck_assert(!o.show_help && !o.show_version);
}
END_TEST

START_TEST(last_of_sync_and_async_counts_for_the_kernel_too)
{
	ck_assert_int_eq(parse(_i ? "async,sync" : "sync,async"), 0);
	ck_assert_int_eq(o.sync, _i);
	ck_assert_int_eq(n_option("sync"), 1);
	ck_assert_int_eq(n_option("async"), 1);
}
END_TEST

START_TEST(each_option_sets_its_field)
{
	ck_assert_int_eq(
		parse("device=/dev/other,wait=250,timeslice=25,uid=7,"
		      "gid=8,umask=027,cache,io_uring,io_uring_q_depth=32"),
		0);
	ck_assert_str_eq(o.device, "/dev/other");
	ck_assert_uint_eq(o.wait_ms, 250);
	ck_assert_uint_eq(o.slice_ms, 25);
	ck_assert(o.uid_set && o.gid_set);
	ck_assert_uint_eq(o.uid, 7);
	ck_assert_uint_eq(o.gid, 8);
	ck_assert_uint_eq(o.umask, 027);
	ck_assert(o.cache);
	ck_assert(o.uring);
	ck_assert_uint_eq(o.uring_depth, 32);
}
END_TEST

static const struct {
	const char *options, *device;
} devices[] = {
	{ "backend=sim", "sim" },
	{ "backend=sim,sim_dies=2", "sim:dies=2" },
	{ "sim_vram=1G,backend=sim", "sim:vram=1G" },
	{ "backend=sim,sim_swap_us=200,sim_dies=3", "sim:dies=3,swap_us=200" },
	{ "backend=sim,sim_dies=2,sim_vram=64M,sim_resmem=1M,sim_swap_us=5,"
	  "sim_dir=/d,sim_ctl=/c",
	  "sim:dies=2,vram=64M,resmem=1M,swap_us=5,dir=/d,ctl=/c" },
	{ "backend=cuda", "cuda" },
	{ "backend=cuda,cuda_vram=max", "cuda:vram=max" },
	{ "cuda_vram=4096,backend=cuda", "cuda:vram=4096" },
	{ "backend=cuda,cuda_vram=4K", "cuda:vram=4096" },
	{ "backend=cuda,cuda_vram=4k", "cuda:vram=4096" },
	{ "backend=cuda,cuda_vram=3M", "cuda:vram=3145728" },
	{ "backend=cuda,cuda_vram=139G", "cuda:vram=149250113536" },
	{ "backend=cuda,mem", "cuda:mem" },
	{ "mem,backend=cuda,cuda_vram=3M", "cuda:vram=3145728,mem" },
	{ "backend=cuda,cuda_devices=0", "cuda:devices=0" },
	{ "backend=cuda,mem,cuda_devices=1+3a:00.0",
	  "cuda:mem,devices=1+3a:00.0" },
	{ "backend=cuda,cuda_devices=1,cuda_vram=max,mem",
	  "cuda:vram=max,mem,devices=1" },
	{ "backend=bar_swap", "/dev/bar_swap" },
	{ "backend=bar_swap,device=/dev/x", "/dev/x" },
};

START_TEST(mem_and_its_keeper)
{
	ck_assert_int_eq(parse("backend=cuda,mem,mem_keeper=/x/y"), 0);
	ck_assert(o.mem);
	ck_assert_str_eq(o.mem_keeper, "/x/y");
	forget();
	ck_assert_int_eq(parse("backend=cuda,cuda_vram=1G"), 0);
	ck_assert(!o.mem);
	ck_assert_ptr_null(o.mem_keeper);
}
END_TEST

START_TEST(backend_and_its_options_make_the_device)
{
	ck_assert_int_eq(parse(devices[_i].options), 0);
	ck_assert_str_eq(o.device, devices[_i].device);
}
END_TEST

static const char *const limits[] = {
	"wait=0",
	"wait=86400000",
	"timeslice=1",
	"timeslice=10000",
	"timeslice=auto",
	"uid=0",
	"uid=4294967294",
	"gid=4294967294",
	"uid=root",
	"uid=root,gid=0",
	"umask=0",
	"umask=777",
	"umask=0777",
	"io_uring",
	"io_uring,io_uring_q_depth=4",
	"io_uring_q_depth=256,io_uring",
};

START_TEST(value_at_its_limit_is_accepted)
{
	ck_assert_msg(!parse(limits[_i]), "%s: %s", limits[_i], said);
	ck_assert_str_eq(said, "");
}
END_TEST

static const char *const bad[] = {
	"wait=",
	"wait=x",
	"wait=1x",
	"wait=-1",
	"wait=+1",
	"wait= 1",
	"wait=0x10",
	"wait=1s",
	"wait=86400001",
	"wait=18446744073709551617",
	"timeslice=",
	"timeslice=0",
	"timeslice=00",
	"timeslice=10001",
	"timeslice=5ms",
	"timeslice=Auto",
	"uid=",
	"uid=no_such_user",
	"uid=1root",
	"gid=no_such_group",
	"uid=-1",
	"uid=4294967295",
	"uid=4294967296",
	"gid=",
	"gid=k80",
	"gid=-1",
	"gid=4294967295",
	"umask=",
	"umask=8",
	"umask=1000",
	"umask=-1",
	"umask=0x1",
	"umask=rwx",
	"io_uring=1",
	"io_uring_q_depth=8", /* without io_uring */
	"io_uring_q_depth=,io_uring",
	"io_uring_q_depth=3,io_uring",
	"io_uring_q_depth=257,io_uring",
	"io_uring_q_depth=8x,io_uring",
	"backend=",
	"backend=Cuda",
	"backend=Sim",
	"backend=sim ",
	/* what belongs to the other backend */
	"backend=sim,device=/dev/bar_swap",
	"sim_dies=6",
	"sim_vram=1G",
	"sim_resmem=1G",
	"sim_swap_us=5",
	"sim_dir=/tmp",
	"sim_ctl=/tmp/x",
	"backend=bar_swap,sim_dies=6",
	"backend=cuda,sim_dies=6",
	"backend=cuda,device=/dev/nvidia0",
	"cuda_vram=1G",
	"backend=sim,cuda_vram=1G",
	"cuda_devices=0",
	"cuda_devices=,backend=cuda",
	"cuda_devices=0\\,1,backend=cuda",
	"mem",
	"backend=sim,mem",
	"mem_keeper=/x",
	"mem_keeper=/x,backend=cuda",
	"cuda_vram=,backend=cuda",
	"cuda_vram=0,backend=cuda",
	"cuda_vram=0G,backend=cuda",
	"cuda_vram=G,backend=cuda",
	"cuda_vram=Max,backend=cuda",
	"cuda_vram=4097,backend=cuda",
	"cuda_vram=2K,backend=cuda",
	"cuda_vram=-4K,backend=cuda",
	"cuda_vram=1.5G,backend=cuda",
	"cuda_vram=1GB,backend=cuda",
	"cuda_vram=1T,backend=cuda",
	"cuda_vram=18446744073709551616,backend=cuda",
	"cuda_vram=17179869184G,backend=cuda",
	"cuda_vram=4096444444444444444444444,backend=cuda",
	"compute=",
	"compute=stream",
	"compute=Contexts",
	"compute=contexts ",
	/* unknown */
	"computes",
	"colour=red",
	"Wait=5",
	"wait",
	"cache=1",
	"cached",
	"sim_die=6",
};

static bool is_one_line(const char *text)
{
	size_t len = strlen(text);

	return len > 8 && strchr(text, '\n') == text + len - 1 &&
	       !strncmp(text, "k80fs: ", 7);
}

START_TEST(bad_option_returns_einval_and_one_line_that_names_it)
{
	char word[64];

	ck_assert_msg(parse(bad[_i]) == -EINVAL, "%s", bad[_i]);
	ck_assert_msg(is_one_line(said), "%s: '%s'", bad[_i], said);
	/* the option at fault, or the value */
	snprintf(word, sizeof(word), "%s", bad[_i]);
	word[strcspn(word, "=,_")] = '\0';
	ck_assert_msg(strstr(said, word) != NULL, "%s: '%s'", bad[_i], said);
}
END_TEST

START_TEST(bad_option_drives_no_terminal)
{
	static const char *const options[] = {
		"\033[31mred",
		"wait=\033[31m",
		"umask=\033c",
		"uid=\033[31m",
		"backend=\033[31m",
		"compute=\033[31m",
		"backend=cuda,cuda_vram=\033[31m",
		"backend=cuda,cuda_devices=0\\,\033[31m",
		"backend=sim,sim_dir=/a\\,\033[31m",
	};

	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		ck_assert_msg(parse(options[i]) == -EINVAL, "%s", options[i]);
		ck_assert_msg(is_one_line(said), "%s", said);
		ck_assert_msg(!strchr(said, '\033'), "%s", options[i]);
		forget();
	}
}
END_TEST

START_TEST(compute_takes_a_mode_or_none)
{
	static const struct {
		const char *options;
		bool compute, streams;
	} rows[] = {
		{ "backend=sim", false, false },
		{ "backend=sim,compute", true, false },
		{ "compute=contexts,backend=sim", true, false },
		{ "compute=streams", true, true },
		{ "backend=cuda,compute=streams", true, true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		ck_assert_int_eq(parse(rows[i].options), 0);
		ck_assert_int_eq(o.compute, rows[i].compute);
		ck_assert_int_eq(o.streams, rows[i].streams);
		ck_assert_int_eq(n_option("compute"), 0);
		forget();
	}
}
END_TEST

START_TEST(memory_is_kept_by_the_module_and_in_sim_dir)
{
	static const struct {
		const char *options;
		const char *kept_in;
	} rows[] = {
		{ "wait=5", "/dev/bar_swap" },
		{ "device=/dev/other", "/dev/other" },
		{ "backend=sim,sim_dir=/d,sim_dies=2", "/d" },
		{ "backend=sim,sim_dies=2", NULL },
		{ "backend=cuda", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		ck_assert_int_eq(parse(rows[i].options), 0);
		ck_assert_pstr_eq(o.kept_in, rows[i].kept_in);
		forget();
	}
}
END_TEST

/* A comma in a path must not become a further option of the simulator. */
START_TEST(comma_in_a_path_adds_no_option)
{
	int ret = parse("backend=sim,sim_dir=/a\\,dies=1,sim_dies=4");

	if (!ret)
		ck_assert_ptr_null(strstr(o.device, ",dies=1"));
	else
		ck_assert(is_one_line(said));
}
END_TEST

START_TEST(flags_set_what_they_say)
{
	static const struct {
		const char *flag;
		bool f, d, h, v;
	} rows[] = {
		{ "-f", true, false, false, false },
		{ "-d", true, true, false, false },
		{ "-h", false, false, true, false },
		{ "--help", false, false, true, false },
		{ "-V", false, false, false, true },
		{ "--version", false, false, false, true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *argv[] = { "k80fs", rows[i].flag, dir };

		ck_assert_int_eq(parse_args(3, argv), 0);
		ck_assert_int_eq(o.foreground, rows[i].f);
		ck_assert_int_eq(o.debug, rows[i].d);
		ck_assert_int_eq(o.show_help, rows[i].h);
		ck_assert_int_eq(o.show_version, rows[i].v);
		forget();
	}
}
END_TEST

START_TEST(help_and_version_need_no_mount_point)
{
	static const char *const flags[] = { "-h", "--help", "-V", "--version" };

	for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
		const char *argv[] = { "k80fs", flags[i] };

		ck_assert_int_eq(parse_args(2, argv), 0);
		forget();
	}
}
END_TEST

START_TEST(mount_point_that_will_not_do_is_named)
{
	const char *missing[] = { "k80fs" };
	const char *absent[] = { "k80fs", "/nonexistent/mnt" };
	const char *file[] = { "k80fs", "/proc/self/exe" };
	const char *two[] = { "k80fs", dir, "/" };
	const char *unknown[] = { "k80fs", "--frobnicate", dir };

	ck_assert_int_eq(parse_args(1, missing), -EINVAL);
	ck_assert(is_one_line(said));
	forget();
	ck_assert_int_eq(parse_args(2, absent), -EINVAL);
	ck_assert(is_one_line(said));
	ck_assert_ptr_nonnull(strstr(said, "/nonexistent/mnt"));
	forget();
	ck_assert_int_eq(parse_args(2, file), -EINVAL);
	ck_assert(is_one_line(said));
	ck_assert_ptr_nonnull(strstr(said, "/proc/self/exe"));
	forget();
	ck_assert_int_eq(parse_args(3, two), -EINVAL);
	ck_assert(is_one_line(said));
	forget();
	ck_assert_int_eq(parse_args(3, unknown), -EINVAL);
	ck_assert(is_one_line(said));
	ck_assert_ptr_nonnull(strstr(said, "--frobnicate"));
}
END_TEST

/* The daemon changes its folder: a relative path would name another place. */
START_TEST(relative_mount_point_becomes_absolute)
{
	const char *argv[] = { "k80fs", "." };
	char *cwd = getcwd(NULL, 0);
	char path[PATH_MAX];

	ck_assert_int_eq(chdir(dir), 0);
	ck_assert_int_eq(parse_args(2, argv), 0);
	ck_assert_str_eq(o.mountpoint, realpath(dir, path));
	ck_assert_int_eq(chdir(cwd), 0);
	free(cwd);
}
END_TEST

/* What fstab lines and mount(8) hand on. */
START_TEST(words_of_mount_are_accepted)
{
	ck_assert_int_eq(parse("rw,nosuid,nodev,noexec,noatime,defaults,"
			       "backend=sim"),
			 0);
	ck_assert_int_eq(n_option("nosuid"), 1);
	ck_assert_int_eq(n_option("nodev"), 1);
	ck_assert_int_eq(n_option("defaults"), 0);
	forget();
	ck_assert_int_eq(parse("default_permissions,nosymfollow,symfollow,"
			       "dirsync,diratime,nodiratime,relatime,norelatime,"
			       "strictatime,nostrictatime,lazytime,nolazytime"),
			 0);
	ck_assert_int_eq(n_option("nosymfollow"), 0);
	ck_assert_int_eq(n_option("lazytime"), 0);
	forget();
	/* a line of /proc/mounts */
	ck_assert_int_eq(parse("rw,nosuid,nodev,relatime,user_id=1000,"
			       "group_id=1000,default_permissions,allow_other,"
			       "max_read=4096,rootmode=40755,subtype=k80fs,"
			       "nonempty"),
			 0);
	ck_assert_int_eq(n_option("user_id=1000"), 0);
	ck_assert_int_eq(n_option("max_read=4096"), 0);
	ck_assert_int_eq(n_option("nonempty"), 0);
	forget();
	ck_assert_int_eq(parse("ro"), 0);
	ck_assert_int_eq(n_option("ro"), 1);
}
END_TEST

START_TEST(own_options_are_not_handed_on)
{
	ck_assert_int_eq(parse("wait=5,cache,uid=1,backend=sim,sim_dies=2,"
			       "io_uring,io_uring_q_depth=8"),
			 0);
	ck_assert_int_eq(n_option("wait=5"), 0);
	ck_assert_int_eq(n_option("cache"), 0);
	ck_assert_int_eq(n_option("uid=1"), 0);
	ck_assert_int_eq(n_option("backend=sim"), 0);
	ck_assert_int_eq(n_option("sim_dies=2"), 0);
	/* only once it is known that it can be had */
	ck_assert_int_eq(n_option("io_uring"), 0);
	ck_assert_int_eq(n_option("io_uring_q_depth=8"), 0);
}
END_TEST

START_TEST(permissions_are_always_checked_by_the_kernel)
{
	if (_i)
		mock_user_start(USER, USER_GID, false);
	ck_assert_int_eq(parse(NULL), 0);
	ck_assert_int_eq(n_option("default_permissions"), 1);
	ck_assert_int_eq(n_option("subtype=k80fs"), 1);
}
END_TEST

START_TEST(root_shares_its_mount_and_others_only_when_they_say_so)
{
	ck_assert_int_eq(parse(NULL), 0);
	ck_assert_int_eq(n_option("allow_other"), 1);
	forget();
	ck_assert_int_eq(parse("allow_other"), 0);
	ck_assert_int_eq(n_option("allow_other"), 1);
	forget();
	/* libfuse adds the other one itself */
	ck_assert_int_eq(parse("allow_root"), 0);
	ck_assert_int_eq(n_option("allow_root"), 1);
	ck_assert_int_eq(n_option("allow_other"), 0);
	forget();
	mock_user_start(USER, USER_GID, false);
	ck_assert_int_eq(parse(NULL), 0);
	ck_assert_int_eq(n_option("allow_other"), 0);
	forget();
	ck_assert_int_eq(parse("allow_other"), 0);
	ck_assert_int_eq(n_option("allow_other"), 1);
}
END_TEST

START_TEST(owner_is_named_or_numbered)
{
	mock_user_start(0, 0, true);
	ck_assert_int_eq(parse("uid=root,gid=k80"), 0);
	ck_assert_uint_eq(o.uid, 0);
	ck_assert_uint_eq(o.gid, MOCK_GROUP_K80);
	ck_assert(o.uid_set && o.gid_set);
}
END_TEST

/* The last word of libfuse's list that begins so, without libfuse's escapes. */
static const char *last_option(const char *name)
{
	static char text[256];

	*text = '\0';
	for (int i = 1; i < args.argc; i++) {
		const char *p = args.argv[i];

		if (strncmp(p, "-o", 2))
			continue;
		p = p[2] ? p + 2 : args.argv[++i];
		while (*p) {
			bool is_it = !strncmp(p, name, strlen(name));
			size_t n = 0;

			for (; *p && *p != ','; p++) {
				p += *p == '\\' && p[1];
				if (is_it && n < sizeof(text) - 1)
					text[n++] = *p;
			}
			if (is_it)
				text[n] = '\0';
			p += *p == ',';
		}
	}
	return text;
}

static const struct {
	const char *options, *name, *want;
} handed[] = {
	{ NULL, "fsname=", "fsname=k80fs" },
	{ "fsname=gpus", "fsname=", "fsname=gpus" },
	{ "fsname=", "fsname=", "fsname=k80fs" },
	{ "fsname=a\\,b\\\\c", "fsname=", "fsname=a,b\\c" },
	{ "context=a:b:c:s0", "context=", "context=a:b:c:s0" },
	{ "context=\"a:s0:c1,c2\",cache", "context=", "context=\"a:s0:c1,c2\"" },
	{ "context=\"a:c1\\,c2\"", "context=", "context=\"a:c1,c2\"" },
	{ "fscontext=\"a,b\"", "fscontext=", "fscontext=\"a,b\"" },
	{ "defcontext=\"a,b\"", "defcontext=", "defcontext=\"a,b\"" },
	{ "rootcontext=\"a,b\"", "rootcontext=", "rootcontext=\"a,b\"" },
	/* no quotes: nothing ends them, or they are inside of a name */
	{ "context=\"a,cache", "context=", "context=\"a" },
	{ "fsname=a\"b,cache,uid=0", "fsname=", "fsname=a\"b" },
};

START_TEST(source_and_contexts_reach_the_kernel)
{
	mock_user_start(0, 0, false);
	ck_assert_int_eq(parse(handed[_i].options), 0);
	ck_assert_str_eq(said, "");
	ck_assert_str_eq(last_option(handed[_i].name), handed[_i].want);
}
END_TEST

START_TEST(auto_unmount_that_does_nothing_is_said)
{
	bool is_old = strverscmp(fuse_pkgversion(), "3.15") < 0;

	mock_user_start(USER, USER_GID, false);
	ck_assert_int_eq(parse("auto_unmount"), 0);
	ck_assert_int_eq(strstr(said, "auto_unmount") != NULL, is_old);
	forget();
	ck_assert_int_eq(parse("auto_unmount,allow_other"), 0);
	ck_assert_str_eq(said, "");
	forget();
	mock_user_start(0, 0, false);
	ck_assert_int_eq(parse("auto_unmount"), 0);
	ck_assert_str_eq(said, "");
}
END_TEST

START_TEST(owner_is_the_mounter_and_for_root_group_k80)
{
	static const struct {
		uid_t uid;
		gid_t gid;
		bool has_group;
		const char *options;
		uid_t want_uid;
		gid_t want_gid;
	} rows[] = {
		{ 0, 0, false, NULL, 0, 0 },
		{ 0, 0, true, NULL, 0, MOCK_GROUP_K80 },
		{ USER, USER_GID, true, NULL, USER, USER_GID },
		{ 0, 0, true, "uid=5", 5, MOCK_GROUP_K80 },
		{ 0, 0, true, "gid=6", 0, 6 },
		{ 0, 0, true, "uid=5,gid=0", 5, 0 },
		{ USER, USER_GID, true, "uid=0,gid=6", 0, 6 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		mock_user_start(rows[i].uid, rows[i].gid, rows[i].has_group);
		ck_assert_int_eq(parse(rows[i].options), 0);
		ck_assert_uint_eq(o.uid, rows[i].want_uid);
		ck_assert_uint_eq(o.gid, rows[i].want_gid);
		forget();
	}
}
END_TEST

START_TEST(help_names_every_option)
{
	static const char *const words[] = {
		"backend=",
		"device=",
		"wait=",
		"timeslice=",
		"uid=",
		"gid=",
		"umask=",
		"ro",
		"cache",
		"allow_other",
		"sim_dies=",
		"sim_vram=",
		"sim_resmem=",
		"sim_swap_us=",
		"sim_dir=",
		"sim_ctl=",
		"-f",
		"-d",
		"--help",
		"--version",
		"fusermount3 -u",
		"fsname=",
		"MOUNTPOINT",
		"compute=",
		"io_uring ",
		"io_uring_q_depth=",
	};
	int fd = memfd_create("stdout", MFD_CLOEXEC);
	int saved = dup(STDOUT_FILENO);
	static char text[8192];
	ssize_t n;

	fflush(stdout);
	dup2(fd, STDOUT_FILENO);
	options_help("k80fs");
	fflush(stdout);
	dup2(saved, STDOUT_FILENO);
	n = pread(fd, text, sizeof(text) - 1, 0);
	ck_assert_int_gt(n, 0);
	text[n] = '\0';
	close(fd);
	close(saved);
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		ck_assert_msg(strstr(text, words[i]) != NULL, "%s", words[i]);
}
END_TEST

Suite *options_suite(void)
{
	Suite *suite = suite_create("options");
	TCase *values = tcase_create("values");
	TCase *line = tcase_create("line");
	TCase *mounting = tcase_create("mounting");

	tcase_add_checked_fixture(values, setup, teardown);
	tcase_add_test(values, no_option_gives_the_defaults);
	tcase_add_loop_test(
		values, last_of_sync_and_async_counts_for_the_kernel_too, 0, 2);
	tcase_add_test(values, each_option_sets_its_field);
	tcase_add_test(values, mem_and_its_keeper);
	tcase_add_loop_test(values, backend_and_its_options_make_the_device, 0,
			    ARRAY_SIZE(devices));
	tcase_add_loop_test(values, value_at_its_limit_is_accepted, 0,
			    ARRAY_SIZE(limits));
	tcase_add_loop_test(values,
			    bad_option_returns_einval_and_one_line_that_names_it,
			    0, ARRAY_SIZE(bad));
	tcase_add_test(values, bad_option_drives_no_terminal);
	tcase_add_test(values, compute_takes_a_mode_or_none);
	tcase_add_test(values, comma_in_a_path_adds_no_option);
	tcase_add_test(values, memory_is_kept_by_the_module_and_in_sim_dir);
	suite_add_tcase(suite, values);

	tcase_add_checked_fixture(line, setup, teardown);
	tcase_add_test(line, flags_set_what_they_say);
	tcase_add_test(line, help_and_version_need_no_mount_point);
	tcase_add_test(line, help_names_every_option);
	tcase_add_test(line, mount_point_that_will_not_do_is_named);
	tcase_add_test(line, relative_mount_point_becomes_absolute);
	suite_add_tcase(suite, line);

	tcase_add_checked_fixture(mounting, setup, teardown);
	tcase_add_test(mounting, words_of_mount_are_accepted);
	tcase_add_test(mounting, own_options_are_not_handed_on);
	tcase_add_loop_test(mounting,
			    permissions_are_always_checked_by_the_kernel, 0, 2);
	tcase_add_test(mounting,
		       root_shares_its_mount_and_others_only_when_they_say_so);
	tcase_add_test(mounting, owner_is_named_or_numbered);
	tcase_add_loop_test(mounting, source_and_contexts_reach_the_kernel, 0,
			    ARRAY_SIZE(handed));
	tcase_add_test(mounting, auto_unmount_that_does_nothing_is_said);
	tcase_add_test(mounting, owner_is_the_mounter_and_for_root_group_k80);
	suite_add_tcase(suite, mounting);
	return suite;
}
