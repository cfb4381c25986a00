#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Kernels on files: they work on the file's bytes, and one that goes astray
# costs its worker, never the memory
. "$(dirname "$0")/lib.sh"
need_cmd python3
DIES=2 VRAM=256M use_mem
export STANDIN_STRAY=$W/stray STANDIN_SPOILS=1
: >"$STANDIN_STRAY"
DIES=2 VRAM=256M mount_mem compute cuda_vram=8M
d=$(mem 0)
c=$(die 0)/compute
n=1048576
total=$(number 0 memory_free)
# part FILE OFF: 4000 bytes of it
part() {
	dd if="$1" bs=4000 count=1 iflag=skip_bytes,fullblock skip="$2" status=none
}
floats "$W/i" "i % 4000"
floats "$W/2i" "2 * (i % 4000)"
floats "$W/4i" "4 * (i % 4000)"

# offline it is ENXIO, whatever is asked for
cp "$W/i" "$d/x"
compute_errno 0 ENXIO "launch k80_scale 64 256 mem:x mem:x u32:$n f32:2"
compute 0 online
for args in mem:none "mem:x+$((4 * n))" "mem:x+99999999999" vram+8388608; do
	case $args in
	mem:none) want=ENOENT ;;
	*) want=EINVAL ;;
	esac
	compute_errno 0 "$want" "launch k80_fill 64 256 $args u32:1 f32:1"
done
: >"$d/empty"
compute_errno 0 ENODATA "launch k80_fill 64 256 mem:empty u32:1 f32:1"
compute_errno 0 EINVAL "launch k80_fill 64 256 u32:1 mem:x f32:1"

# in place, one file to another with a hole, the buffers, part of a file, vram
compute 0 "launch k80_scale 64 256 mem:x mem:x u32:$n f32:2"
compute 0 sync
cmp "$d/x" "$W/2i"
truncate -s $((4 * n)) "$d/y"
compute 0 "launch k80_scale 64 256 mem:x mem:y u32:$n f32:2"
compute 0 sync
cmp "$d/y" "$W/4i"
cat "$W/i" >"$c/in"
compute 0 "launch k80_scale 64 256 in mem:y u32:$n f32:1"
compute 0 "launch k80_scale 64 256 mem:y out u32:$n f32:1"
cmp "$c/out" "$W/i"
compute 0 "launch k80_fill 64 256 mem:y+4000000 u32:1000 f32:0"
compute 0 sync
cmp -n 4000000 "$d/y" "$W/i"
part "$d/y" 4000000 | cmp - <(part /dev/zero 0)
cat "$W/i" >"$(die 0)/vram"
compute 0 "launch k80_scale 64 256 vram vram u32:$n f32:2"
compute 0 "launch k80_scale 64 256 vram+4 vram+$((4 * n)) u32:1000 f32:2"
compute 0 sync
cmp -n $((4 * n)) "$(die 0)/vram" "$W/2i"
part "$(die 0)/vram" $((4 * n)) | cmp - <(part "$W/4i" 4)
# what was cached of the device is not what is read later
compute 0 "launch k80_fill 64 256 vram u32:$n f32:0"
compute 0 sync
cmp -n $((4 * n)) "$(die 0)/vram" /dev/zero

# a file that is cut and grows again has other memory, under one name
truncate -s 0 "$d/x"
cp "$W/i" "$d/x"
compute 0 "launch k80_scale 64 256 mem:x mem:x u32:$n f32:4"
compute 0 sync
cmp "$d/x" "$W/4i"

# removed under a kernel: it ends, then the memory is free
cp "$W/i" "$d/gone"
taken=$(number 0 memory_free)
compute 0 "launch k80_add 64 256 mem:gone mem:gone u32:$n u32:1 u64:500000000"
rm "$d/gone"
[ "$(number 0 memory_free)" -le "$taken" ] || fail "freed under a kernel"
compute 0 sync
has_more() {
	[ "$(number 0 memory_free)" -gt "$taken" ]
}
await has_more || fail "the memory of a removed file is not free"

# one that goes astray
cp "$W/i" "$d/x"
bdf=$(status 0 bdf)
echo "${bdf,,} ${bdf^^}" >"$STANDIN_STRAY"
# it may fail so soon that its launch says so
compute 0 "launch k80_scale 64 256 mem:x mem:y u32:$n f32:2" 2>"$W/log" || :
compute_errno 0 EIO sync
expect_compute 0 state failed
cmp "$d/x" "$W/i"
: >"$STANDIN_STRAY"
rm "$d/y"
compute 0 online
compute 0 "launch k80_scale 64 256 mem:x mem:x u32:$n f32:2"
compute 0 sync
cmp "$d/x" "$W/2i"

# the worker is killed while its kernel has the file
compute 0 "launch k80_add 64 256 mem:x mem:x u32:$n u32:1 u64:100000000000"
for pid in $(pgrep -f "^k80-worker 0 "); do
	grep -zqxF "K80_TEST_WORK=$W" "/proc/$pid/environ" && kill -9 "$pid"
done
compute_errno 0 EIO sync
cmp "$d/x" "$W/2i"
rm "$d"/*
is_free() {
	[ "$(number 0 memory_free)" -ge "$total" ]
}
await is_free || fail "free: $(number 0 memory_free), was $total"

# a die whose device is not CUDA's first: its kernels run there too
rm "$d"/* 2>/dev/null || :
unmount
DIES=2 VRAM=256M mount_mem compute cuda_devices=1
expect_equal "$N" 1 "dies"
cp "$W/i" "$(mem 0)/x"
compute 0 online
compute 0 "launch k80_scale 64 256 mem:x mem:x u32:$n f32:2"
compute 0 sync
cmp "$(mem 0)/x" "$W/2i"
rm "$(mem 0)/x"
