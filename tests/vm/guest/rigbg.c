// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * rigbg setup | mark VALUE - the background device, through ports 0xcf8/0xcfc
 *
 * It sits at 00:1e.1, a function 1 without a function 0, which Linux does not
 * see; so Linux never moves it, and nothing but these ports reaches it.
 * "mark" writes its scratch register: a mark in QEMU's config-write trace.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/io.h>

#define CONFIG_ADDRESS 0xcf8
#define CONFIG_DATA    0xcfc
#define BG_ADDRESS     (1u << 31 | 0x1e << 11 | 1 << 8)
#define SCRATCH        0x40

static void config_write(uint32_t reg, uint32_t val)
{
	outl(BG_ADDRESS | reg, CONFIG_ADDRESS);
	outl(val, CONFIG_DATA);
}

int main(int argc, char **argv)
{
	if (argc < 2 || iopl(3)) {
		perror("rigbg");
		return 1;
	}
	if (!strcmp(argv[1], "mark") && argc == 3) {
		config_write(SCRATCH, strtoul(argv[2], NULL, 0));
		return 0;
	}
	/* under the whole slot, before any bridge window opens over it */
	config_write(0x04, 0);
	config_write(0x10, 0xf0000000);
	config_write(0x18, 0);
	config_write(0x1c, 0xc);
	config_write(0x04, 2);
	return 0;
}
