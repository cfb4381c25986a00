// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * rigctl ORDER... - give the die program one order and print its answer
 *
 * The second serial port of the guest is the die program's control socket.
 * Exit status 0 if the answer begins with "ok".
 */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <termios.h>
#include <unistd.h>

#define PORT      "/dev/ttyS1"
#define ANSWER_MS 10000

int main(int argc, char **argv)
{
	char line[512] = "", c;
	struct termios tio;
	struct pollfd p = { .events = POLLIN };
	size_t n = 0;
	int i;

	for (i = 1; i < argc; i++) {
		if (strlen(line) + strlen(argv[i]) + 2 > sizeof(line))
			return 2;
		strcat(line, argv[i]);
		strcat(line, i + 1 < argc ? " " : "\n");
	}
	p.fd = open(PORT, O_RDWR | O_NOCTTY);
	if (p.fd < 0 || flock(p.fd, LOCK_EX) || tcgetattr(p.fd, &tio)) {
		perror(PORT);
		return 2;
	}
	cfmakeraw(&tio);
	if (tcsetattr(p.fd, TCSANOW, &tio) ||
	    write(p.fd, line, strlen(line)) != (ssize_t)strlen(line)) {
		perror(PORT);
		return 2;
	}
	while (poll(&p, 1, ANSWER_MS) == 1 && read(p.fd, &c, 1) == 1 &&
	       c != '\n' && n < sizeof(line) - 1)
		line[n++] = c;
	line[n] = '\0';
	puts(n ? line : "error: no answer");
	return strncmp(line, "ok", 2) != 0;
}
