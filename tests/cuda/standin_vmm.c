/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory that is made, mapped and given away apart from one another.
 *
 * A piece is a file in memory, whose descriptor is what is exported; a range of
 * addresses is a mapping that nobody can touch, into which pieces are mapped.
 * What is refused is what the vendor's library was seen to refuse, and what its
 * reference calls wrong.
 */
#include "standin.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"

#define UNIT (2 * MIB)

/**
 * struct piece - memory of a device
 * @handles: 1 until cuMemRelease(); @places: where it is mapped
 */
struct piece {
	struct piece *next;
	int device;
	size_t len;
	int fd;
	bool can_export;
	bool has_handle;
	unsigned int places;
};

/**
 * struct place - a piece, mapped
 * @may: what each device may do with it
 */
struct place {
	char *mem;
	size_t len;
	struct piece *piece;
	uint8_t may[STANDIN_MAX_DEVICES];
};

struct range {
	struct range *next;
	char *mem;
	size_t len;
};

static struct {
	pthread_mutex_t lock; /* guards all below */
	struct piece *pieces;
	struct range *ranges;
	struct place *places; /* by address */
	size_t n_places, room;
} vmm = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Held by who copies, so that no piece is taken away under the copying. */
static pthread_rwlock_t copying =
	PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;

void standin_copy_begin(void)
{
	pthread_rwlock_rdlock(&copying);
}

void standin_copy_end(void)
{
	pthread_rwlock_unlock(&copying);
}

static char *untagged(CUdeviceptr ptr)
{
	return ptr & STANDIN_TAG ? (char *)(ptr & ~STANDIN_TAG) : NULL;
}

static struct range *range_locked(const char *mem, size_t len)
{
	struct range *r = vmm.ranges;

	while (r && (mem < r->mem || mem > r->mem + r->len ||
		     len > (size_t)(r->mem + r->len - mem)))
		r = r->next;
	return mem ? r : NULL;
}

