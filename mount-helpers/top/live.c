/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "top/live.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "top/delay.h"
#include "top/rows.h"
#include "top/sampler.h"
#include "top/say.h"
#include "top/screen.h"

/* an answer that takes longer is told of */
#define SLOW_NS (2 * NSEC_PER_SEC)

enum mode { SHOW, HELP, ASK_DELAY };

struct live {
	const struct top_options *o;
	int sampler;
	uint64_t delay_ns;
	uint64_t n_shown;
	struct top_sample samples[2]; /* the newer one: at n_taken % 2 */
	uint64_t n_taken;
	struct rows rows;
	uint64_t asked_ns; /* when, for the last sample */
	bool is_asked; /* and it has not come */
	enum rows_order order;
	bool is_reverse;
	enum mode mode;
	char input[16]; /* what was typed */
	const char *message; /* or NULL */
	bool is_over;
	int error; /* an errno: why it is over, 0: told to */
};

static volatile sig_atomic_t ended_by;

static void on_signal(int signal)
{
	ended_by = signal;
}

static const struct {
	char key;
	enum rows_order order;
} order_keys[] = {
	{ 'N', ROWS_BY_DIE },
	{ 'P', ROWS_BY_SLOT },
	{ 'T', ROWS_BY_TRAFFIC },
	{ 'W', ROWS_BY_WAITING },
};

static const char *const help[] = {
	"k80-top: keys",
	"",
	"  q         quit",
	"  s, d      ask for the seconds between two looks",
	"  space     look now",
	"  N P T W   sort by die, slot, traffic, waiting requests",
	"  < >       sort by what is left or right of that",
	"  R         sort the other way",
	"  h, ?      this",
	"",
	"SLOT%  share of the time that the die was in the slot",
	"WAIT   requests that wait for their die now",
	"ERR    transfers that failed since the mount was made",
	"",
	"any key: back",
};

static void draw_help(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(help); i++)
		screen_line((int)i, SCREEN_PLAIN, help[i]);
}

