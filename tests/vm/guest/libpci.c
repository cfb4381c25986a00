// SPDX-License-Identifier: GPL-2.0-or-later
#include "libpci.h"

#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static int config_open(const char *bdf, int flags)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/config", bdf);
	fd = open(path, flags);
	if (fd < 0)
		err(1, "%s", path);
	return fd;
}

uint32_t pci_get(const char *bdf, unsigned int off, unsigned int width)
{
	int fd = config_open(bdf, O_RDONLY);
	uint32_t val = 0;

	if (pread(fd, &val, width, off) != (ssize_t)width)
		err(1, "%s: read of %x", bdf, off);
	close(fd);
	return val;
}

void pci_get_all(const char *bdf, uint8_t *buf, unsigned int len)
{
	int fd = config_open(bdf, O_RDONLY);

	/* the kernel cuts a long read into aligned dwords */
	if (pread(fd, buf, len, 0) != (ssize_t)len)
		err(1, "%s: read of %u bytes", bdf, len);
	close(fd);
}

void pci_set(const char *bdf, unsigned int off, unsigned int width, uint32_t val)
{
	int fd = config_open(bdf, O_WRONLY);

	if (pwrite(fd, &val, width, off) != (ssize_t)width)
		err(1, "%s: write of %x", bdf, off);
	close(fd);
}

volatile void *phys_map(uint64_t addr, size_t len)
{
	int fd = open("/dev/mem", O_RDWR | O_SYNC);
	void *p;

	if (fd < 0)
		err(1, "/dev/mem");
	p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, addr);
	if (p == MAP_FAILED)
		err(1, "/dev/mem at %llx", (unsigned long long)addr);
	close(fd);
	return p;
}
