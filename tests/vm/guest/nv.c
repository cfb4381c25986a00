// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * nv - the stand-in of the vendor's driver from a shell
 *
 *	nv call            something that needs the die's registers, on the open
 *	                   file that is standard input; nv end: a kernel's end
 *	nv keep MINOR      open and map its node, close the descriptor, print
 *	                   "kept" and wait for a signal
 *	nv uvm MINOR       have nvidia-uvm use it for this process, print
 *"added" and wait
 *
 * Prints "ok", or the name of the error and exits with 1.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mod/nv_abi.h"

static int result(int ret)
{
	puts(ret ? strerrorname_np(errno) : "ok");
	return ret != 0;
}

static void wait_for_ever(const char *word)
{
	puts(word);
	fflush(stdout);
	for (;;)
		pause();
}

static void keep(const char *minor)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/dev/nvidia%s", minor);
	fd = open(path, O_RDWR);
	if (fd < 0 || mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			   0) == MAP_FAILED)
		err(1, "%s", path);
	close(fd);
	wait_for_ever("kept");
}

static int add(const char *minor)
{
	int fd = open("/dev/nvidia-uvm", O_RDWR);

	if (fd < 0 || ioctl(fd, NV_IOC_UVM_ADD, strtoul(minor, NULL, 10)))
		return result(-1);
	wait_for_ever("added");
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "call"))
		return result(ioctl(0, NV_IOC_CALL));
	if (argc == 2 && !strcmp(argv[1], "end"))
		return result(ioctl(0, NV_IOC_END));
	if (argc == 3 && !strcmp(argv[1], "keep"))
		keep(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "uvm"))
		return add(argv[2]);
	return 2;
}
