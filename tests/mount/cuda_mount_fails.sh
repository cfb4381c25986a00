#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A CUDA device that cannot be had: exit code not 0, one clear line on stderr
. "$(dirname "$0")/lib.sh"
mkdir "$W/a"

refused() {
	local text=$1
	shift
	if "$@" >"$W/out" 2>"$W/err"; then
		umount "$W/a"
		fail "mounted: $*"
	fi
	grep -qF -- "$text" "$W/err" ||
		fail "wanted '$text' from: $*; got: $(cat "$W/err")"
	expect_equal "$(wc -l <"$W/err")" 1 "lines on stderr of: $*"
	expect_equal "$(daemon_pids "$W/a")" "" "daemons left"
}
cuda=("$K80FS" -o "backend=cuda,cuda_vram=16M" "$W/a")

[ "${K80_LIBCUDA:-}" = real ] || use_standin STANDIN_DEVICES=2
refused "give less with -o cuda_vram=SIZE" \
	"$K80FS" -o backend=cuda,cuda_vram=4096G "$W/a"
use_standin
refused "cannot allocate 1024 MiB of memory, 256 of 256 MiB are free: CUDA_ERROR_OUT_OF_MEMORY" \
	"$K80FS" -o backend=cuda,cuda_vram=1G "$W/a"
refused CUDA_ERROR_NO_DEVICE env STANDIN_DEVICES=0 "${cuda[@]}"
mkdir "$W/nothing"
if ! ldconfig -p | grep -q libcuda.so.1; then
	refused "libcuda.so.1" env LD_LIBRARY_PATH="$W/nothing" "${cuda[@]}"
fi
# a library without the entry points
echo 'int cuInit(unsigned int flags); int cuInit(unsigned int flags) { return (int)flags; }' |
	gcc -shared -fPIC -x c -o "$W/nothing/libcuda.so.1" -
refused "has no cuDriverGetVersion" env LD_LIBRARY_PATH="$W/nothing" "${cuda[@]}"

# each entry point of the way to a mount, at the first device and the second
for call in cuInit cuDriverGetVersion cuDeviceGetCount cuDeviceGet \
	cuDeviceGetName cuDeviceGetPCIBusId cuCtxCreate_v2 cuMemGetInfo_v2 \
	cuMemsetD8_v2 cuCtxSynchronize; do
	refused CUDA_ERROR_UNKNOWN env STANDIN_FAIL=$call:1:999 "${cuda[@]}"
done
for call in cuDeviceGet cuCtxCreate_v2 cuMemGetInfo_v2 cuMemCreate \
	cuMemsetD8_v2; do
	refused CUDA_ERROR_OUT_OF_MEMORY env STANDIN_FAIL=$call:2:2 "${cuda[@]}"
done
# its name is asked for too
refused "CUDA error 999" env \
	STANDIN_FAIL=cuMemsetD8_v2:1:999,cuGetErrorName:1:1 "${cuda[@]}"

# where memory cannot be mapped by itself it is an ordinary allocation
plain=cuMemAlloc_v2:1:999
for call in cuDeviceGetAttribute cuMemGetAllocationGranularity \
	cuMemAddressReserve cuMemCreate cuMemExportToShareableHandle cuMemMap \
	cuMemSetAccess; do
	refused CUDA_ERROR_UNKNOWN env STANDIN_FAIL=$call:1:801,$plain "${cuda[@]}"
	STANDIN_FAIL=$call:1:801 mount_at "$W/a" backend=cuda,cuda_vram=16M
	t "$W/a/die0/vram" rw same,0,16M,0 pwrite,1M,64K,7 same,1M,64K,7
	unmount "$W/a"
done
# a driver without these calls
mkdir "$W/old"
for name in cuMemCreate cuMemMap cuDeviceGetUuid_v2; do
	sed "s/$name/${name%?}_/g" "$K80_LIBCUDA/libcuda.so.1" >"$W/old/libcuda.so.1"
	refused CUDA_ERROR_UNKNOWN env LD_LIBRARY_PATH="$W/old" \
		STANDIN_FAIL=$plain "${cuda[@]}"
	LD_LIBRARY_PATH=$W/old mount_at "$W/a" backend=cuda,cuda_vram=16M
	t "$W/a/die0/vram" rw same,0,16M,0 pwrite,1M,64K,7 same,1M,64K,7
	unmount "$W/a"
done

# nothing is taken that nobody asked for
use_standin STANDIN_DEVICES=2
for text in "0000:3a:00.0 has 256 of 256 MiB free, 0000:3b:00.0 has" \
	cuda_vram=8G cuda_vram=max "or mem for files" cuda_devices=; do
	refused "$text" "$K80FS" -o backend=cuda "$W/a"
done
refused "0000:3b:00.0 has 256" "$K80FS" -o backend=cuda,cuda_devices=1 "$W/a"
refused " more: -o cuda_vram" env STANDIN_DEVICES=16 "$K80FS" -o backend=cuda "$W/a"
refused CUDA_ERROR_UNKNOWN env STANDIN_FAIL=cuMemGetInfo_v2:2:999 \
	"$K80FS" -o backend=cuda "$W/a"
for list in 2 -1 1+2 4a:00.0 3b:00 GPU-303030303a33413a30302e3000000000a \
	GPU-303030303a33413a30302e30 x "0+"; do
	refused "no device '" "$K80FS" \
		-o "backend=cuda,cuda_vram=16M,cuda_devices=$list" "$W/a"
done
