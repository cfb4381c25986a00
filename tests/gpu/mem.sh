#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Files of GPU memory on a machine with a GPU, /dev/fuse and root; what each part
# shows is printed, and a failed check ends it: mem.sh [PART]...
#
# rights   who may map what, and what a mapping keeps
# kernels  launch on files; a kernel that goes astray
# tensors  GIB (16) of safetensors, in turn by k80fs and by load_file, five
#          fresh processes each; needs torch and safetensors
# model    a transformers model both ways; needs transformers too
#
# Needs no compiler where BUILD is a folder with the programs, the library and
# libk80mem.so.1 built (default: build of this repository).
set -eEuo pipefail
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
repo=$(cd "$here/../.." && pwd)
build=$(realpath "${BUILD:-$repo/build}")
gib=${GIB:-16}
export PYTHONPATH=$repo/mount-helpers/python PYTHONDONTWRITEBYTECODE=1
export K80FS_LIBK80MEM=$build/libk80mem.so.1
work=$(mktemp -d "${TMPDIR:-/dev/shm}/k80mem.XXXXXX")
m=$work/mnt
d=$m/die0/mem
keeper=$work/keeper.sock
trap 'echo "mem.sh:$LINENO: $BASH_COMMAND" >&2' ERR

cleanup() {
	local rc=$?
	trap - ERR
	umount "$m" 2>/dev/null || :
	"$build/k80-keeper" --socket="$keeper" --free=all >/dev/null 2>&1 || :
	rm -rf --one-file-system "$work"
	exit "$rc"
}
trap cleanup EXIT

mount_mem() {
	mkdir -p "$m"
	"$build/k80fs" -o "backend=cuda,mem,compute,mem_keeper=$keeper" "$m"
}

free_bytes() {
	sed -n 's/ *$//; s/^memory_free //p' "$m/die0/status"
}

# no program is left that has the memory: a gigabyte is what others may take
expect_free() {
	local i now
	for ((i = 0; i < 100; i++)); do
		now=$(free_bytes)
		[ $((now + (1 << 30))) -lt "$1" ] || return 0
		sleep 0.1
	done
	echo "free: $now, was $1" >&2
	return 1
}

median() {
	sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

part_rights() {
	python3 "$here/mem_rights.py" "$d"
}

part_kernels() {
	local c=$m/die0/compute
	python3 -c "
import array
array.array('f', range(1 << 20)).tofile(open('$d/x', 'wb'))
array.array('f', [3.0 * i for i in range(1 << 20)]).tofile(
    open('$work/thrice', 'wb'))"
	echo online >"$c/ctl"
	echo 'launch k80_scale 4096 256 mem:x mem:x u32:1048576 f32:3' >"$c/ctl"
	echo sync >"$c/ctl"
	cmp "$d/x" "$work/thrice"
	cat >"$work/stray.ptx" <<-'PTX'
		.version 4.1
		.target sm_37
		.address_size 64
		.visible .entry stray(.param .u64 p)
		{
			.reg .b64 %rd<3>;
			ld.param.u64 %rd1, [p];
			mov.u64 %rd2, 16;
			st.global.u64 [%rd2], %rd1;
			ret;
		}
	PTX
	cat "$work/stray.ptx" >"$c/module" || tail -n 5 "$c/log"
	echo 'launch stray 1 1 mem:x' >"$c/ctl"
	echo sync 2>/dev/null >"$c/ctl" && return 1
	grep -qx 'state *failed *' "$c/status"
	cmp "$d/x" "$work/thrice"
	echo online >"$c/ctl"
	echo 'launch k80_fill 64 256 mem:x+4 u32:1048575 f32:0' >"$c/ctl"
	echo sync >"$c/ctl"
	cmp -n 4 "$d/x" "$work/thrice"
	tail -c +5 "$d/x" | cmp -n 4194300 - /dev/zero
	rm "$d/x"
	echo "kernels: results right; a stray one cost its worker, not the file"
}

part_tensors() {
	local round mode before after pid out
	local file=$work/model.safetensors
	python3 "$here/make_tensors.py" "$file" "$gib"
	before=$(free_bytes)
	time cp "$file" "$d/model.safetensors"
	after=$(free_bytes)
	echo "taken: $((before - after)) bytes for a file of $(stat -c %s "$file")"
	cat "$file" >/dev/null
	for ((round = 0; round < ${ROUNDS:-5}; round++)); do
		for mode in mem file; do
			out=$file
			[ "$mode" = file ] || out=$d/model.safetensors
			python3 "$here/load_tensors.py" "$mode" "$out" |
				tee "$work/last"
			awk '/^import/ { print $6 }' "$work/last" >>"$work/load.$mode"
			awk '/^import/ { print $8 }' "$work/last" >>"$work/all.$mode"
		done
	done
	for mode in mem file; do
		echo "$mode: load $(median <"$work/load.$mode") s," \
			"whole restart $(median <"$work/all.$mode") s"
	done
	python3 "$here/load_tensors.py" mem "$d/model.safetensors" equal "$file"
	# two at a time: what both see is the same, and taken once
	mkfifo "$work/end"
	python3 "$here/load_tensors.py" mem "$d/model.safetensors" stay \
		<"$work/end" >"$work/first" &
	pid=$!
	exec 9>"$work/end"
	until grep -q free "$work/first"; do sleep 0.2; done
	python3 "$here/load_tensors.py" mem "$d/model.safetensors" sums \
		>"$work/sums.1"
	python3 "$here/load_tensors.py" file "$file" sums >"$work/sums.2"
	diff <(grep layer "$work/sums.1") <(grep layer "$work/sums.2")
	echo "two programs: $((after - $(free_bytes))) bytes more taken (their contexts)"
	kill -9 "$pid"
	exec 9>&-
	wait "$pid" || :
	python3 "$here/load_tensors.py" mem "$d/model.safetensors" sums |
		diff - "$work/sums.1" | grep layer && return 1
	rm "$d/model.safetensors"
	expect_free "$before"
	echo "removed: the memory is free"
}

part_model() {
	local files=$work/model n
	python3 "$here/model.py" make "$files" 2>/dev/null
	for n in "$files"/*.safetensors "$files"/*.index.json; do
		cp "$n" "$d/"
	done
	sed -n '/^import glob, json/,/^\.EE/p' "$repo/fusefs/k80mem/libk80mem.3" |
		sed '/^\.EE/d' >"$work/loader.py"
	for ((n = 0; n < ${ROUNDS:-5}; n++)); do
		echo "file: $(python3 "$here/model.py" logits file "$files" - \
			"$work/logits.file" 2>/dev/null)"
		echo "mem:  $(python3 "$here/model.py" logits mem "$d" \
			"$work/loader.py" "$work/logits.mem")"
	done
	python3 "$here/model.py" compare "$work/logits.file" "$work/logits.mem"
	python3 "$here/model.py" save "$files" "$d"
	python3 "$here/model.py" logits mem "$d" "$work/loader.py" \
		"$work/logits.aligned"
	echo "256-aligned: $(python3 "$here/model.py" compare \
		"$work/logits.file" "$work/logits.aligned" bits)"
	rm "$d"/*
}

[ $# -gt 0 ] || set -- rights kernels tensors model
mount_mem
[ -d "$d" ] || {
	sed -n '/^mem/p' "$m/die0/status" >&2
	exit 1
}
for part; do
	echo "== $part"
	"part_$part"
done
