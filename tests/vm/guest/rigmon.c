// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * rigmon COMMAND - give QEMU's monitor one line and print what it says
 *
 * The third serial port is the monitor's. Its registers are used, not the
 * kernel's driver: it shares an interrupt with the console.
 */
#include <stdint.h>
#include <stdio.h>
#include <sys/io.h>

#include "libbs.h"

#define PORT      0x3e8
#define LSR       (PORT + 5)
#define LSR_DATA  0x01
#define LSR_EMPTY 0x20
#define ANSWER_US 500000

static void put(char c)
{
	while (!(inb(LSR) & LSR_EMPTY))
		;
	outb(c, PORT);
}

int main(int argc, char **argv)
{
	int64_t end;
	const char *c;

	if (argc != 2 || iopl(3)) {
		perror("rigmon");
		return 1;
	}
	for (c = argv[1]; *c; c++)
		put(*c);
	put('\r');
	for (end = now_us() + ANSWER_US; now_us() < end;)
		if (inb(LSR) & LSR_DATA)
			putchar(inb(PORT));
	putchar('\n');
	return 0;
}
