/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Errors to order, and their names. */
#include "standin.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"

#define ANY_CALL   STANDIN_N_CALLS
#define MAX_ORDERS 64

struct order {
	unsigned int call; /* enum standin_call or ANY_CALL */
	unsigned long after; /* calls that still pass */
	unsigned long times; /* calls that still fail, 0 for ever */
	bool is_endless;
	CUresult error;
};

static const char *const call_names[] = {
#define STANDIN_NAME(name, args) #name,
	CUDA_CALLS(STANDIN_NAME) CUDA_CALLS_VMM(STANDIN_NAME)
		STANDIN_CALLS(STANDIN_NAME)
#undef STANDIN_NAME
			"*"
};

static struct {
	pthread_mutex_t lock; /* guards all below */
	bool is_started;
	pid_t user; /* who called cuInit */
	CUresult spoilt; /* what every call gives */
	unsigned int n_orders;
	struct order orders[MAX_ORDERS];
} fault = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void complain(const char *order)
{
	fprintf(stderr, "stand-in libcuda: bad order '%s'\n", order);
	abort();
}

static void add_order_locked(char *text)
{
	struct order o = { .times = 1 };
	char *save, *name = strtok_r(text, ":", &save);
	char *n = strtok_r(NULL, ":", &save), *err = strtok_r(NULL, ":", &save);
	char *times = strtok_r(NULL, ":", &save);

	if (!name || !n || !err || fault.n_orders == MAX_ORDERS)
		complain(text);
	while (o.call <= ANY_CALL && strcmp(call_names[o.call], name))
		o.call++;
	o.after = strtoul(n, NULL, 10);
	o.error = (CUresult)strtol(err, NULL, 10);
	if (times)
		o.times = strtoul(times, NULL, 10);
	o.is_endless = !o.times;
	if (o.call > ANY_CALL || !o.after)
		complain(text);
	o.after--;
	fault.orders[fault.n_orders++] = o;
}

static void add_orders_locked(const char *text)
{
	char *copy = strdup(text), *save;

	for (char *o = strtok_r(copy, ", \n", &save); o;
	     o = strtok_r(NULL, ", \n", &save))
		add_order_locked(o);
	free(copy);
}

static void read_orders_locked(const char *path)
{
	char text[4096];
	FILE *f = fopen(path, "re");
	size_t n;

	if (!f)
		return;
	n = fread(text, 1, sizeof(text) - 1, f);
	text[n] = '\0';
	fclose(f);
	unlink(path);
	fault.n_orders = 0;
	add_orders_locked(text);
}

static CUresult next_error_locked(unsigned int call)
{
	for (unsigned int i = 0; i < fault.n_orders; i++) {
		struct order *o = &fault.orders[i];

		if (o->call != call && o->call != ANY_CALL)
			continue;
		if (o->after) {
			o->after--;
			continue;
		}
		if (o->is_endless)
			return o->error;
		if (!o->times)
			continue;
		o->times--;
		return o->error;
	}
	return CUDA_SUCCESS;
}

void standin_spoil(CUresult err)
{
	pthread_mutex_lock(&fault.lock);
	fault.spoilt = err;
	pthread_mutex_unlock(&fault.lock);
}

CUresult standin_enter(enum standin_call call)
{
	const char *path = getenv("STANDIN_ORDERS");
	const char *orders = getenv("STANDIN_FAIL");
	CUresult err;

	pthread_mutex_lock(&fault.lock);
	if (!fault.is_started && orders)
		add_orders_locked(orders);
	fault.is_started = true;
	if (path)
		read_orders_locked(path);
	err = next_error_locked(call);
	if (!err && call == CALL_cuInit)
		fault.user = fault.user ? fault.user : getpid();
	/* what a fork leaves of a context is of no use */
	if (!err && fault.user != getpid() && call != CALL_cuGetErrorName &&
	    call != CALL_cuDriverGetVersion)
		err = CUDA_ERROR_NOT_INITIALIZED;
	if (!err && call != CALL_cuGetErrorName)
		err = fault.spoilt;
	pthread_mutex_unlock(&fault.lock);
	return err;
}

static const struct {
	CUresult err;
	const char *name;
} names[] = {
	{ CUDA_SUCCESS, "CUDA_SUCCESS" },
	{ CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE" },
	{ CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY" },
	{ CUDA_ERROR_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED" },
	{ CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE" },
	{ CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE" },
	{ CUDA_ERROR_INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE" },
	{ CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT" },
	{ CUDA_ERROR_ECC, "CUDA_ERROR_ECC_UNCORRECTABLE" },
	{ CUDA_ERROR_INVALID_PTX, "CUDA_ERROR_INVALID_PTX" },
	{ CUDA_ERROR_OPERATING_SYSTEM, "CUDA_ERROR_OPERATING_SYSTEM" },
	{ CUDA_ERROR_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE" },
	{ CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND" },
	{ CUDA_ERROR_NOT_READY, "CUDA_ERROR_NOT_READY" },
	{ CUDA_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS" },
	{ CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
	  "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED" },
	{ CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED,
	  "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED" },
	{ CUDA_ERROR_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED" },
	{ CUDA_ERROR_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED" },
	{ CUDA_ERROR_UNKNOWN, "CUDA_ERROR_UNKNOWN" },
};

CUresult cuGetErrorName(CUresult err, const char **name)
{
	ENTER(cuGetErrorName);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (names[i].err != err)
			continue;
		*name = names[i].name;
		return CUDA_SUCCESS;
	}
	*name = NULL;
	return CUDA_ERROR_INVALID_VALUE;
}