/* The first place that ends behind @mem. */
static size_t find_locked(const char *mem)
{
	size_t low = 0, high = vmm.n_places;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (vmm.places[mid].mem + vmm.places[mid].len <= mem)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/*
 * The places that [@mem, @mem + @len) lies in, one behind the other and without
 * a hole; with @is_exact it is the whole of them. 0: it does not.
 */
static size_t cover_locked(const char *mem, size_t len, bool is_exact,
			   size_t *first)
{
	size_t at = *first = find_locked(mem);
	const char *end = mem + len, *here = mem;

	if (!mem || !len || at == vmm.n_places || vmm.places[at].mem > mem ||
	    (is_exact && vmm.places[at].mem != mem))
		return 0;
	for (; at < vmm.n_places && here < end; at++) {
		const struct place *p = &vmm.places[at];

		if (at > *first && p->mem != here)
			return 0;
		here = p->mem + p->len;
	}
	return here < end || (is_exact && here != end) ? 0 : at - *first;
}

bool standin_is_mapped(CUdeviceptr ptr)
{
	bool is_ours;

	pthread_mutex_lock(&vmm.lock);
	is_ours = range_locked(untagged(ptr), 0);
	pthread_mutex_unlock(&vmm.lock);
	return is_ours;
}

void *standin_mapped(int device, CUdeviceptr ptr, size_t len, int access)
{
	char *mem = untagged(ptr);
	size_t first, n;

	pthread_mutex_lock(&vmm.lock);
	n = cover_locked(mem, len, false, &first);
	for (size_t i = first; i < first + n; i++)
		if (access & ~vmm.places[i].may[device])
			mem = NULL;
	pthread_mutex_unlock(&vmm.lock);
	return n ? mem : NULL;
}

CUresult cuDeviceGetUuid_v2(struct cuda_uuid *uuid, CUdevice dev)
{
	ENTER(cuDeviceGetUuid_v2);
	if (dev < 0 || dev >= standin_count())
		return CUDA_ERROR_INVALID_DEVICE;
	memset(uuid, 0, sizeof(*uuid));
	strncpy((char *)uuid->bytes, standin_bdf(dev), sizeof(uuid->bytes) - 1);
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice dev)
{
	ENTER(cuDeviceGetAttribute);
	if (dev < 0 || dev >= standin_count())
		return CUDA_ERROR_INVALID_DEVICE;
	*value = attribute ==
			 CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED ||
		 attribute == CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FD_SUPPORTED;
	return CUDA_SUCCESS;
}

static CUresult check_prop(const struct cuda_alloc_prop *prop)
{
	if (prop->type != CU_MEM_ALLOCATION_TYPE_PINNED ||
	    prop->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
		return CUDA_ERROR_INVALID_VALUE;
	if (prop->location.id < 0 || prop->location.id >= standin_count())
		return CUDA_ERROR_INVALID_DEVICE;
	return prop->handle_types & ~CU_MEM_HANDLE_TYPE_POSIX_FD
		       ? CUDA_ERROR_NOT_SUPPORTED
		       : CUDA_SUCCESS;
}

CUresult cuMemGetAllocationGranularity(size_t *unit,
				       const struct cuda_alloc_prop *prop,
				       int option)
{
	CUresult err;

	ENTER(cuMemGetAllocationGranularity);
	err = check_prop(prop);
	*unit = UNIT;
	return err           ? err
	       : option & ~1 ? CUDA_ERROR_INVALID_VALUE
			     : CUDA_SUCCESS;
}

static bool is_whole(uint64_t value)
{
	return !(value % UNIT);
}

static void *no_memory(void *where, size_t len)
{
	return mmap(where, len, PROT_NONE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
			    (where ? MAP_FIXED : 0),
		    -1, 0);
}

CUresult cuMemAddressReserve(CUdeviceptr *ptr, size_t len, size_t align,
			     CUdeviceptr wanted, unsigned long long flags)
{
	size_t extra;
	struct range *r;
	char *mem;

	ENTER(cuMemAddressReserve);
	(void)wanted;
	if (!len || !is_whole(len) || align & (align - 1) || flags)
		return CUDA_ERROR_INVALID_VALUE;
	align = MAX(align, UNIT);
	mem = no_memory(NULL, len + align);
	if (mem == MAP_FAILED)
		return CUDA_ERROR_OUT_OF_MEMORY;
	extra = -(uintptr_t)mem & (align - 1);
	if (extra)
		munmap(mem, extra);
	munmap(mem + extra + len, align - extra);
	r = calloc(1, sizeof(*r));
	r->mem = mem + extra;
	r->len = len;
	pthread_mutex_lock(&vmm.lock);
	r->next = vmm.ranges;
	vmm.ranges = r;
	pthread_mutex_unlock(&vmm.lock);
	*ptr = (uintptr_t)r->mem | STANDIN_TAG;
	return CUDA_SUCCESS;
}

static struct range *take_range_locked(const char *mem, size_t len)
{
	size_t at = find_locked(mem);

	if (at < vmm.n_places && vmm.places[at].mem < mem + len)
		return NULL;
	for (struct range **p = &vmm.ranges; *p; p = &(*p)->next) {
		struct range *r = *p;

		if (r->mem != mem || r->len != len)
			continue;
		*p = r->next;
		return r;
	}
	return NULL;
}

CUresult cuMemAddressFree(CUdeviceptr ptr, size_t len)
{
	struct range *r;

	ENTER(cuMemAddressFree);
	pthread_mutex_lock(&vmm.lock);
	r = take_range_locked(untagged(ptr), len);
	pthread_mutex_unlock(&vmm.lock);
	if (!r)
		return CUDA_ERROR_INVALID_VALUE;
	munmap(r->mem, r->len);
	free(r);
	return CUDA_SUCCESS;
}

static CUmemHandle add_piece(int device, size_t len, int fd, bool can_export)
{
	struct piece *p = calloc(1, sizeof(*p));

	p->device = device;
	p->len = len;
	p->fd = fd;
	p->can_export = can_export;
	p->has_handle = true;
	pthread_mutex_lock(&vmm.lock);
	p->next = vmm.pieces;
	vmm.pieces = p;
	pthread_mutex_unlock(&vmm.lock);
	return (uintptr_t)p;
}

static struct piece *piece_locked(CUmemHandle handle)
{
	struct piece *p = vmm.pieces;

	while (p && (p != (struct piece *)(uintptr_t)handle || !p->has_handle))
		p = p->next;
	return p;
}

static void put_piece_locked(struct piece *piece)
{
	struct piece **p = &vmm.pieces;

	if (piece->has_handle || piece->places)
		return;
	while (*p != piece)
		p = &(*p)->next;
	*p = piece->next;
	standin_give(piece->device, piece->len, piece->fd);
	free(piece);
}

CUresult cuMemCreate(CUmemHandle *handle, size_t len,
		     const struct cuda_alloc_prop *prop, unsigned long long flags)
{
	CUresult err;
	char *mem;
	int fd;

	ENTER(cuMemCreate);
	err = check_prop(prop);
	if (err)
		return err;
	if (!len || !is_whole(len) || flags)
		return CUDA_ERROR_INVALID_VALUE;
	fd = standin_take(prop->location.id, len);
	if (fd < 0)
		return CUDA_ERROR_OUT_OF_MEMORY;
	mem = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (mem == MAP_FAILED)
		abort();
	standin_dirty(mem, len);
	munmap(mem, len);
	*handle = add_piece(prop->location.id, len, fd,
			    prop->handle_types & CU_MEM_HANDLE_TYPE_POSIX_FD);
	return CUDA_SUCCESS;
}

CUresult cuMemRelease(CUmemHandle handle)
{
	struct piece *p;

	ENTER(cuMemRelease);
	pthread_mutex_lock(&vmm.lock);
	p = piece_locked(handle);
	if (p) {
		p->has_handle = false;
		put_piece_locked(p);
	}
	pthread_mutex_unlock(&vmm.lock);
	return p ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static bool insert_locked(char *mem, size_t len, struct piece *piece)
{
	size_t at = find_locked(mem);

	if (!range_locked(mem, len) ||
	    (at < vmm.n_places && vmm.places[at].mem < mem + len))
		return false;
	if (vmm.n_places == vmm.room) {
		vmm.room = vmm.room ? 2 * vmm.room : 64;
		vmm.places = realloc(vmm.places, vmm.room * sizeof(*vmm.places));
	}
	memmove(&vmm.places[at + 1], &vmm.places[at],
		(vmm.n_places - at) * sizeof(*vmm.places));
	vmm.places[at] = (struct place){ mem, len, piece, { 0 } };
	vmm.n_places++;
	piece->places++;
	return true;
}

CUresult cuMemMap(CUdeviceptr ptr, size_t len, size_t off, CUmemHandle handle,
		  unsigned long long flags)
{
	char *mem = untagged(ptr);
	struct piece *p;
	bool is_in;

	ENTER(cuMemMap);
	if (!mem || !is_whole(ptr & ~STANDIN_TAG) || off || flags)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&vmm.lock);
	p = piece_locked(handle);
	is_in = p && p->len == len && insert_locked(mem, len, p);
	if (is_in && mmap(mem, len, PROT_NONE, MAP_SHARED | MAP_FIXED, p->fd,
			  0) == MAP_FAILED)
		abort();
	pthread_mutex_unlock(&vmm.lock);
	return is_in ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static void remove_locked(size_t first, size_t n)
{
	for (size_t i = first; i < first + n; i++) {
		struct place *p = &vmm.places[i];

		if (no_memory(p->mem, p->len) == MAP_FAILED)
			abort();
		p->piece->places--;
		put_piece_locked(p->piece);
	}
	memmove(&vmm.places[first], &vmm.places[first + n],
		(vmm.n_places - first - n) * sizeof(*vmm.places));
	vmm.n_places -= n;
}

CUresult cuMemUnmap(CUdeviceptr ptr, size_t len)
{
	size_t first, n;

	ENTER(cuMemUnmap);
	pthread_rwlock_wrlock(&copying);
	pthread_mutex_lock(&vmm.lock);
	n = cover_locked(untagged(ptr), len, true, &first);
	remove_locked(first, n);
	pthread_mutex_unlock(&vmm.lock);
	pthread_rwlock_unlock(&copying);
	return n ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemSetAccess(CUdeviceptr ptr, size_t len,
			const struct cuda_access *access, size_t n)
{
	CUresult err = CUDA_SUCCESS;
	size_t first, n_places;

	ENTER(cuMemSetAccess);
	for (size_t i = 0; i < n; i++)
		if (access[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
		    (access[i].flags != CU_MEM_ACCESS_READ &&
		     access[i].flags != CU_MEM_ACCESS_READWRITE))
			return CUDA_ERROR_INVALID_VALUE;
		else if (access[i].location.id < 0 ||
			 access[i].location.id >= standin_count())
			return CUDA_ERROR_INVALID_DEVICE;
	pthread_mutex_lock(&vmm.lock);
	n_places = cover_locked(untagged(ptr), len, true, &first);
	if (!n_places || !n)
		err = CUDA_ERROR_INVALID_VALUE;
	for (size_t i = first; !err && i < first + n_places; i++) {
		struct place *p = &vmm.places[i];

		for (size_t k = 0; k < n; k++)
			p->may[access[k].location.id] = (uint8_t)access[k].flags;
		if (mprotect(p->mem, p->len, PROT_READ | PROT_WRITE))
			abort();
	}
	pthread_mutex_unlock(&vmm.lock);
	return err;
}

CUresult cuMemExportToShareableHandle(void *fd, CUmemHandle handle, int type,
				      unsigned long long flags)
{
	CUresult err = CUDA_ERROR_INVALID_VALUE;
	struct piece *p;
	int copy;

	ENTER(cuMemExportToShareableHandle);
	pthread_mutex_lock(&vmm.lock);
	p = piece_locked(handle);
	if (p && p->can_export && type == CU_MEM_HANDLE_TYPE_POSIX_FD && !flags) {
		/* open across exec, as nobody promised anything else */
		copy = dup(p->fd);
		err = copy < 0 ? CUDA_ERROR_OPERATING_SYSTEM : CUDA_SUCCESS;
		if (!err)
			*(int *)fd = copy;
	}
	pthread_mutex_unlock(&vmm.lock);
	return err;
}

CUresult cuMemImportFromShareableHandle(CUmemHandle *handle, void *fd, int type)
{
	int device, copy;
	struct stat st;

	ENTER(cuMemImportFromShareableHandle);
	device = standin_device_of((int)(intptr_t)fd);
	if (type != CU_MEM_HANDLE_TYPE_POSIX_FD)
		return CUDA_ERROR_INVALID_VALUE;
	if (device < 0)
		return CUDA_ERROR_UNKNOWN;
	copy = fcntl((int)(intptr_t)fd, F_DUPFD_CLOEXEC, 0);
	if (copy < 0)
		return CUDA_ERROR_OPERATING_SYSTEM;
	if (fstat(copy, &st))
		abort();
	standin_took(device, (size_t)st.st_size);
	*handle = add_piece(device, (size_t)st.st_size, copy, false);
	return CUDA_SUCCESS;
}
