#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs the parts of `make check` and adds up their counts.
# usage: check.sh PART...   parts: lint unit mount mount-cuda vm
set -u
cd "$(dirname "$0")/.." || exit 2

log=$(mktemp "${TMPDIR:-/var/tmp}/k80check.XXXXXX")
trap 'rm -f "$log"' EXIT

run_part() {
	case $1 in
	lint) tests/lint.sh ;;
	unit) tests/unit.sh ;;
	mount) K80_TIME_SCALE=2 tests/mount/run.sh -j 2 ;;
	mount-cuda) # the same scripts, those that need neither slot nor orders
		mapfile -t names < <(cd tests/mount &&
			grep -LE '^need_(slot|sim)' vram_*.sh tool_*.sh \
				tree_*.sh prog_sweep*.sh prog_multi*.sh)
		K80FS_BACKEND=cuda K80_TIME_SCALE=2 tests/mount/run.sh -j 2 \
			"${names[@]}"
		;;
	vm) K80_SLOW=3 tests/vm/check.sh ;;
	*)
		echo "check.sh: no part '$1'" >&2
		return 2
		;;
	esac
}

total=(0 0 0)
status=0
for part in "$@"; do
	start=$SECONDS
	run_part "$part" 2>&1 | tee "$log"
	rc=${PIPESTATUS[0]}
	counts=$(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed\(, \([0-9]*\) skipped\)\?$/\1 \2 \4/p' "$log" | tail -n 1)
	read -r passed failed skipped <<<"$counts"
	if [ "$rc" -ne 0 ] || [ "${passed:-0}" -eq 0 ]; then
		# a part that ended without counting has failed as a whole
		[ "${failed:-0}" -gt 0 ] || failed=$((${failed:-0} + 1))
		status=1
	fi
	printf '== %s: %d passed, %d failed, %d skipped (%d s)\n' "$part" \
		"${passed:-0}" "${failed:-0}" "${skipped:-0}" $((SECONDS - start))
	total[0]=$((total[0] + ${passed:-0}))
	total[1]=$((total[1] + ${failed:-0}))
	total[2]=$((total[2] + ${skipped:-0}))
done
printf '%d passed, %d failed, %d skipped\n' "${total[@]}"
exit "$status"
