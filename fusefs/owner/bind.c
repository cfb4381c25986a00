/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "owner/bind.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"
#include "owner/minor.h"
#include "owner/modules.h"
#include "owner/program.h"

#define DRIVER "nvidia" /* as it is registered, whatever its file is called */
#define NOBODY "k80fs-keep-off" /* no driver has this name */

#define MAX_DIES    16
#define MAX_HOLDERS 16
#define MAX_DEPTH   4 /* drm uses modeset uses nvidia */
#define NAME_LEN    64
#define OUTPUT_LEN  (256 * 1024) /* of `modprobe -c` */

/**
 * struct bind - what was changed
 * @was: driver_override of each die before, "" for none; counts if @is_ours
 */
struct bind {
	struct bind_env env;
	struct bind_was {
		bool is_ours;
		char text[NAME_LEN];
	} was[MAX_DIES];
};

static void __attribute__((format(printf, 3, 4)))
step(struct bind *b, unsigned int die, const char *fmt, ...)
{
	char line[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if (b->env.step)
		b->env.step(b->env.arg, die, line);
}

/* ---- sysfs ----------------------------------------------------------------- */

static int put(const char *path, const char *text, char *why, size_t len)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int ret = 0;

	if (fd < 0 || write(fd, text, strlen(text)) < 0) {
		ret = -errno;
		snprintf(why, len, "write %s to %s: %s",
			 *text == '\n' ? "nothing" : text, path, strerror(-ret));
	}
	if (fd >= 0)
		close(fd);
	return ret;
}

/* The last part of what a link points to, "" for no link. */
static void link_name(const char *path, char *name, size_t len)
{
	char target[PATH_MAX];
	ssize_t n = readlink(path, target, sizeof(target) - 1);
	const char *slash;

	target[n < 0 ? 0 : n] = '\0';
	slash = strrchr(target, '/');
	snprintf(name, len, "%.63s", slash ? slash + 1 : target);
}

static void driver_of(const struct bind *b, unsigned int die, char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/bus/pci/devices/%s/driver",
		 b->env.sysfs, b->env.bdf[die]);
	link_name(path, name, NAME_LEN);
}

static void override_path(const struct bind *b, unsigned int die, char *path)
{
	snprintf(path, PATH_MAX, "%s/bus/pci/devices/%s/driver_override",
		 b->env.sysfs, b->env.bdf[die]);
}

/* "(null)" is how the kernel says that there is none. */
static int read_override(const char *path, char *text, char *why, size_t len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, NAME_LEN - 1);
	int ret = n < 0 ? -errno : 0;

	if (ret)
		snprintf(why, len, "%s: %s", path, strerror(-ret));
	if (fd >= 0)
		close(fd);
	text[n < 0 ? 0 : n] = '\0';
	text[strcspn(text, "\n")] = '\0';
	if (!strcmp(text, "(null)"))
		*text = '\0';
	return ret;
}

static int override(struct bind *b, unsigned int die, const char *driver,
		    char *why, size_t len)
{
	struct bind_was *was = &b->was[die];
	char path[PATH_MAX], text[NAME_LEN];
	int ret;

	override_path(b, die, path);
	ret = read_override(path, text, why, len);
	if (ret || !strcmp(text, driver))
		return ret;
	step(b, die, "driver_override of %s: %s", b->env.bdf[die], driver);
	ret = put(path, driver, why, len);
	if (!ret && !was->is_ours) {
		was->is_ours = true;
		strcpy(was->text, text);
	}
	return ret;
}

/* Every other die without a driver is to stay so. */
static int keep_off(struct bind *b, unsigned int die, char *why, size_t len)
{
	char name[NAME_LEN];
	int ret = 0;

	for (unsigned int other = 0; !ret && other < b->env.n_dies; other++) {
		driver_of(b, other, name);
		if (other != die && !*name)
			ret = override(b, other, NOBODY, why, len);
	}
	return ret;
}

/* ---- modules --------------------------------------------------------------- */

static bool is_loaded(const struct bind *b)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/bus/pci/drivers/%s", b->env.sysfs,
		 DRIVER);
	return !access(path, F_OK);
}

