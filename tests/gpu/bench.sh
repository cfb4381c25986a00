#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# backend=cuda beside tmpfs and vramfs: dd at depth 1, cb with four jobs. Each
# round measures every cell of every file system once, in turn; the table shows
# medians, in GB/s; the row io_uring is k80fs over that, where it can be had. See
# run.sh for the variables. Exit code 1 if a target was missed.
set -eu
export LC_ALL=C
rounds=${ROUNDS:-5}
work=$(mktemp -d "${TMPDIR:-/var/tmp}/k80gpu.XXXXXX")
vramfs_pid=

cleanup() {
	local m
	for m in k80 cache uring tmpfs vramfs; do
		umount "$work/$m" 2>/dev/null || :
	done
	[ -z "$vramfs_pid" ] || wait "$vramfs_pid" || :
	rm -rf --one-file-system "$work"
}
trap cleanup EXIT
mkdir "$work"/{k80,cache,uring,tmpfs,vramfs,cells}

# MiB of each cell: about a second
declare -A mib=([1M]=2048 [128K]=1024 [4K]=256)

gb_s() {
	awk -v b="$1" -v s="$2" 'BEGIN { printf "%.3f\n", b / s / 1e9 }'
}

# dd_cell FILE r|w BLOCK: what dd says; its close, and an fsync, count
dd_cell() {
	local bs=$3 n out
	n=$((mib[$bs] * 1048576 / $(numfmt --from=iec "$bs")))
	if [ "$2" = r ]; then
		out=$(dd if="$1" of=/dev/null bs="$bs" count="$n" 2>&1)
	else
		out=$(dd if=/dev/zero of="$1" bs="$bs" count="$n" \
			conv=notrunc,fsync 2>&1)
	fi
	# "N bytes (.., ..) copied, S s, .. GB/s"
	out=$(tail -n 1 <<<"$out")
	gb_s "${out%% *}" "$(sed 's/.*copied, \([0-9.e-]*\) s.*/\1/' <<<"$out")"
}

# jobs_cell FILE r|w: four jobs, each on its own quarter of 4 GiB
jobs_cell() {
	local mib_s
	mib_s=$("$CB" -m "$2" -b 1M -j 4 -s 4G -w 100 -t 800 "$1" |
		sed 's/.*"mib_s":\([0-9.]*\).*/\1/')
	gb_s "$mib_s" 0.00000095367431640625
}

# cells NAME FILE: one round
cells() {
	local name=$1 file=$2 op bs
	for op in r w; do
		for bs in 1M 128K 4K; do
			dd_cell "$file" "$op" "$bs" >>"$work/cells/$name.$op$bs"
		done
		[ -z "${CB:-}" ] ||
			jobs_cell "$file" "$op" >>"$work/cells/$name.${op}1Mx4"
	done
}

wait_for() {
	local i
	for ((i = 0; i < 100; i++)); do
		! grep -q " $1 " /proc/mounts || return 0
		sleep 0.2
	done
	echo "bench.sh: $1 is not mounted" >&2
	exit 2
}

"$K80FS" -o backend=cuda,cuda_vram=6G "$work/k80"
"$K80FS" -o backend=cuda,cuda_vram=6G,cache "$work/cache"
"$K80FS" -o backend=cuda,cuda_vram=6G,io_uring "$work/uring"
has_uring=
! grep -qx 'transport *io_uring' "$work/uring/status" || has_uring=1
mount -t tmpfs -o size=6G tmpfs "$work/tmpfs"
head -c 4G /dev/zero >"$work/tmpfs/file"
if [ -n "${VRAMFS:-}" ]; then
	"$VRAMFS" "$work/vramfs" 6G -f >"$work/vramfs.log" 2>&1 &
	vramfs_pid=$!
	wait_for "$work/vramfs"
	head -c 4G /dev/zero >"$work/vramfs/file"
fi
sed -n 's/ *$//; /^name\|^driver_version\|^memory_total/p' \
	"$work/k80/die0/status"
echo "Linux $(uname -r), $(nproc) CPUs, medians of $rounds"

for ((round = 0; round < rounds; round++)); do
	cells tmpfs "$work/tmpfs/file"
	[ -z "$vramfs_pid" ] || cells vramfs "$work/vramfs/file"
	cells k80fs "$work/k80/die0/vram"
	[ -z "$has_uring" ] || cells io_uring "$work/uring/die0/vram"
	dd_cell "$work/cache/die0/vram" r 4K >>"$work/cells/cache.r4K"
done

median() {
	[ -e "$work/cells/$1" ] || return 0
	sort -n "$work/cells/$1" | awk '{ v[NR] = $1 }
		END { print v[int((NR + 1) / 2)] }'
}

columns=(r1M w1M r128K w128K r4K w4K r1Mx4 w1Mx4)
printf '%-16s' GB/s "${columns[@]}"
echo
for name in tmpfs vramfs k80fs io_uring cache; do
	printf '%-16s' "$name"
	for c in "${columns[@]}"; do
		printf '%-16s' "$(median "$name.$c")"
	done
	echo
done

missed=0
# target WHAT HAVE TIMES OF: HAVE >= TIMES * OF; nothing to say without both
target() {
	local verdict=missed
	[ -n "$2" ] && [ -n "$4" ] || return 0
	awk -v a="$2" -v n="$3" -v b="$4" 'BEGIN { exit !(a >= n * b) }' &&
		verdict=met
	[ $verdict = met ] || missed=1
	awk -v w="$1" -v a="$2" -v n="$3" -v b="$4" -v v=$verdict 'BEGIN {
		printf "%-6s %s: %s, wanted %.3f\n", v, w, a, n * b }'
}

for c in r1M w1M r128K w128K w4K; do
	target "$c, 3 x vramfs" "$(median k80fs.$c)" 3 "$(median vramfs.$c)"
done
target "r4K with -o cache, vramfs" "$(median cache.r4K)" 1 \
	"$(median vramfs.r4K)"
target "r1M, 60 % of tmpfs" "$(median k80fs.r1M)" 0.6 "$(median tmpfs.r1M)"
target "w1M, 75 % of tmpfs" "$(median k80fs.w1M)" 0.75 "$(median tmpfs.w1M)"
target "r128K, 60 % of tmpfs" "$(median k80fs.r128K)" 0.6 \
	"$(median tmpfs.r128K)"
target "w128K, 75 % of tmpfs" "$(median k80fs.w128K)" 0.75 \
	"$(median tmpfs.w128K)"
target "r1M, 4 jobs, 12 GB/s" "$(median k80fs.r1Mx4)" 1 12
target "w1M, 4 jobs, 6 GB/s" "$(median k80fs.w1Mx4)" 1 6
[ $missed = 0 ]
