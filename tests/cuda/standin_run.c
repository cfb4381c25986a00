/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Modules and launches: no PTX is run, a kernel is known by its name.
 *
 * k80_add, k80_fill and k80_scale are the project's (fusefs/owner/kernels.h),
 * `square` (in, out, u32 n) is a module of a user, `crash` (no argument) spoils
 * its stream as an access to a bad address does, and with STANDIN_SPOILS the
 * whole process, as real drivers do. A step of k80_add's delay loop takes
 * STANDIN_STEP_NS (1).
 */
#include "standin.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/util.h"

#define MAX_ARGS      5
#define MAX_PER_BLOCK 1024 /* threads */
#define MAX_GRID_YZ   65535
#define MAX_SHARED    49152 /* bytes, of a kernel that was not told otherwise */
#define BAD_ADDRESS   64 /* in no allocation */

/**
 * struct run - a launch under way
 * @args: as they were when it was launched
 */
struct run {
	struct standin_work work;
	const struct kernel *kernel;
	int device;
	uint64_t args[MAX_ARGS];
};

/**
 * struct kernel - what a name does
 * @bytes: of each argument, 0 behind the last
 */
struct kernel {
	const char *name;
	size_t bytes[MAX_ARGS];
	CUresult (*run)(const struct run *r);
};

struct CUmod_st {
	char *text;
};

struct CUfunc_st {
	const struct kernel *kernel; /* immutable */
};

static const float *from(const struct run *r, unsigned int arg, uint64_t n)
{
	return standin_mem(r->device, r->args[arg], n * sizeof(float));
}

static float *to(const struct run *r, unsigned int arg, uint64_t n)
{
	return standin_mem_to(r->device, r->args[arg], n * sizeof(float));
}

static float float_of(uint64_t bits)
{
	uint32_t low = (uint32_t)bits;
	float f;

	memcpy(&f, &low, sizeof(f));
	return f;
}

static void sleep_ns(uint64_t ns)
{
	struct timespec ts = { .tv_sec = (time_t)(ns / NSEC_PER_SEC),
			       .tv_nsec = (long)(ns % NSEC_PER_SEC) };

	if (ns)
		nanosleep(&ts, NULL);
}

static CUresult run_add(const struct run *r)
{
	const char *step = getenv("STANDIN_STEP_NS");
	const float *in = from(r, 0, r->args[2]);
	float *out = to(r, 1, r->args[2]);

	if (!in || !out)
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	sleep_ns(r->args[4] * (step ? strtoul(step, NULL, 10) : 1));
	for (uint64_t i = 0; i < r->args[2]; i++)
		out[i] = in[i] + (float)r->args[3];
	return CUDA_SUCCESS;
}

static CUresult run_fill(const struct run *r)
{
	float *out = to(r, 0, r->args[1]);

	if (!out)
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	for (uint64_t i = 0; i < r->args[1]; i++)
		out[i] = float_of(r->args[2]);
	return CUDA_SUCCESS;
}

static CUresult run_scale(const struct run *r)
{
	const float *in = from(r, 0, r->args[2]);
	float *out = to(r, 1, r->args[2]);

	if (!in || !out)
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	for (uint64_t i = 0; i < r->args[2]; i++)
		out[i] = in[i] * float_of(r->args[3]);
	return CUDA_SUCCESS;
}

static CUresult run_square(const struct run *r)
{
	const float *in = from(r, 0, r->args[2]);
	float *out = to(r, 1, r->args[2]);

	if (!in || !out)
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	for (uint64_t i = 0; i < r->args[2]; i++)
		out[i] = in[i] * in[i];
	return CUDA_SUCCESS;
}

static CUresult run_crash(const struct run *r)
{
	(void)r;
	return CUDA_ERROR_ILLEGAL_ADDRESS;
}

static const struct kernel known[] = {
	{ "k80_add", { 8, 8, 4, 4, 8 }, run_add },
	{ "k80_fill", { 8, 4, 4 }, run_fill },
	{ "k80_scale", { 8, 8, 4, 4 }, run_scale },
	{ "square", { 8, 8, 4 }, run_square },
	{ "crash", { 0 }, run_crash },
};

/* As much of a compiler as tells PTX from anything else. */
static const char *complaint(const char *text)
{
	int depth = 0;

	while (isspace((unsigned char)*text))
		text++;
	if (strncmp(text, ".version", strlen(".version")) != 0)
		return "Missing .version directive at start of file";
	if (!strstr(text, ".target"))
		return "Missing .target directive";
	for (; *text && depth >= 0; text++)
		depth += *text == '{' ? 1 : *text == '}' ? -1 : 0;
	return depth ? "Parsing error near '}': syntax error" : NULL;
}

