/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/notify.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/log.h"

#define TEXT_MAX 256

/* as notify_init() found it; a length of 0: nobody is there */
static struct sockaddr_un address = { .sun_family = AF_UNIX };
static socklen_t address_len;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the rest */
static bool has_spoken;
static bool has_failed; /* which is logged once */
static enum notify_state last_state;
static char last_text[TEXT_MAX];

void notify_init(bool is_wanted)
{
	const char *name = getenv("NOTIFY_SOCKET");
	size_t len = name ? strlen(name) : 0;

	address_len = 0;
	has_spoken = false;
	has_failed = false;
	if (is_wanted && len > 1 && (*name == '/' || *name == '@') &&
	    len < sizeof(address.sun_path)) {
		memcpy(address.sun_path, name, len);
		/* as sd_notify(3) writes the names of the abstract namespace,
		 * which have their length and no NUL behind them */
		if (*name == '@')
			address.sun_path[0] = '\0';
		address_len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) +
					  len + (*name == '/'));
	} else if (is_wanted && len) {
		log_warn("NOTIFY_SOCKET: neither a path nor an abstract name");
	}
	unsetenv("NOTIFY_SOCKET");
}

bool notify_is_on(void)
{
	return address_len > 0;
}

static void send_words_locked(const char *words)
{
	static const struct timeval patience = { .tv_sec = 1 };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) ||
	    sendto(fd, words, strlen(words), MSG_NOSIGNAL,
		   (struct sockaddr *)&address, address_len) < 0) {
		if (!has_failed)
			log_warn("the service manager cannot be told: %s",
				 strerror(errno));
		has_failed = true;
	}
	if (fd >= 0)
		close(fd);
}

static bool is_late_locked(enum notify_state state)
{
	return has_spoken ? state < last_state : state == NOTIFY_RUNNING;
}

static bool is_told_locked(enum notify_state state, const char *text)
{
	return has_spoken && !strcmp(text, last_text) &&
	       (state == last_state || state == NOTIFY_RUNNING);
}

void notify(enum notify_state state, const char *fmt, ...)
{
	static const char *const words[] = {
		[NOTIFY_READY] = "READY=1\n",
		[NOTIFY_RUNNING] = "",
		[NOTIFY_STOPPING] = "STOPPING=1\n",
	};
	char text[TEXT_MAX], message[TEXT_MAX + 32];
	va_list ap;

	if (!address_len)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	/* a line break would begin a word of its own */
	for (char *c = text; *c; c++)
		if ((unsigned char)*c < ' ')
			*c = '?';
	snprintf(message, sizeof(message), "%sSTATUS=%s", words[state], text);
	pthread_mutex_lock(&lock);
	if (!is_late_locked(state) && !is_told_locked(state, text)) {
		send_words_locked(message);
		has_spoken = true;
		last_state = state;
		strcpy(last_text, text);
	}
	pthread_mutex_unlock(&lock);
}
