#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The script of the README: one kernel on six dies at once, the slot let go, six
# right results; and it takes much less than six times one die's
. "$(dirname "$0")/lib.sh"
need_cmd python3
sed -n '/tests run this: six-dies/,/^[^ <]/s/^    //p' "$repo/README.md" \
	>"$W/six-dies"
grep -q 'launch k80_add' "$W/six-dies" || fail "the README has no script"

for d in 0 1 2 3 4 5; do
	floats "$W/input$d" "(i * 7 + $d) % 1000003"
	floats "$W/wanted$d" "(i * 7 + $d) % 1000003 + 1000"
done

six_dies() {
	local start delay
	MODE=$1 DIES=6 mount_compute
	# makes the contexts
	bash "$W/six-dies" "$M" 0
	# the kernels must take longer than what is around them does here
	start=$(now_ms)
	bash "$W/six-dies" "$M" 0
	delay=$(($(now_ms) - start)) # ns on the stand-in
	delay=$(((delay > 1500 ? delay : 1500) * 1000000))
	[ "${K80_LIBCUDA:-}" != real ] || delay=${K80_DELAY:-20000000}
	start=$(now_ms)
	DIES=0 bash "$W/six-dies" "$M" "$delay"
	one=$(($(now_ms) - start))
	rm -f "$W"/result*
	start=$(now_ms)
	bash "$W/six-dies" "$M" "$delay"
	six=$(($(now_ms) - start))
	echo "$1: one die $one ms, six dies $six ms"
	for d in 0 1 2 3 4 5; do
		cmp "$W/result$d" "$W/wanted$d" || fail "$1: die $d"
	done
	unmount
}

six_dies contexts
# contexts of one real GPU take turns
[ "${K80_LIBCUDA:-}" = real ] || [ "$six" -lt $((one * 3)) ] ||
	fail "six dies took $six ms, one $one ms"
six_dies streams
[ "$six" -lt $((one * 3)) ] || fail "six streams took $six ms, one $one ms"