static void report(const char *what, unsigned int n_options, const int *options,
		   void **values)
{
	size_t len = 0;
	char *log = NULL;

	for (unsigned int i = 0; i < n_options; i++) {
		if (options[i] == CU_JIT_ERROR_LOG_BUFFER)
			log = values[i];
		if (options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
			len = (size_t)(uintptr_t)values[i];
	}
	if (log && len)
		snprintf(log, len,
			 "ptxas application ptx input, line 1; fatal   : %s\n"
			 "ptxas fatal   : Ptx assembly aborted due to errors\n",
			 what);
}

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image,
			    unsigned int n_options, int *options, void **values)
{
	const char *what;

	ENTER_TOUCH(cuModuleLoadDataEx, ctx);
	(void)ctx;
	what = complaint(image);
	if (what) {
		report(what, n_options, options, values);
		return CUDA_ERROR_INVALID_PTX;
	}
	*module = calloc(1, sizeof(**module));
	(*module)->text = strdup(image);
	return CUDA_SUCCESS;
}

CUresult cuModuleUnload(CUmodule module)
{
	ENTER_TOUCH(cuModuleUnload, ctx);
	(void)ctx;
	free(module->text);
	free(module);
	return CUDA_SUCCESS;
}

/* Whether the text has ".entry NAME". */
static bool has_entry(const char *text, const char *name)
{
	static const char key[] = ".entry";
	size_t len = strlen(name);

	while ((text = strstr(text, key))) {
		text += strlen(key);
		while (isspace((unsigned char)*text))
			text++;
		if (!strncmp(text, name, len) &&
		    !isalnum((unsigned char)text[len]) && text[len] != '_')
			return true;
	}
	return false;
}

CUresult cuModuleGetFunction(CUfunction *fn, CUmodule module, const char *name)
{
	/* one for every module that has a kernel of this name */
	static struct CUfunc_st functions[] = {
		{ &known[0] }, { &known[1] }, { &known[2] },
		{ &known[3] }, { &known[4] },
	};

	_Static_assert(ARRAY_SIZE(functions) == ARRAY_SIZE(known), "");
	ENTER_CTX(cuModuleGetFunction, ctx);
	(void)ctx;
	if (!has_entry(module->text, name))
		return CUDA_ERROR_NOT_FOUND;
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		if (strcmp(known[i].name, name) != 0)
			continue;
		*fn = &functions[i];
		return CUDA_SUCCESS;
	}
	return CUDA_ERROR_NOT_SUPPORTED;
}

static CUresult launch_run(struct standin_work *work)
{
	const struct run *r = (const struct run *)work;
	CUresult err = r->kernel->run(r);

	standin_ended(r->device);
	if (err && getenv("STANDIN_SPOILS"))
		standin_spoil(err);
	return err;
}

static void launch_free(struct standin_work *work)
{
	free(work);
}

/* Whether STANDIN_STRAY names the device. */
static bool is_astray(int device)
{
	const char *path = getenv("STANDIN_STRAY");
	FILE *f = path ? fopen(path, "re") : NULL;
	bool is_named = false;
	char bdf[32];

	while (f && !is_named && fscanf(f, "%31s", bdf) == 1)
		is_named = !strcmp(bdf, standin_bdf(device));
	if (f)
		fclose(f);
	return is_named;
}

CUresult cuLaunchKernel(CUfunction fn, unsigned int grid_x, unsigned int grid_y,
			unsigned int grid_z, unsigned int block_x,
			unsigned int block_y, unsigned int block_z,
			unsigned int shared_bytes, CUstream stream, void **args,
			void **extra)
{
	uint64_t n_threads = (uint64_t)block_x * block_y * block_z;
	const struct kernel *k = fn->kernel;
	struct run *r;
	CUresult err;

	ENTER_TOUCH(cuLaunchKernel, ctx);
	(void)extra;
	if (!n_threads || n_threads > MAX_PER_BLOCK || !grid_x || !grid_y ||
	    !grid_z || grid_y > MAX_GRID_YZ || grid_z > MAX_GRID_YZ ||
	    shared_bytes > MAX_SHARED)
		return CUDA_ERROR_INVALID_VALUE;
	r = calloc(1, sizeof(*r));
	r->work.run = launch_run;
	r->work.free = launch_free;
	r->kernel = k;
	r->device = ctx->device;
	for (unsigned int i = 0; i < MAX_ARGS && k->bytes[i]; i++)
		memcpy(&r->args[i], args[i], k->bytes[i]);
	if (is_astray(ctx->device))
		r->args[0] = BAD_ADDRESS;
	err = standin_post(ctx, stream, &r->work);
	if (err)
		free(r);
	return err;
}