static void draw_title(const struct live *l)
{
	const struct top_sample *now = &l->samples[l->n_taken % 2];
	char line[ROWS_LINE_MAX], at[16];
	time_t t = time(NULL);
	struct tm tm;

	strftime(at, sizeof(at), "%H:%M:%S", localtime_r(&t, &tm));
	snprintf(line, sizeof(line),
		 "k80-top %s  %u dies of %s  every %.1f s, by %s%s  %s", at,
		 now->n_dies, now->backend, (double)l->delay_ns / NSEC_PER_SEC,
		 rows_order_name(l->order), l->is_reverse ? ", reversed" : "",
		 l->o->dir);
	for (char *c = line; *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
	screen_line(0, SCREEN_BOLD, line);
}

/* What is asked, what went wrong, or that the daemon does not answer. */
static void draw_message(const struct live *l)
{
	uint64_t waited = l->is_asked ? now_ns() - l->asked_ns : 0;
	char line[ROWS_LINE_MAX] = "";

	if (l->mode == ASK_DELAY)
		snprintf(line, sizeof(line),
			 "seconds between two looks (%.1f): %s_",
			 (double)l->delay_ns / NSEC_PER_SEC, l->input);
	else if (l->message)
		snprintf(line, sizeof(line), "%s", l->message);
	else if (waited >= SLOW_NS)
		snprintf(line, sizeof(line),
			 "no answer for %.0f s: the daemon hangs, or is slow",
			 (double)waited / NSEC_PER_SEC);
	screen_line(2, SCREEN_BOLD, line);
}

static void draw(const struct live *l)
{
	char line[ROWS_LINE_MAX];

	screen_begin();
	if (l->mode == HELP) {
		draw_help();
		screen_end();
		return;
	}
	draw_title(l);
	rows_sums(&l->rows, false, line);
	screen_line(1, SCREEN_PLAIN, line);
	draw_message(l);
	rows_head(line, false);
	snprintf(line + strlen(line), sizeof(line) - strlen(line), "%*s",
		 (int)(sizeof(line) - strlen(line) - 1), "");
	screen_line(3, SCREEN_REVERSE, line);
	for (unsigned int i = 0; i < l->rows.n; i++) {
		rows_text(&l->rows, i, false, line);
		screen_line((int)i + 4,
			    l->rows.row[i].die.in_slot ? SCREEN_BOLD
						       : SCREEN_PLAIN,
			    line);
	}
	screen_end();
}

static void end(struct live *l, int error)
{
	l->is_over = true;
	l->error = error;
}

static void ask(struct live *l)
{
	int ret;

	if (l->is_asked)
		return;
	ret = sampler_ask(l->sampler);
	if (ret)
		end(l, -ret);
	l->is_asked = true;
	l->asked_ns = now_ns();
}

static void take(struct live *l)
{
	struct top_sample *to = &l->samples[(l->n_taken + 1) % 2];
	int ret = sampler_get(l->sampler, to);

	l->is_asked = false;
	if (ret || to->error) {
		end(l, ret ? -ret : to->error);
		return;
	}
	rows_make(l->n_taken ? &l->samples[l->n_taken % 2] : NULL, to, &l->rows);
	rows_sort(&l->rows, l->order, l->is_reverse);
	l->n_taken++;
	/* the first picture has nothing to compare with */
	if (l->n_taken > 1)
		l->n_shown++;
	if (l->o->count && l->n_shown >= l->o->count)
		l->is_over = true;
}

static void sort_by(struct live *l, enum rows_order order)
{
	l->order = order;
	rows_sort(&l->rows, l->order, l->is_reverse);
}

/* A key while the delay is typed. */
static void key_input(struct live *l, int key)
{
	size_t len = strlen(l->input);

	if (key == '\n' || key == '\r') {
		l->mode = SHOW;
		if (len && !delay_parse(l->input, &l->delay_ns))
			l->message = "0.1 to 3600 seconds";
	} else if (key == '\b' || key == 0x7f) {
		if (len)
			l->input[len - 1] = '\0';
	} else if ((key >= '0' && key <= '9') || key == '.') {
		if (len + 1 < sizeof(l->input))
			l->input[len] = (char)key;
	} else {
		l->mode = SHOW;
	}
}

static void key_show(struct live *l, int key)
{
	l->message = NULL;
	switch (key) {
	case 'q':
		l->is_over = true;
		break;
	case 's':
	case 'd':
		l->mode = ASK_DELAY;
		memset(l->input, 0, sizeof(l->input));
		break;
	case ' ':
	case '\n':
	case '\r':
		ask(l);
		break;
	case 'h':
	case '?':
		l->mode = HELP;
		break;
	case 'R':
		l->is_reverse = !l->is_reverse;
		sort_by(l, l->order);
		break;
	case '<':
		if (l->order > ROWS_BY_DIE)
			sort_by(l, l->order - 1);
		break;
	case '>':
		if (l->order < ROWS_BY_WAITING)
			sort_by(l, l->order + 1);
		break;
	default:
		for (size_t i = 0; i < ARRAY_SIZE(order_keys); i++)
			if (key == order_keys[i].key)
				sort_by(l, order_keys[i].order);
	}
}

static void take_keys(struct live *l)
{
	int key;

	while (!l->is_over && (key = screen_key()) != SCREEN_NO_KEY) {
		if (key == SCREEN_RESIZED)
			continue;
		if (l->mode == ASK_DELAY)
			key_input(l, key);
		else if (l->mode == HELP)
			l->mode = SHOW;
		else
			key_show(l, key);
	}
}

/* When there is something to do although nothing comes. */
static uint64_t next_ns(const struct live *l)
{
	return l->is_asked ? now_ns() + NSEC_PER_SEC : l->asked_ns + l->delay_ns;
}

static void wait_for_something(struct live *l, const sigset_t *let_in)
{
	struct pollfd fds[2] = {
		{ .fd = STDIN_FILENO, .events = POLLIN },
		{ .fd = l->sampler, .events = POLLIN },
	};
	uint64_t now = now_ns(), next = next_ns(l);
	uint64_t left = next > now ? next - now : 0;
	struct timespec timeout = {
		.tv_sec = (time_t)(left / NSEC_PER_SEC),
		.tv_nsec = (long)(left % NSEC_PER_SEC),
	};

	ppoll(fds, 2, &timeout, let_in);
	/* the terminal was closed */
	if (fds[0].revents & (POLLHUP | POLLERR | POLLNVAL))
		end(l, EIO);
	if (fds[1].revents)
		take(l);
	if (!l->is_over && !l->is_asked && now_ns() >= next_ns(l))
		ask(l);
}

/* Signals that end it come while it waits, and at no other time. */
static void hold_signals(sigset_t *before)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	struct sigaction action = { .sa_handler = on_signal };
	sigset_t held;

	sigemptyset(&held);
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
		sigaddset(&held, signals[i]);
		sigaction(signals[i], &action, NULL);
	}
	sigprocmask(SIG_BLOCK, &held, before);
}

/* Ends as if the signal had not been held. */
static void end_by(int signal, const sigset_t *before)
{
	struct sigaction action = { .sa_handler = SIG_DFL };

	sigaction(signal, &action, NULL);
	sigprocmask(SIG_SETMASK, before, NULL);
	raise(signal);
}

int live_run(const struct top_options *o, int sampler)
{
	static struct live live;
	struct live *l = &live;
	struct pollfd fd = { .fd = sampler, .events = POLLIN };
	sigset_t before;

	l->o = o;
	l->sampler = sampler;
	l->delay_ns = o->delay_ns;
	ask(l);
	/* what cannot be read is told before the terminal is touched */
	if (!l->is_over && poll(&fd, 1, SLOW_NS / NSEC_PER_MSEC))
		take(l);
	if (l->is_over) {
		say_why(o->dir, l->error, false);
		return EXIT_FAILURE;
	}
	if (!screen_open()) {
		fprintf(stderr,
			"k80-top: no terminal that can be drawn on (TERM=%s); -b writes plain text\n",
			getenv("TERM") ? getenv("TERM") : "");
		return EXIT_FAILURE;
	}
	hold_signals(&before);
	while (!l->is_over && !ended_by) {
		draw(l);
		wait_for_something(l, &before);
		take_keys(l);
	}
	if (!l->error)
		draw(l);
	screen_close();
	if (ended_by)
		end_by(ended_by, &before);
	if (l->error)
		say_why(o->dir, l->error, l->n_taken);
	return l->error ? EXIT_FAILURE : EXIT_SUCCESS;
}
