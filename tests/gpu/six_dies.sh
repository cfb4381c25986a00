#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The script of the README on a real GPU: six dies as contexts, which one GPU
# runs in turns, then as streams, which run side by side. Wall times of one die
# and of six, medians of ROUNDS (3), of kernels of about SECONDS_PER_KERNEL (2).
# shellcheck source=tests/mount/lib.sh
. "$(dirname "$0")/../mount/lib.sh"
need_cmd python3
rounds=${ROUNDS:-3}
want_ms=$((${SECONDS_PER_KERNEL:-2} * 1000))
export K80FS_BACKEND=sim K80_LIBCUDA=real
sed -n '/tests run this: six-dies/,/^[^ <]/s/^    //p' "$repo/README.md" \
	>"$W/six-dies"
for d in 0 1 2 3 4 5; do
	floats "$W/input$d" "(i * 7 + $d) % 1000003"
	floats "$W/wanted$d" "(i * 7 + $d) % 1000003 + 1000"
done

# wall DIES DELAY: ms of the script
wall() {
	local start
	rm -f "$W"/result*
	start=$(now_ms)
	DIES=$1 bash "$W/six-dies" "$M" "$2"
	echo $(($(now_ms) - start))
	for d in $1; do
		cmp "$W/result$d" "$W/wanted$d" >&2 || fail "die $d"
	done
}

median_wall() {
	local i
	for ((i = 0; i < rounds; i++)); do
		wall "$1" "$2"
	done | sort -n | sed -n "$(((rounds + 1) / 2))p"
}

for mode in contexts streams; do
	# shellcheck disable=SC2119 # no option more
	MODE=$mode DIES=6 mount_compute
	wall "0 1 2 3 4 5" 0 >"$W/log" # makes the contexts
	delay=1000000
	while base=$(wall 0 $delay) && [ "$base" -lt $((want_ms / 4)) ]; do
		delay=$((delay * 2))
	done
	delay=$((delay * want_ms / base))
	one=$(median_wall 0 $delay)
	six=$(median_wall "0 1 2 3 4 5" $delay)
	echo "$mode: delay $delay, one die $one ms, six dies $six ms," \
		"ratio $((six * 100 / one))/100, swaps $(($(root_status swaps)))"
	case $mode in
	contexts) [ "$six" -le $((one * 7)) ] || fail "more than 7 x" ;;
	streams) [ $((six * 100)) -le $((one * 115)) ] ||
		fail "more than 15 % over one" ;;
	esac
	unmount
done
