/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The terminal, by ncurses. */
#ifndef K80_TOP_SCREEN_H
#define K80_TOP_SCREEN_H

#include <stdbool.h>

enum screen_style { SCREEN_PLAIN, SCREEN_BOLD, SCREEN_REVERSE };

/* what screen_key() gives besides characters */
enum { SCREEN_NO_KEY = -1, SCREEN_RESIZED = -2, SCREEN_OTHER_KEY = -3 };

/** screen_open() - take the terminal; false: it is none, nothing was changed */
bool screen_open(void);

/** screen_close() - give it back as it was */
void screen_close(void);

/** screen_begin(), screen_end() - around the lines of one picture */
void screen_begin(void);
void screen_end(void);

/** screen_line() - what does not fit is cut; @y below the end: nothing */
void screen_line(int y, enum screen_style style, const char *text);

/** screen_height() - lines that fit now */
int screen_height(void);

/** screen_key() - a key that was pressed, or SCREEN_NO_KEY at once */
int screen_key(void);

#endif /* K80_TOP_SCREEN_H */
