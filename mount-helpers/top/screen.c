/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "top/screen.h"

#include <ncurses.h>
#include <stdio.h>
#include <unistd.h>

static SCREEN *screen;

bool screen_open(void)
{
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return false;
	/* initscr() ends the program where the terminal is not known */
	screen = newterm(NULL, stdout, stdin);
	if (!screen)
		return false;
	cbreak();
	noecho();
	nodelay(stdscr, TRUE);
	keypad(stdscr, TRUE);
	curs_set(0);
	return true;
}

void screen_close(void)
{
	endwin();
	delscreen(screen);
}

void screen_begin(void)
{
	erase();
}

void screen_end(void)
{
	refresh();
}

void screen_line(int y, enum screen_style style, const char *text)
{
	static const attr_t attributes[] = {
		[SCREEN_PLAIN] = A_NORMAL,
		[SCREEN_BOLD] = A_BOLD,
		[SCREEN_REVERSE] = A_REVERSE,
	};

	if (y >= LINES)
		return;
	attrset(attributes[style]);
	mvaddnstr(y, 0, text, COLS);
	attrset(A_NORMAL);
}

int screen_height(void)
{
	return LINES;
}

int screen_key(void)
{
	int key = getch();

	if (key == ERR)
		return SCREEN_NO_KEY;
	if (key == KEY_RESIZE)
		return SCREEN_RESIZED;
	if (key == KEY_ENTER)
		return '\n';
	if (key == KEY_BACKSPACE)
		return '\b';
	return key < 256 ? key : SCREEN_OTHER_KEY;
}
