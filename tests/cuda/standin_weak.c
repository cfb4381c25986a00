/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Modules and launches for a build without standin_run.c: this stand-in can
 * then hold memory and copy, and says so when it is asked to compute.
 */
#include "standin.h"

#pragma weak cuModuleLoadDataEx
#pragma weak cuModuleUnload
#pragma weak cuModuleGetFunction
#pragma weak cuLaunchKernel

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image,
			    unsigned int n_options, int *options, void **values)
{
	ENTER(cuModuleLoadDataEx);
	(void)module;
	(void)image;
	(void)n_options;
	(void)options;
	(void)values;
	return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult cuModuleUnload(CUmodule module)
{
	ENTER(cuModuleUnload);
	(void)module;
	return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult cuModuleGetFunction(CUfunction *fn, CUmodule module, const char *name)
{
	ENTER(cuModuleGetFunction);
	(void)fn;
	(void)module;
	(void)name;
	return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult cuLaunchKernel(CUfunction fn, unsigned int grid_x, unsigned int grid_y,
			unsigned int grid_z, unsigned int block_x,
			unsigned int block_y, unsigned int block_z,
			unsigned int shared_bytes, CUstream stream, void **args,
			void **extra)
{
	ENTER(cuLaunchKernel);
	(void)fn;
	(void)grid_x;
	(void)grid_y;
	(void)grid_z;
	(void)block_x;
	(void)block_y;
	(void)block_z;
	(void)shared_bytes;
	(void)stream;
	(void)args;
	(void)extra;
	return CUDA_ERROR_NOT_SUPPORTED;
}
