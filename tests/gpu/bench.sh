#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# backend=cuda beside tmpfs and vramfs: dd at depth 1, cb with four jobs. Each
# round measures every cell of every file system once, in turn; the table shows
# medians, in GB/s; the row io_uring is k80fs over that, where it can be had. See
# run.sh for the variables. Exit code 1 if both transports missed a target.
set -eu
export LC_ALL=C
rounds=${ROUNDS:-5}
work=$(mktemp -d "${TMPDIR:-/var/tmp}/k80gpu.XXXXXX")
vramfs_pid=
# a client that stays on its CPU
pin=(env)
[ -z "${PIN:-}" ] || pin=(taskset -c "$PIN")

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
		out=$("${pin[@]}" dd if="$1" of=/dev/null bs="$bs" count="$n" 2>&1)
	else
		out=$("${pin[@]}" dd if=/dev/zero of="$1" bs="$bs" count="$n" \
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
# target WHAT CELL TIMES OF [ROW]...: CELL of a row of k80fs >= TIMES * OF, by
# either transport; nothing to say without both
target() {
	local what=$1 cell=$2 times=$3 of=$4 row have best='' seen='' verdict=missed

	shift 4
	[ $# -gt 0 ] || set -- k80fs io_uring
	for row; do
		have=$(median "$row.$cell")
		[ -n "$have" ] || continue
		seen="$seen, $row $have"
		best=$(printf '%s\n' "$have" "${best:-0}" | sort -g |
			tail -n 1)
	done
	[ -n "$best" ] && [ -n "$of" ] || return 0
	awk -v a="$best" -v n="$times" -v b="$of" 'BEGIN { exit !(a >= n * b) }' &&
		verdict=met
	[ $verdict = met ] || missed=1
	printf '%-6s %s, %s: %s, wanted %.3f\n' "$verdict" "$cell" "$what" \
		"${seen#, }" "$(awk -v n="$times" -v b="$of" 'BEGIN { print n * b }')"
}

for c in r1M w1M r128K w128K w4K; do
	target "3 x vramfs" $c 3 "$(median vramfs.$c)"
done
target "with -o cache, vramfs" r4K 1 "$(median vramfs.r4K)" cache
for c in r1M r128K; do
	target "60 % of tmpfs" $c 0.6 "$(median tmpfs.$c)"
done
for c in w1M w128K; do
	target "75 % of tmpfs" $c 0.75 "$(median tmpfs.$c)"
done
target "four jobs, 12 GB/s" r1Mx4 1 12
target "four jobs, 6 GB/s" w1Mx4 1 6
[ $missed = 0 ]
