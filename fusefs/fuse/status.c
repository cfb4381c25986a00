/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * status files: the snapshot, and poll(2) on changes.
 */
#include "fuse/status.h"

#include <errno.h>
#include <fuse_lowlevel.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/notify.h"
#include "base/util.h"
#include "fuse/attr.h"
#include "fuse/fs.h"
#include "fuse/tell.h"
#include "mem/mem.h"
#include "mem/share.h"

/* Without a descriptor to wait on, look this often while somebody wants
 * to know. */
#define WATCH_PERIOD_MS 200

static bool is_in_slot(const struct fs *fs, const struct bs_info *info)
{
	return fs->be.ops->has_slot && (info->state == BS_STATE_ACTIVE ||
					info->state == BS_STATE_NO_VRAM);
}

static const char *state_name(const struct bs_info *info)
{
	static const char *const names[] = {
		[BS_STATE_IDLE] = "idle",
		[BS_STATE_ACTIVE] = "active",
		[BS_STATE_DEAD] = "dead",
		[BS_STATE_NO_VRAM] = "no_vram",
		[BS_STATE_UNUSABLE] = "unusable",
	};

	return names[info->state];
}

static const char *mode_name(const struct bs_info *info)
{
	static const char *const names[] = {
		[BS_MODE_UNKNOWN] = "unknown",
		[BS_MODE_PHYSICAL] = "physical",
		[BS_MODE_VIRTUAL] = "virtual",
	};

	return names[info->bar1_mode];
}

static const char *cache_name(const struct bs_info *info)
{
	static const char *const names[] = {
		[BS_CACHE_NONE] = "none",
		[BS_CACHE_WC] = "wc",
		[BS_CACHE_UC] = "uc",
	};

	return names[info->bar1_cache];
}

/* Looks at a die; last_error becomes the newest one of all layers.
 * Returns the order of that error among the dies. */
static uint64_t look(struct fs *fs, unsigned int die, struct bs_info *info,
		     struct sched_view *view)
{
	struct fs_error *e = &fs->errors[die];
	uint64_t seq;

	if (backend_info(&fs->be, die, info)) {
		memset(info, 0, sizeof(*info));
		info->state = BS_STATE_DEAD;
	}
	sched_view(fs->io.sched, die, view);
	if (!strcmp(view->hold, "none") && info->leased && !info->leased_here) {
		view->hold = "lease";
		snprintf(view->holder, sizeof(view->holder), "%d %.15s",
			 info->holder_pid, info->holder_comm);
	}

	pthread_mutex_lock(&fs->error_lock);
	if (strcmp(e->device, info->last_error)) {
		strcpy(e->device, info->last_error);
		e->is_note = false;
		e->seq = ++fs->error_seq;
	}
	if (e->note_count != view->note_count) {
		e->note_count = view->note_count;
		e->is_note = true;
		e->seq = ++fs->error_seq;
	}
	if (e->is_note)
		strcpy(info->last_error, view->note);
	seq = e->seq;
	pthread_mutex_unlock(&fs->error_lock);
	return seq;
}

