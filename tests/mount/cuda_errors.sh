#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A CUDA error while mounted: ENOMEM passes; after any other the device is dead,
# and says why; the other devices go on
# timeout: 300
. "$(dirname "$0")/lib.sh"
use_standin "STANDIN_ORDERS=$W/orders"

fresh() {
	[ ${#mounts[@]} = 0 ] || unmount
	DIES=2 VRAM=16M mount_cuda
	f=$(die 0)/vram
	# every worker has its buffers by then, or will not need more
	t "$f" rw pwrite,0,1M,1 pread,0,1M fsync
}

# at once, by the operation that needs the call
for order in cuMemcpyDtoHAsync_v2:r cuMemcpyHtoDAsync_v2:w \
	cuMemsetD8Async:z cuStreamQuery:r cuCtxSetCurrent:r; do
	call=${order%:*}
	fresh
	exec 5<>"$f"
	cuda_order "$call:1:214:0"
	case $order in
	*:r) t fd:5 - pread,2M,128K:EIO ;;
	*:w) t fd:5 - pwrite,2M,128K,1 fsync:EIO ;;
	*:z) t fd:5 - fallocate,zero,2M,128K:EIO ;;
	esac
	cuda_order cuInit:1:1
	t fd:5 - pread,0,1:EIO pwrite,0,1,1:EIO fsync:EIO
	exec 5>&-
	t "$f" r:ENXIO size 2>/dev/null || t "$f" r:ENXIO
	expect_status 0 alive 0
	expect_status 0 state dead
	[[ $(status 0 last_error) == *"die 0"*CUDA_ERROR_ECC_UNCORRECTABLE ]] ||
		fail "$call: last_error is $(status 0 last_error)"
	expect_status 1 alive 1
	if [ "$call" != cuCtxSetCurrent ]; then
		t "$(die 1)/vram" rw pwrite,0,1M,3 fsync same,0,1M,3
	fi
done

# no memory: this request alone
fresh
cuda_order cuMemcpyDtoHAsync_v2:1:2
t "$f" r pread,2M,128K:ENOMEM pread,2M,128K
cuda_order cuMemcpyHtoDAsync_v2:1:2
t "$f" rw pwrite,2M,128K,4 fsync:EIO pwrite,2M,128K,4 same,2M,128K,4
[[ $(status 0 last_error) == *CUDA_ERROR_OUT_OF_MEMORY ]] ||
	fail "last_error is $(status 0 last_error)"
expect_status 0 alive 1

# the buffers themselves: more of them than there are, at once
for call in cuMemAllocHost_v2 cuStreamCreate; do
	unmount
	DIES=1 VRAM=16M mount_cuda
	f=$(die 0)/vram
	cuda_order "$call:1:2:0"
	t "$f" rw pread,0,128K:ENOMEM
	cuda_order cuInit:1:1
	t "$f" rw pwrite,0,128K,2 same,0,128K,2 fsync
	expect_status 0 alive 1
done
