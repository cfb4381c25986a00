/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "owner/bind.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/util.h"

#define DRIVER "nvidia"
#define NOBODY "k80fs-keep-off" /* no driver has this name */

extern char **environ;

static int put(const char *path, const char *text, char *why, size_t len)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int ret = 0;

	if (fd < 0 || write(fd, text, strlen(text)) < 0) {
		ret = -errno;
		snprintf(why, len, "write %s to %s: %s", text, path,
			 strerror(-ret));
	}
	if (fd >= 0)
		close(fd);
	return ret;
}

/* The name of the driver of a die, "" for none. */
static void driver_of(const struct bind_env *env, unsigned int die, char *name,
		      size_t len)
{
	char path[PATH_MAX], target[PATH_MAX];
	const char *slash;
	ssize_t n;

	snprintf(path, sizeof(path), "%s/bus/pci/devices/%s/driver", env->sysfs,
		 env->bdf[die]);
	n = readlink(path, target, sizeof(target) - 1);
	target[n < 0 ? 0 : n] = '\0';
	slash = strrchr(target, '/');
	snprintf(name, len, "%.63s", slash ? slash + 1 : target);
}

static int override(const struct bind_env *env, unsigned int die,
		    const char *driver, char *why, size_t len)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/bus/pci/devices/%s/driver_override",
		 env->sysfs, env->bdf[die]);
	return put(path, driver, why, len);
}

static int run_modprobe(const struct bind_env *env, const char *option,
			const char *module, char *why, size_t len)
{
	char *args[] = { (char *)env->modprobe, (char *)option, (char *)module,
			 NULL };
	int status = 0;
	pid_t pid;
	int ret;

	ret = posix_spawnp(&pid, env->modprobe, NULL, NULL, args, environ);
	if (!ret && waitpid(pid, &status, 0) == pid && !status)
		return 0;
	snprintf(why, len, "%s %s %s failed, see dmesg", env->modprobe, option,
		 module);
	return ret ? -ret : -EIO;
}

/* Past an "install" line of modprobe.d, which keeps the driver away. */
static int load(const struct bind_env *env, const char *module, char *why,
		size_t len)
{
	return run_modprobe(env, "--ignore-install", module, why, len);
}

/* nvidia_uvm in a call of its own: without it cuInit says 999. */
static int load_driver(const struct bind_env *env, char *why, size_t len)
{
	char path[PATH_MAX];
	int ret;

	snprintf(path, sizeof(path), "%s/bus/pci/drivers/%s", env->sysfs, DRIVER);
	if (!access(path, F_OK))
		return 0;
	ret = load(env, DRIVER, why, len);
	return ret ? ret : load(env, DRIVER "_uvm", why, len);
}

int bind_unload(const struct bind_env *env, char *why, size_t len)
{
	static const char *const modules[] = { DRIVER "_uvm", DRIVER "_drm",
					       DRIVER "_modeset", DRIVER };
	char path[PATH_MAX];
	int ret = 0;

	for (size_t i = 0; !ret && i < ARRAY_SIZE(modules); i++) {
		snprintf(path, sizeof(path), "%s/module/%s", env->sysfs,
			 modules[i]);
		if (!access(path, F_OK))
			ret = run_modprobe(env, "-r", modules[i], why, len);
	}
	return ret;
}

int bind_die(const struct bind_env *env, unsigned int die, char *why, size_t len)
{
	char path[PATH_MAX], name[64];
	int ret;

	driver_of(env, die, name, sizeof(name));
	if (!strcmp(name, DRIVER))
		return 0;
	if (*name) {
		snprintf(why, len, "driver %s is bound to %s", name,
			 env->bdf[die]);
		return -EBUSY;
	}
	for (unsigned int other = 0; other < env->n_dies; other++) {
		driver_of(env, other, name, sizeof(name));
		if (other == die || *name)
			continue;
		ret = override(env, other, NOBODY, why, len);
		if (ret)
			return ret;
	}
	ret = override(env, die, DRIVER, why, len);
	if (!ret)
		ret = load_driver(env, why, len);
	if (ret)
		return ret;
	driver_of(env, die, name, sizeof(name));
	if (!*name) {
		snprintf(path, sizeof(path), "%s/bus/pci/drivers_probe",
			 env->sysfs);
		ret = put(path, env->bdf[die], why, len);
		if (ret)
			return ret;
		driver_of(env, die, name, sizeof(name));
	}
	if (!strcmp(name, DRIVER))
		return 0;
	snprintf(why, len, "%s did not take %s, see dmesg", DRIVER,
		 env->bdf[die]);
	return -EIO;
}
