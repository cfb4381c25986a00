#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A write that fails after it was answered: the next write, fsync or close of
# each file that wrote says so, once; last_error says what it was
. "$(dirname "$0")/lib.sh"
use_standin "STANDIN_ORDERS=$W/orders"
DIES=1 VRAM=16M mount_cuda
f=$(die 0)/vram
t "$f" rw pwrite,0,1M,1 pread,0,1M fsync

# gathered, so the order below is for when it goes out; both files wrote
exec 5<>"$f"
t fd:5 - pwrite,8M,4K,1 fsync
cuda_order cuMemcpyHtoDAsync_v2:1:2
t "$f" rw pwrite,1M,4K,2 fsync:EIO fsync
[[ $(status 0 last_error) == *"that was answered: CUDA_ERROR_OUT_OF_MEMORY" ]] ||
	fail "last_error is $(status 0 last_error)"
expect_status 0 alive 1
t fd:5 - pwrite,8M,4K,1:EIO pwrite,8M,4K,2 fsync
# who opens after it has nothing to hear, and the bytes did not arrive
t "$f" rw same,1M,4K,0 pwrite,1M,4K,1 fsync
exec 5>&-

# found by a read of the range, told at the next write
cuda_order cuMemcpyHtoDAsync_v2:1:2
t "$f" rw pwrite,2M,4K,2 same,2M,4K,0 pwrite,2M,4K,3:EIO pwrite,2M,4K,3 \
	fsync same,2M,4K,3
# by close
cuda_order cuMemcpyHtoDAsync_v2:1:2
t "$f" rw pwrite,3M,4K,4 close:EIO
# with O_SYNC, at the write itself
cuda_order cuMemcpyHtoDAsync_v2:1:2
t "$f" rw+sync pwrite,4M,4K,5:EIO pwrite,4M,4K,5 same,4M,4K,5
# on its way already
cuda_order cuStreamQuery:1:2
t "$f" rw pwrite,5M,1M,5 fsync:EIO pwrite,5M,1M,6 fsync same,5M,1M,6
# and without a file: whoever flushes by ctl
mkfifo "$W/fifo"
cuda_order cuMemcpyHtoDAsync_v2:1:2
t "$f" rw pwrite,6M,4K,5 say,written hear close:EIO <"$W/fifo" >"$W/said" &
exec 6>"$W/fifo"
until [ -s "$W/said" ]; do sleep 0.02; done
t "$(die 0)/ctl" w "puts,flush:EIO" "puts,flush\n"
echo on >&6
wait $!
exec 6>&-
