/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Devices: as many as STANDIN_DEVICES says, or, where the stand-in of the
 * vendor's driver is loaded, its nodes, used as libcuda uses the vendor's.
 */
#include "standin.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "../vm/guest/mod/nv_abi.h"
#include "base/util.h"

#define PROC "/proc/driver/nvidia"
#define PAGE 4096u

/* A device: before CUDA_VISIBLE_DEVICES hides some. */
struct device {
	char bdf[16];
	unsigned int minor;
	int init_fd; /* of cuInit */
	int fd; /* of the first context; -1 before it */
};

static struct {
	pthread_mutex_t lock; /* guards all below while cuInit runs */
	bool is_open;
	bool has_nodes;
	int uvm;
	unsigned int n_devices, n_visible;
	struct device devices[STANDIN_MAX_DEVICES];
	struct device *visible[STANDIN_MAX_DEVICES];
} node = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* The vendor's own driver is none of our business. */
static bool has_driver(void)
{
	char text[256] = "";
	FILE *f = fopen(PROC "/version", "re");

	if (f) {
		text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
		fclose(f);
	}
	return strstr(text, "stand-in");
}

/* Opens a node; makes one that is not there, as the vendor's helper does. */
static int open_node(const char *path, unsigned int minor)
{
	dev_t dev = makedev(NV_MAJOR, minor);
	struct stat st;

	if (stat(path, &st) && errno == ENOENT)
		mknod(path, S_IFCHR | 0666, dev);
	if (stat(path, &st) || !S_ISCHR(st.st_mode) || st.st_rdev != dev)
		return -ENOENT;
	return open(path, O_RDWR | O_CLOEXEC);
}

static unsigned int minor_of(const char *bdf)
{
	char path[512], line[128];
	unsigned int minor = NV_CTL_MINOR;
	FILE *f;

	snprintf(path, sizeof(path), PROC "/gpus/%s/information", bdf);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		sscanf(line, "Device Minor: %u", &minor);
	if (f)
		fclose(f);
	return minor;
}

static int is_gpu(const struct dirent *e)
{
	return *e->d_name != '.';
}

/* One that the driver is bound to; a node that is another file hides it. */
static CUresult add_device(const char *bdf)
{
	struct device *d = &node.devices[node.n_devices];
	char path[32];

	d->minor = minor_of(bdf);
	snprintf(d->bdf, sizeof(d->bdf), "%.15s", bdf);
	snprintf(path, sizeof(path), "/dev/nvidia%u", d->minor);
	d->fd = -1;
	d->init_fd = open_node(path, d->minor);
	if (d->init_fd == -ENOENT)
		return CUDA_SUCCESS;
	if (d->init_fd < 0)
		return CUDA_ERROR_UNKNOWN;
	node.n_devices++;
	return CUDA_SUCCESS;
}

static CUresult open_devices(void)
{
	struct dirent **list = NULL;
	CUresult err = CUDA_SUCCESS;
	int n = scandir(PROC "/gpus", &list, is_gpu, alphasort);

	for (int i = 0; i < n; i++) {
		if (!err && node.n_devices < STANDIN_MAX_DEVICES)
			err = add_device(list[i]->d_name);
		free(list[i]);
	}
	free(list);
	return err;
}

static CUresult open_nodes(void)
{
	if (open_node("/dev/nvidiactl", NV_CTL_MINOR) < 0)
		return CUDA_ERROR_NO_DEVICE;
	node.uvm = open("/dev/nvidia-uvm", O_RDWR | O_CLOEXEC);
	if (node.uvm < 0)
		return CUDA_ERROR_UNKNOWN;
	return open_devices();
}

static void invent_devices(void)
{
	const char *n = getenv("STANDIN_DEVICES");
	int wanted = n ? atoi(n) : 1;

	for (int i = 0; i < wanted && i < STANDIN_MAX_DEVICES; i++) {
		struct device *d = &node.devices[node.n_devices++];

		snprintf(d->bdf, sizeof(d->bdf), "0000:%02X:00.0", 0x3a + i);
		d->fd = -1;
	}
}

