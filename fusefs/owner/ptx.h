/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which kernels a PTX text holds and what arguments they take: pure.
 *
 * The driver reads as many arguments as a kernel has, whether they were given
 * or not, and drivers of a K80's age cannot be asked how many that is.
 */
#ifndef OWNER_PTX_H
#define OWNER_PTX_H

#include <stddef.h>

#define PTX_MAX_KERNELS 32
#define PTX_MAX_PARAMS  16
#define PTX_NAME_LEN    64

enum ptx_type {
	PTX_OTHER, /* a structure, or a size that no argument has */
	PTX_INT32,
	PTX_INT64,
	PTX_FLOAT32,
	PTX_FLOAT64,
};

/**
 * struct ptx_kernel - an .entry of a text
 * @n_params: may be more than PTX_MAX_PARAMS; @params has the first of them
 */
struct ptx_kernel {
	char name[PTX_NAME_LEN];
	unsigned int n_params;
	enum ptx_type params[PTX_MAX_PARAMS];
};

/**
 * ptx_kernels() - list the kernels of a text
 * @text:    of @len bytes, not NUL-terminated; anything
 * @kernels: out: PTX_MAX_KERNELS entries
 *
 * A name that is too long and kernels beyond the last entry are left out. The
 * text need not be right: the driver's compiler says whether it is.
 *
 * Return: how many.
 */
unsigned int ptx_kernels(const char *text, size_t len,
			 struct ptx_kernel *kernels);

#endif /* OWNER_PTX_H */