static size_t die_text(struct fs *fs, unsigned int die, char *buf)
{
	struct backend_die *d = &fs->be.dies[die];
	uint64_t total = fs->io.zero_total[die];
	struct sched_view view;
	struct backend_device dev = { 0 };
	struct mem_view mem = { 0 };
	struct status_die s;
	struct bs_info info;
	char progress[48] = "";

	look(fs, die, &info, &view);
	if (total)
		snprintf(progress, sizeof(progress), "%llu/%llu",
			 (unsigned long long)fs->io.zero_done[die],
			 (unsigned long long)total);
	if (fs->be.ops->describe)
		fs->be.ops->describe(&fs->be, die, &dev);
	if (fs->mem)
		mem_view(fs->mem, die, &mem);
	s = (struct status_die){
		.die = die,
		.bdf = info.bdf,
		.vendor = info.vendor,
		.device = info.device,
		.subvendor = info.subvendor,
		.subdevice = info.subdevice,
		.state = state_name(&info),
		.in_slot = is_in_slot(fs, &info),
		.hold = view.hold,
		.holder = view.holder,
		.vram_bytes = d->vram_bytes,
		.resmem_bytes = d->len - d->vram_bytes,
		.bar0 = is_in_slot(fs, &info) ? info.bar0_addr : 0,
		.bar1 = is_in_slot(fs, &info) ? info.bar1_addr : 0,
		.bar3 = is_in_slot(fs, &info) ? info.bar3_addr : 0,
		.bar1_bytes = info.bar1_size,
		.bar1_mode = mode_name(&info),
		.driver = dev.driver ? dev.driver : info.driver,
		.alive = info.alive,
		.generation = info.generation,
		.resets = info.resets,
		.acquires = info.acquires,
		.swaps_in = info.swaps_in,
		.swaps_out = info.swaps_out,
		.last_swap_ns = info.last_swap_ns,
		.read_bytes = d->read_bytes,
		.written_bytes = d->written_bytes,
		.waiters = view.waiters,
		.progress = progress,
		.name = dev.name,
		.driver_version = dev.driver_version,
		.memory_free = dev.memory_free,
		.memory_total = dev.memory_total,
		.shows_mem = fs->mem,
		.mem_why = mem.why,
		.mem_files = mem.files,
		.mem_bytes = mem.bytes,
		.mem_lost = mem.lost,
		.bar1_cache = cache_name(&info),
		.last_error = info.last_error,
	};
	return status_die_text(&s, buf);
}

/* Who holds the memory, if anybody does. */
static const char *keeper_text(struct fs *fs, char *buf, size_t len)
{
	const char *path;
	pid_t pid;

	if (!fs->mem)
		return NULL;
	pid = mem_keeper(fs->mem, &path);
	if (!pid)
		return "none";
	snprintf(buf, len, "%d %s", pid, path);
	return buf;
}

static size_t root_text(struct fs *fs, char *buf)
{
	char last_error[sizeof(((struct bs_info *)0)->last_error)] = "";
	char keeper[128];
	struct sched_view view;
	struct bs_info info;
	uint64_t newest = 0;
	struct status_root s = {
		.version = K80FS_VERSION,
		.backend = fs->be.ops->name,
		.transport = fs->transport,
		.copy = fs->be.copy_name,
		.n_dies = fs->be.n_dies,
		.n_slots = fs->be.ops->has_slot,
		.active = -1,
		.timeslice_ms = sched_slice_ms(fs->io.sched),
	};

	for (unsigned int die = 0; die < fs->be.n_dies; die++) {
		uint64_t seq = look(fs, die, &info, &view);

		s.slot_bar0 = info.bar0_addr;
		s.slot_bar1 = info.bar1_addr;
		s.slot_bar3 = info.bar3_addr;
		s.swaps += info.swaps_in;
		if (is_in_slot(fs, &info))
			s.active = (int)die;
		if (seq > newest) {
			newest = seq;
			strcpy(last_error, info.last_error);
		}
	}
	s.mem_keeper = keeper_text(fs, keeper, sizeof(keeper));
	if (fs->mem)
		s.mem_share = fs->share ? share_path(fs->share) : "none";
	s.last_error = last_error;
	return status_root_text(&s, buf);
}

size_t fs_status_text(struct fs *fs, int die, char *buf)
{
	return die < 0 ? root_text(fs, buf)
		       : die_text(fs, (unsigned int)die, buf);
}

/* FNV-1a, 64 bit */
#define FNV_BASIS 0xcbf29ce484222325ULL
#define FNV_PRIME 0x100000001b3ULL

static uint64_t mix(uint64_t hash, const void *data, size_t len)
{
	const unsigned char *p = data;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ p[i]) * FNV_PRIME;
	return hash;
}

static uint64_t die_print(struct fs *fs, unsigned int die)
{
	uint64_t hash = FNV_BASIS;
	struct sched_view view;
	struct bs_info info;

	look(fs, die, &info, &view);
	hash = mix(hash, &info.state, sizeof(info.state));
	hash = mix(hash, &info.alive, sizeof(info.alive));
	hash = mix(hash, &info.bar1_mode, sizeof(info.bar1_mode));
	hash = mix(hash, &info.bar1_cache, sizeof(info.bar1_cache));
	hash = mix(hash, &info.generation, sizeof(info.generation));
	hash = mix(hash, info.driver, strlen(info.driver) + 1);
	hash = mix(hash, info.last_error, strlen(info.last_error) + 1);
	hash = mix(hash, view.hold, strlen(view.hold) + 1);
	return mix(hash, view.holder, strlen(view.holder) + 1);
}