static void find_modules(struct bind *b, unsigned int die, struct modules *m)
{
	char path[PATH_MAX], modalias[256] = "", aliases[4096] = "";
	char *config = calloc(1, OUTPUT_LEN);
	FILE *f;

	snprintf(path, sizeof(path), "%s/bus/pci/devices/%s/modalias",
		 b->env.sysfs, b->env.bdf[die]);
	f = fopen(path, "re");
	if (f) {
		if (fgets(modalias, sizeof(modalias), f))
			modalias[strcspn(modalias, "\n")] = '\0';
		fclose(f);
	}
	if (*modalias)
		program_run((const char *[]){ b->env.modprobe, "-R", modalias,
					      NULL },
			    aliases, sizeof(aliases));
	if (config)
		program_run((const char *[]){ b->env.modprobe, "-c", NULL },
			    config, OUTPUT_LEN);
	modules_find(aliases, config ? config : "", m);
	free(config);
}

/* Past an "install" line of modprobe.d, which keeps the driver away. */
static int load(struct bind *b, unsigned int die, const char *module, char *why,
		size_t len)
{
	int ret;

	step(b, die, "modprobe %s", module);
	ret = program_run((const char *[]){ b->env.modprobe, "--ignore-install",
					    module, NULL },
			  NULL, 0);
	if (ret)
		snprintf(why, len, "%s --ignore-install %s failed, see dmesg",
			 b->env.modprobe, module);
	return ret;
}

/* Each in a call of its own. */
static int load_driver(struct bind *b, unsigned int die, char *why, size_t len)
{
	struct modules m;
	int ret;

	if (is_loaded(b))
		return 0;
	find_modules(b, die, &m);
	ret = load(b, die, m.driver, why, len);
	return ret ? ret : load(b, die, m.uvm, why, len);
}

/* Names in a module's folder of holders. */
static unsigned int holders(const struct bind *b, const char *module,
			    char names[][NAME_LEN])
{
	char path[PATH_MAX];
	unsigned int n = 0;
	struct dirent *e;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/module/%s/holders", b->env.sysfs,
		 module);
	dir = opendir(path);
	while (dir && n < MAX_HOLDERS && (e = readdir(dir)))
		if (*e->d_name != '.')
			snprintf(names[n++], NAME_LEN, "%.63s", e->d_name);
	if (dir)
		closedir(dir);
	return n;
}

/* The driver's module, by the name that it has now; "" if it is not loaded. */
static void driver_module(const struct bind *b, char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/bus/pci/drivers/%s/module",
		 b->env.sysfs, DRIVER);
	link_name(path, name, NAME_LEN);
	if (*name || !is_loaded(b))
		return;
	/* its driver has no link: built without one, or a test's */
	strcpy(name, DRIVER);
}

/* Users first. */
static int unload(struct bind *b, const char *module, unsigned int depth,
		  char *why, size_t len)
{
	char users[MAX_HOLDERS][NAME_LEN];
	unsigned int n = depth < MAX_DEPTH ? holders(b, module, users) : 0;
	int ret = 0;

	for (unsigned int i = 0; !ret && i < n; i++)
		ret = unload(b, users[i], depth + 1, why, len);
	if (ret)
		return ret;
	ret = program_run((const char *[]){ b->env.rmmod, module, NULL }, NULL,
			  0);
	if (ret)
		snprintf(why, len, "%s %s failed, see dmesg", b->env.rmmod,
			 module);
	return ret;
}

int bind_unload(struct bind *b, char *why, size_t len)
{
	char name[NAME_LEN];

	driver_module(b, name);
	return *name ? unload(b, name, 0, why, len) : 0;
}

void bind_modules(struct bind *b, char *buf, size_t len)
{
	char users[MAX_HOLDERS][NAME_LEN], name[NAME_LEN];
	unsigned int n;
	size_t at;

	driver_module(b, name);
	at = (size_t)snprintf(buf, len, "%s", name);
	n = *name ? holders(b, name, users) : 0;
	for (unsigned int i = 0; i < n && at + strlen(users[i]) + 2 <= len; i++)
		at += (size_t)sprintf(buf + at, " %s", users[i]);
}

/* ---- a die ----------------------------------------------------------------- */

static int ask_driver(struct bind *b, unsigned int die, char *why, size_t len)
{
	char path[PATH_MAX];

	step(b, die, "bind");
	snprintf(path, sizeof(path), "%s/bus/pci/drivers_probe", b->env.sysfs);
	return put(path, b->env.bdf[die], why, len);
}

