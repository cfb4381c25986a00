/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * randops: what its files share. Every thread owns a region of every die and
 * knows which values each byte of it may have.
 */
#ifndef RANDOPS_H
#define RANDOPS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAX_DIES    16
#define MAX_THREADS 32
#define REGION      ((size_t)1 << 20)
#define N_OTHER     3

/**
 * struct model - what the bytes of one region of one die may be
 * @now:    the value written last
 * @flags:  MODEL_ANY, MODEL_SURE, and how many of @other count
 * @other:  values that memory may have as well if what is not synced is lost;
 *          NULL with @flags if nothing can be
 *
 * A byte that is MODEL_SURE reads as @now; one that is not, because what wrote
 * it failed, as any of them.
 */
struct model {
	unsigned char *now;
	unsigned char *flags;
	unsigned char (*other)[N_OTHER];
};

#define MODEL_COUNT 0x0f
#define MODEL_SURE  0x10
#define MODEL_ANY   0x20

void model_init(struct model *m, bool may_lose);
/* the bytes are about to be @bytes, or 0 if that is NULL; until the answer
 * they may be what they were */
void model_begin(struct model *m, size_t at, const unsigned char *bytes,
		 size_t len);
/* they are about to be what @from has at @from_at */
void model_begin_copy(struct model *m, size_t at, const struct model *from,
		      size_t from_at, size_t len);
/* the answer was good; of a copy from @from, if that is not NULL */
void model_end(struct model *m, size_t at, const struct model *from,
	       size_t from_at, size_t len);
/* what @from had before its last sync may have been copied, too */
void model_copied_old(struct model *m, size_t at, const struct model *from,
		      size_t from_at, size_t len);
/* what is sure cannot be lost any more */
void model_synced(struct model *m, size_t at, size_t len);
/* what was not synced may be lost, whatever else is synced */
void model_doubt(struct model *m, size_t at, size_t len);
/* they may become 0 at any time */
void model_may_clear(struct model *m, size_t at, size_t len);
/* what was not synced may have been lost */
void model_lost(struct model *m);
/* it may be anything */
void model_wiped(struct model *m);
/* the first of @len bytes that may not be what @got has, or @len */
size_t model_compare(const struct model *m, size_t at, const unsigned char *got,
		     size_t len, bool is_strict);
/* one byte in words */
void model_describe(const struct model *m, size_t at, char *text, size_t room);

/* How bad what happens to a die is, in rising order */
enum risk {
	RISK_NONE,
	RISK_REFUSED, /* requests may fail, which changes nothing else */
	RISK_LOST, /* what was not synced may be lost; files are stale */
	RISK_WIPED, /* contents, too */
};

#define N_RISKS 8

/**
 * struct trouble - what the thread of the faults does to one die
 * @epoch:  odd while something is done
 * @risks:  what it was, by epoch / 2: of the last N_RISKS
 * @losses: times what was not synced may have been lost
 * @wipes:  times contents were
 */
struct trouble {
	_Atomic unsigned int epoch;
	_Atomic int risks[N_RISKS];
	_Atomic unsigned int losses;
	_Atomic unsigned int wipes;
};

extern struct trouble troubles[MAX_DIES];
/* odd while the daemon is told to end, or is killed, until there is another */
extern _Atomic unsigned int n_ends, n_kills;
/* the mount is there for good */
extern _Atomic bool faults_are_over;

/**
 * struct faults - what is to be done besides
 * @daemon: shell command that is the daemon, in the foreground; NULL: none
 * @sock:   of the simulator's orders, or NULL
 * @driver: kernel driver to bind and unbind, or NULL
 * @flip:   file that is die 0's memory; a byte is changed in it at the end,
 *          while there is no daemon
 */
struct faults {
	const char *root;
	const char *daemon;
	const char *sock;
	const char *driver;
	const char *flip;
	uint64_t seed;
	uint64_t run_ns;
	unsigned int n_dies;
};

/* Mount; 0 or -1, said why */
int faults_mount(const struct faults *f);
/* Do it for as long as is wanted; a thread of its own. arg: struct faults */
void *faults_run(void *arg);
/* After all files were closed: the daemon ends well, or -1, said why */
int faults_unmount(const struct faults *f);

uint64_t now_ns(void);
/* Say that it went wrong, with what every thread is at, and end */
void give_up(const char *format, ...)
	__attribute__((format(printf, 1, 2), noreturn));

#endif /* RANDOPS_H */