/* @dies: of each die */
static uint64_t root_print(struct fs *fs, const uint64_t *dies)
{
	uint64_t hash = mix(FNV_BASIS, dies, fs->be.n_dies * sizeof(*dies));
	uint32_t slice = sched_slice_ms(fs->io.sched);
	const char *transport = fs->transport;
	char keeper[128];
	const char *mem = keeper_text(fs, keeper, sizeof(keeper));

	if (mem)
		hash = mix(hash, mem, strlen(mem) + 1);
	hash = mix(hash, &slice, sizeof(slice));
	return mix(hash, transport, strlen(transport) + 1);
}

/* Changes when anything changes that poll is to report. */
static uint64_t fingerprint(struct fs *fs, int die)
{
	uint64_t dies[BACKEND_MAX_DIES];

	if (die >= 0)
		return die_print(fs, (unsigned int)die);
	for (unsigned int i = 0; i < fs->be.n_dies; i++)
		dies[i] = die_print(fs, i);
	return root_print(fs, dies);
}

static void note_locked(struct fs *fs, const struct node *n, uint64_t print)
{
	uint64_t *noted = &fs->prints[n->die + 1];

	if (*noted == print)
		return;
	*noted = print;
	fs_attr_touch(fs, n->ino, 0);
}

void fs_status_note(struct fs *fs, const struct node *n)
{
	pthread_mutex_lock(&fs->print_lock);
	note_locked(fs, n, fingerprint(fs, n->die));
	pthread_mutex_unlock(&fs->print_lock);
}

static bool is_status(const struct node *n)
{
	return n && (n->kind == NODE_STATUS || n->kind == NODE_ROOT_STATUS);
}

/* @prints: out: of the root, then of each die */
static void note_all(struct fs *fs, uint64_t *prints)
{
	pthread_mutex_lock(&fs->print_lock);
	for (unsigned int die = 0; die < fs->be.n_dies; die++)
		prints[die + 1] = die_print(fs, die);
	prints[0] = root_print(fs, prints + 1);
	for (uint64_t ino = 0; ino < NODE_TABLE_LEN; ino++) {
		const struct node *n = node_get(&fs->nodes, ino);

		if (is_status(n))
			note_locked(fs, n, prints[n->die + 1]);
	}
	pthread_mutex_unlock(&fs->print_lock);
}

void fs_status_snapshot(struct fs *fs, struct fs_file *f)
{
	uint64_t seen = fingerprint(fs, f->node->die);

	pthread_mutex_lock(&f->text_lock);
	f->text_len = fs_status_text(fs, f->node->die, f->text);
	pthread_mutex_unlock(&f->text_lock);
	pthread_mutex_lock(&fs->watch_lock);
	f->watch.seen = seen;
	pthread_mutex_unlock(&fs->watch_lock);
}

static void watch_kick(struct fs *fs)
{
	uint64_t one = 1;

	if (write(fs->watch_fd, &one, sizeof(one)) < 0)
		return;
}

void fs_status_changed(void *arg)
{
	struct fs *fs = arg;

	watch_kick(fs);
}

static bool is_watched(struct fs *fs, const struct fs_watch *watch)
{
	for (const struct fs_watch *w = fs->watches; w; w = w->next)
		if (w == watch)
			return true;
	return false;
}