int bind_take(struct bind *b, unsigned int die, char *why, size_t len)
{
	char name[NAME_LEN];
	int ret;

	driver_of(b, die, name);
	if (!strcmp(name, DRIVER))
		return 0;
	if (*name) {
		snprintf(why, len, "driver %s is bound to %s", name,
			 b->env.bdf[die]);
		return -EBUSY;
	}
	ret = keep_off(b, die, why, len);
	if (!ret)
		ret = override(b, die, DRIVER, why, len);
	if (!ret)
		ret = load_driver(b, die, why, len);
	if (ret)
		return ret;
	/* one that was loaded just now has looked already */
	driver_of(b, die, name);
	if (!*name)
		ret = ask_driver(b, die, why, len);
	if (ret)
		return ret;
	driver_of(b, die, name);
	if (!strcmp(name, DRIVER))
		return 0;
	snprintf(why, len, "%s did not take %s, see dmesg", DRIVER,
		 b->env.bdf[die]);
	return -EIO;
}

static int node_path(const struct bind *b, unsigned int die, char *path,
		     int *minor, char *why, size_t len)
{
	*minor = minor_of(b->env.gpus, b->env.bdf[die]);
	if (*minor < 0) {
		snprintf(why, len, "%s/%s/information names no Device Minor",
			 b->env.gpus, b->env.bdf[die]);
		return -ENOENT;
	}
	snprintf(path, PATH_MAX, "%s/nvidia%d", b->env.dev, *minor);
	return 0;
}

int bind_give(struct bind *b, unsigned int die, char *why, size_t len)
{
	char path[PATH_MAX], name[NAME_LEN], unused[256];
	int minor, user;

	driver_of(b, die, name);
	if (strcmp(name, DRIVER) != 0)
		return 0;
	user = node_path(b, die, path, &minor, unused, sizeof(unused))
		       ? 0
		       : minor_user(path);
	if (user) {
		snprintf(why, len, "process %d has %s open", user, path);
		return -EBUSY;
	}
	step(b, die, "unbind");
	snprintf(path, sizeof(path), "%s/bus/pci/drivers/%s/unbind",
		 b->env.sysfs, DRIVER);
	return put(path, b->env.bdf[die], why, len);
}

int bind_open_node(struct bind *b, unsigned int die, char *why, size_t len)
{
	char path[PATH_MAX];
	int minor, fd, ret;

	ret = node_path(b, die, path, &minor, why, len);
	if (ret)
		return ret;
	ret = minor_make(path, minor);
	step(b, die, "open of %s", path);
	fd = ret ? -1 : open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0) {
		ret = ret ? ret : -errno;
		snprintf(why, len, "%s: %s", path, strerror(-ret));
		return ret;
	}
	step(b, die, "close of %s", path);
	close(fd);
	return 0;
}

int bind_warm(struct bind *b, unsigned int die, char *why, size_t len)
{
	bool had_driver = is_loaded(b);
	char later[256] = "";
	int ret, after;

	ret = bind_take(b, die, why, len);
	if (!ret)
		ret = bind_open_node(b, die, why, len);
	/* what was loaded or bound goes again, whatever came of it */
	after = bind_give(b, die, later, sizeof(later));
	if (!after && !had_driver && is_loaded(b)) {
		step(b, die, "unload of the driver");
		after = bind_unload(b, later, sizeof(later));
	}
	if (!ret && after)
		snprintf(why, len, "%s", later);
	return ret ? ret : after;
}

/* ---- life ------------------------------------------------------------------ */

int bind_open(struct bind **out, const struct bind_env *env)
{
	struct bind *b = calloc(1, sizeof(*b));

	if (!b)
		return -ENOMEM;
	b->env = *env;
	b->env.n_dies = MIN(env->n_dies, (unsigned int)MAX_DIES);
	*out = b;
	return 0;
}

void bind_close(struct bind *b)
{
	char path[PATH_MAX], why[256];

	if (!b)
		return;
	for (unsigned int die = 0; die < b->env.n_dies; die++) {
		const char *text = b->was[die].text;

		if (!b->was[die].is_ours)
			continue;
		step(b, die, "driver_override of %s: %s", b->env.bdf[die],
		     *text ? text : "none");
		override_path(b, die, path);
		if (put(path, *text ? text : "\n", why, sizeof(why)))
			step(b, die, "%s", why);
	}
	free(b);
}
