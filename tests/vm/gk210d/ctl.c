// SPDX-License-Identifier: GPL-2.0-or-later
#include "ctl.h"

#include <errno.h>
#include <linux/pci_regs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bg.h"
#include "log.h"

#define PEEK_MAX  64
#define ORDER_MAX 512

struct order {
	struct die *die;
	const char *arg[2]; /* NULL if not given */
	char *reply;
	size_t size;
};

static uint64_t number(const char *text, int base)
{
	return text ? strtoull(text, NULL, base) : 0;
}

static void do_heal(struct order *o)
{
	memset(&o->die->faults, 0, sizeof(o->die->faults));
	o->die->back_at_ms = 0;
	if (o->die->is_untrained)
		die_train(o->die);
	regs_set_virtual(o->die, false);
}

static void do_gone(struct order *o)
{
	o->die->faults.gone_after = number(o->arg[0], 10);
	o->die->faults.gone = !o->die->faults.gone_after;
}

static void do_ignore(struct order *o)
{
	o->die->faults.ignore_off = number(o->arg[0], 16);
	o->die->faults.ignore = true;
}

static void do_stuck(struct order *o)
{
	o->die->faults.stuck_reset = true;
}

static void do_late(struct order *o)
{
	o->die->faults.late_ms = number(o->arg[0], 10);
}

static void do_slow(struct order *o)
{
	o->die->faults.slow_us = number(o->arg[0], 10);
}

static void do_virtual(struct order *o)
{
	regs_set_virtual(o->die, true);
}

static void do_stuckmode(struct order *o)
{
	o->die->faults.stuck_mode = true;
}

static void do_mute(struct order *o)
{
	o->die->faults.mute = number(o->arg[0], 10);
}

static void do_nowindow(struct order *o)
{
	o->die->faults.no_window = true;
}

static void do_words(struct order *o)
{
	snprintf(o->reply, o->size, "ok window %llu pramin %llu",
		 (unsigned long long)o->die->window_writes,
		 (unsigned long long)o->die->pramin_writes);
}

static void do_physical(struct order *o)
{
	regs_set_virtual(o->die, false);
}

static void do_uninit(struct order *o)
{
	o->die->faults.uninit = true;
}

static void do_forget(struct order *o)
{
	o->die->faults.forget = true;
}

static void do_cold(struct order *o)
{
	o->die->faults.cold = true;
	die_untrain(o->die);
}

static void do_peek(struct order *o)
{
	uint8_t buf[PEEK_MAX];
	size_t i, n = number(o->arg[1], 10), at;

	if (!n || n > PEEK_MAX ||
	    pread(o->die->vram_fd, buf, n, number(o->arg[0], 16)) != (ssize_t)n) {
		snprintf(o->reply, o->size, "error peek");
		return;
	}
	at = snprintf(o->reply, o->size, "ok ");
	for (i = 0; i < n; i++)
		at += snprintf(o->reply + at, o->size - at, "%02x", buf[i]);
}

static void do_poke(struct order *o)
{
	uint8_t buf[PEEK_MAX];
	size_t n = 0;

	while (o->arg[1] && n < PEEK_MAX &&
	       sscanf(o->arg[1] + 2 * n, "%2hhx", &buf[n]) == 1)
		n++;
	if (!n || pwrite(o->die->vram_fd, buf, n, number(o->arg[0], 16)) !=
			  (ssize_t)n)
		snprintf(o->reply, o->size, "error poke");
}

static void do_stat(struct order *o)
{
	snprintf(o->reply, o->size,
		 "ok resets %llu writes %llu gone %d cold %d trainings %llu",
		 (unsigned long long)o->die->resets,
		 (unsigned long long)o->die->config_writes, die_gone(o->die),
		 o->die->is_untrained, (unsigned long long)o->die->trainings);
}