/* A number, or a UUID, which is the address in other words; -1: neither. */
static int device_named(const char *text, char **end)
{
	unsigned long i = strtoul(text, end, 10);
	char bdf[16] = "";
	size_t n = 0;

	if (*end != text)
		return i < node.n_devices ? (int)i : -1;
	if (strncmp(text, "GPU-", 4) != 0)
		return -1;
	for (text += 4; n < sizeof(bdf) && isxdigit((unsigned char)*text);) {
		unsigned int byte;

		if (sscanf(text, "%2x", &byte) != 1)
			return -1;
		bdf[n++] = (char)byte;
		text += 2;
		text += *text == '-';
	}
	*end = (char *)text;
	bdf[sizeof(bdf) - 1] = '\0';
	for (i = 0; i < node.n_devices; i++)
		if (!strcmp(bdf, node.devices[i].bdf))
			return (int)i;
	return -1;
}

/* CUDA_VISIBLE_DEVICES: numbers and UUIDs, up to the first that is neither. */
static void hide_devices(void)
{
	const char *list = getenv("CUDA_VISIBLE_DEVICES");
	char *end;

	for (unsigned int i = 0; !list && i < node.n_devices; i++)
		node.visible[node.n_visible++] = &node.devices[i];
	while (list && node.n_visible < STANDIN_MAX_DEVICES) {
		int i = device_named(list, &end);

		if (i < 0)
			break;
		node.visible[node.n_visible++] = &node.devices[i];
		if (*end != ',')
			break;
		list = end + 1;
	}
}

CUresult standin_open(void)
{
	CUresult err = CUDA_SUCCESS;

	pthread_mutex_lock(&node.lock);
	if (!node.is_open) {
		node.has_nodes = has_driver();
		if (node.has_nodes)
			err = open_nodes();
		else
			invent_devices();
		hide_devices();
		node.is_open = true;
	}
	pthread_mutex_unlock(&node.lock);
	if (err)
		standin_spoil(err);
	return err || node.n_visible ? err : CUDA_ERROR_NO_DEVICE;
}

int standin_count(void)
{
	return (int)node.n_visible;
}

const char *standin_bdf(int device)
{
	return node.visible[device]->bdf;
}

bool standin_is_on_nodes(void)
{
	return node.has_nodes;
}

/* Kept to the end of the process: a context is taken down when it goes. */
static bool map(int fd)
{
	return mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) !=
	       MAP_FAILED;
}

CUresult standin_attach(int device)
{
	struct device *d = node.visible[device];
	char path[32];
	CUresult err = CUDA_SUCCESS;

	if (!node.has_nodes)
		return CUDA_SUCCESS;
	pthread_mutex_lock(&node.lock);
	snprintf(path, sizeof(path), "/dev/nvidia%u", d->minor);
	if (d->fd < 0) {
		d->fd = open(path, O_RDWR | O_CLOEXEC);
		if (d->fd < 0 || !map(d->fd) || !map(node.uvm) ||
		    ioctl(node.uvm, NV_IOC_UVM_ADD, d->minor))
			err = CUDA_ERROR_UNKNOWN;
	}
	pthread_mutex_unlock(&node.lock);
	return err ? err : standin_touch(device);
}

CUresult standin_touch(int device)
{
	struct device *d = node.visible[device];

	if (!node.has_nodes || !ioctl(d->fd, NV_IOC_CALL))
		return CUDA_SUCCESS;
	standin_spoil(CUDA_ERROR_UNKNOWN);
	return CUDA_ERROR_UNKNOWN;
}

void standin_ended(int device)
{
	if (node.has_nodes)
		ioctl(node.visible[device]->fd, NV_IOC_END);
}
