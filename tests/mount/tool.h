/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tool: a sequence of system calls on one open file, each with the exact
 * result it must give. See usage() in tool.c for the language.
 */
#ifndef TOOL_H
#define TOOL_H

#include <stdint.h>

/**
 * struct tool - the file the operations work on
 * @path:  its name
 * @fd:    open file, -1 when opened with the flag "path"
 * @shift: bytes by which I/O buffers miss page alignment ("align")
 * @map:   current mapping ("mmap"), or NULL
 * @map_len: its bytes
 * @map_off: file offset of its first byte
 * @armed_ms: when "alarm" was set, until the operation after it has ended, or 0
 * @took_ms: what the last operation took, or the time since its alarm was set
 */
struct tool {
	const char *path;
	int fd;
	unsigned int shift;
	unsigned char *map;
	uint64_t map_len;
	uint64_t map_off;
	int64_t armed_ms;
	int64_t took_ms;
};

/** tool_now_ms() - a clock of milliseconds that nobody sets */
int64_t tool_now_ms(void);

/**
 * tool_set_alarm() - a signal in @ms and every @ms after that; none if 0
 *
 * Again and again, as the first may come before the system call that it is for.
 *
 * Return: 0 or -errno.
 */
int64_t tool_set_alarm(int64_t ms);

#define TOOL_MAX_ARGS  6
#define TOOL_FULL_TEXT -1

/**
 * struct op - one word of the language
 * @name:   as written
 * @n_args: how many comma-separated arguments it needs
 * @run:    does it; returns a count or -errno, as the system call did
 * @full:   without a stated result, the value of this argument (1 = first) is
 *          the wanted one; 0: anything >= 0 will do; TOOL_FULL_TEXT: the
 *          length of the last argument as a text
 */
struct op {
	const char *name;
	int n_args;
	int64_t (*run)(struct tool *t, char **arg);
	int full;
};

/* tool_ops.c, tool_misc.c: the words; each table ends with a NULL name */
extern const struct op tool_io_ops[];
extern const struct op tool_misc_ops[];

/**
 * tool_number() - "4096", "0x10", "-1", "12G"; anything else ends the program
 */
int64_t tool_number(const char *text);

/** tool_open_flags() - "rw+direct" to O_RDWR | O_DIRECT; ends the program if
 * it knows a word not */
int tool_open_flags(const char *text);

/** tool_text() - \n \t \0 \\ of @text replaced; the length goes to @len */
char *tool_text(const char *text, uint64_t *len);

/** tool_die() - say what is wrong with the command line, exit 2 */
void tool_die(const char *format, ...)
	__attribute__((format(printf, 1, 2), noreturn));

/**
 * TOOL_BAD_DATA - returned by an operation that read bytes other than the
 * ones it was told to expect; the operation has printed which
 */
#define TOOL_BAD_DATA INT64_MIN

#endif /* TOOL_H */