static void do_regs(struct order *o)
{
	const uint8_t *c = o->die->cfg.val;
	uint32_t bar[6];

	memcpy(bar, c + PCI_BASE_ADDRESS_0, sizeof(bar));
	snprintf(o->reply, o->size, "ok %02x%02x %08x %08x %08x %08x %08x",
		 c[PCI_COMMAND + 1], c[PCI_COMMAND], bar[0], bar[1], bar[2],
		 bar[3], bar[4]);
}

static const struct {
	const char *word;
	void (*run)(struct order *o); /* with the die's lock held */
} table[] = {
	{ "heal", do_heal },           { "gone", do_gone },
	{ "ignore", do_ignore },       { "stuck", do_stuck },
	{ "late", do_late },           { "slow", do_slow },
	{ "virtual", do_virtual },     { "physical", do_physical },
	{ "uninit", do_uninit },       { "forget", do_forget },
	{ "cold", do_cold },           { "peek", do_peek },
	{ "poke", do_poke },           { "stat", do_stat },
	{ "regs", do_regs },           { "words", do_words },
	{ "mute", do_mute },           { "nowindow", do_nowindow },
	{ "stuckmode", do_stuckmode },
};

static void die_order(struct order *o, const char *word)
{
	size_t i;

	for (i = 0; i < sizeof(table) / sizeof(*table); i++) {
		if (strcmp(word, table[i].word))
			continue;
		snprintf(o->reply, o->size, "ok");
		pthread_mutex_lock(&o->die->lock);
		table[i].run(o);
		pthread_mutex_unlock(&o->die->lock);
		return;
	}
	snprintf(o->reply, o->size, "error unknown order %s", word);
}

void ctl_order(struct die *dies, unsigned int n_dies, char *line, char *reply,
	       size_t size)
{
	struct order o = { .reply = reply, .size = size };
	char *save, *who, *word, *end;
	unsigned long id;

	log_line("order: %s", line);
	who = strtok_r(line, " ", &save);
	if (who && !strcmp(who, "log")) {
		snprintf(reply, size, "ok");
		return;
	}
	word = who ? strtok_r(NULL, " ", &save) : NULL;
	if (!word) {
		snprintf(reply, size, "error two words at least");
		return;
	}
	if (!strcmp(who, "bg") && !strcmp(word, "strays")) {
		uint64_t r, w;

		bg_strays(&r, &w);
		snprintf(reply, size, "ok %llu %llu", (unsigned long long)r,
			 (unsigned long long)w);
		return;
	}
	id = strtoul(who, &end, 10);
	if (*end || id >= n_dies) {
		snprintf(reply, size, "error no such die %s", who);
		return;
	}
	o.die = &dies[id];
	o.arg[0] = strtok_r(NULL, " ", &save);
	o.arg[1] = strtok_r(NULL, " ", &save);
	die_order(&o, word);
}

struct client {
	struct die *dies;
	unsigned int n_dies;
	int fd;
};

static void *client_run(void *arg)
{
	struct client *cl = arg;
	char line[ORDER_MAX], reply[ORDER_MAX];
	FILE *in = fdopen(cl->fd, "r");

	while (in && fgets(line, sizeof(line), in)) {
		line[strcspn(line, "\r\n")] = '\0';
		if (!line[0])
			continue;
		ctl_order(cl->dies, cl->n_dies, line, reply, sizeof(reply));
		dprintf(cl->fd, "%s\n", reply);
	}
	if (in)
		fclose(in);
	free(cl);
	return NULL;
}

void ctl_serve(struct die *dies, unsigned int n_dies, int listen)
{
	for (;;) {
		struct client *cl = malloc(sizeof(*cl));
		pthread_t thread;

		if (!cl)
			log_die("out of memory");
		*cl = (struct client){ dies, n_dies, accept(listen, NULL, NULL) };
		if (cl->fd < 0 || pthread_create(&thread, NULL, client_run, cl))
			log_die("no thread for a control client");
		pthread_detach(thread);
	}
}