void fs_status_poll(fuse_req_t req, struct fs_file *f, struct fuse_pollhandle *ph)
{
	struct fs *fs = fuse_req_userdata(req);
	struct fuse_pollhandle *old = NULL;
	unsigned int revents = POLLIN | POLLRDNORM;
	uint64_t seen;

	/* The handle first: what changes after this look is notified. */
	pthread_mutex_lock(&fs->watch_lock);
	if (ph) {
		old = f->watch.handle;
		f->watch.handle = ph;
		if (!is_watched(fs, &f->watch)) {
			f->watch.die = f->node->die;
			f->watch.next = fs->watches;
			fs->watches = &f->watch;
		}
	}
	seen = f->watch.seen;
	pthread_mutex_unlock(&fs->watch_lock);
	if (old)
		fuse_pollhandle_destroy(old);
	if (ph)
		watch_kick(fs);

	if (fingerprint(fs, f->node->die) != seen)
		revents |= POLLPRI;
	fuse_reply_poll(req, revents);
}

void fs_status_forget(struct fs *fs, struct fs_file *f)
{
	struct fuse_pollhandle *ph;

	pthread_mutex_lock(&fs->watch_lock);
	for (struct fs_watch **p = &fs->watches; *p; p = &(*p)->next) {
		if (*p == &f->watch) {
			*p = f->watch.next;
			break;
		}
	}
	ph = f->watch.handle;
	f->watch.handle = NULL;
	pthread_mutex_unlock(&fs->watch_lock);
	if (ph)
		fuse_pollhandle_destroy(ph);
}

/* A handle whose die has changed, taken off its file; NULL if there is none. */
static struct fuse_pollhandle *take_changed(struct fs *fs, const uint64_t *prints)
{
	struct fuse_pollhandle *ph = NULL;

	pthread_mutex_lock(&fs->watch_lock);
	for (struct fs_watch *w = fs->watches; w && !ph; w = w->next) {
		if (w->handle && prints[w->die + 1] != w->seen) {
			ph = w->handle;
			w->handle = NULL;
		}
	}
	pthread_mutex_unlock(&fs->watch_lock);
	return ph;
}

static bool has_pollers(struct fs *fs)
{
	bool found = false;

	pthread_mutex_lock(&fs->watch_lock);
	for (struct fs_watch *w = fs->watches; w; w = w->next)
		found = found || w->handle;
	pthread_mutex_unlock(&fs->watch_lock);
	return found;
}

static void *watch_thread(void *arg)
{
	struct fs *fs = arg;
	struct pollfd fds[2] = {
		{ .fd = fs->watch_fd, .events = POLLIN },
		{ .fd = fs->be.ops->poll_fd(&fs->be), .events = POLLPRI },
	};

	while (!__atomic_load_n(&fs->is_stopping, __ATOMIC_ACQUIRE)) {
		uint64_t prints[BACKEND_MAX_DIES + 1];
		struct fuse_pollhandle *ph;
		uint64_t count;

		fs->be.ops->poll_ack(&fs->be);
		note_all(fs, prints);
		fs_tell_changed(fs);
		while ((ph = take_changed(fs, prints))) {
			fuse_lowlevel_notify_poll(ph);
			fuse_pollhandle_destroy(ph);
		}
		poll(fds, 2,
		     fds[1].fd < 0 && (has_pollers(fs) || notify_is_on())
			     ? WATCH_PERIOD_MS
			     : -1);
		if (fds[0].revents &&
		    read(fs->watch_fd, &count, sizeof(count)) < 0)
			continue;
	}
	return NULL;
}

int fs_status_start(struct fs *fs)
{
	pthread_mutex_init(&fs->watch_lock, NULL);
	pthread_mutex_init(&fs->error_lock, NULL);
	pthread_mutex_init(&fs->print_lock, NULL);
	fs->watch_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return fs->watch_fd < 0 ? -errno : 0;
}

int fs_status_watch(struct fs *fs)
{
	int ret = -pthread_create(&fs->watch_thread, NULL, watch_thread, fs);

	fs->is_watching = !ret;
	return ret;
}

void fs_status_stop(struct fs *fs)
{
	__atomic_store_n(&fs->is_stopping, true, __ATOMIC_RELEASE);
	watch_kick(fs);
	if (fs->is_watching)
		pthread_join(fs->watch_thread, NULL);
	close(fs->watch_fd);
	pthread_mutex_destroy(&fs->print_lock);
	pthread_mutex_destroy(&fs->watch_lock);
	pthread_mutex_destroy(&fs->error_lock);
}
