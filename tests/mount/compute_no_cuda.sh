#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Without libcuda, or with one that fails at its start: the tree is there, going
# online says why not, and works once the reason is gone
. "$(dirname "$0")/lib.sh"
need_sim "memory that needs no CUDA"
use_standin
mkdir "$W/empty"
if ! LD_LIBRARY_PATH=$W/empty python3 -c '
import ctypes
ctypes.CDLL("libcuda.so.1")' 2>"$W/log"; then
	LD_LIBRARY_PATH=$W/empty
	VRAM=64M mount_sim compute
	compute_errno 0 ENODEV online
	logged 0 "libcuda.so.1"
	logged 0 "install the vendor's driver"
	expect_compute 0 state offline
	compute_errno 0 ENXIO sync
	t "$(die 0)/vram" rw pwrite,0,10,7 same,0,10,7
	unmount
fi

use_standin "STANDIN_ORDERS=$W/orders"
cuda_order cuInit:1:100
VRAM=64M mount_sim compute
compute_errno 0 ENODEV online
logged 0 "cuInit: CUDA_ERROR_NO_DEVICE"
compute 0 online
compute 0 work 1 2
compute 0 verify
