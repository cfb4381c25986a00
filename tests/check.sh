#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs the test runs of the Makefile and adds up their counts.
#
#   check.sh RUN|PART...
#
# RUN:  check  what everybody runs: minutes
#       all    everything else that needs no attention: other builds, both guest
#              kernels; nothing of what "check" runs
#       long   soaks and whole matrices: hours
# PART: one of the functions part_* below
#
# A part prints its results line by line, "ok", "not ok" or "skip" first, and
# ends with "N passed, N failed, N skipped". Parts of several lanes run side by
# side: most of them wait more than they work. Their output is kept in
# build/check/PART.log. A part whose exit code is 77 cannot be run here, for the
# reason in its last line; with $CI set, that is a failure.
set -u
cd "$(dirname "$0")/.." || exit 2

logs=build/check
cores=$(nproc)
# Limits end only what hangs: this much more than on an idle machine
export K80_TIME_SCALE=${K80_TIME_SCALE:-10}
export K80_SLOW=${K80_SLOW:-10}
export CK_TIMEOUT_MULTIPLIER=${CK_TIMEOUT_MULTIPLIER:-10}

# plan RUN: a line is a step; of a step the lanes, between "|", run side by side
plan() {
	case $1 in
	check)
		echo 'build'
		echo 'vm-check | mount helpers | lint unit library'
		echo 'mount-alone'
		;;
	all)
		echo 'builds'
		echo 'vm-all | mount-cuda places deb metrics slurm containers | sanitizers one-process valgrind fuzz'
		;;
	long)
		printf '%s\n' mount-long stress-memory stress-threads vm-long \
			deb-long roots
		;;
	*)
		printf '%s\n' "$@"
		;;
	esac
}

part_lint() { tests/lint.sh; }
part_build() { tests/unit.sh build; }
part_unit() { tests/unit.sh unit; }
part_library() { tests/unit.sh library; }
part_helpers() { tests/helpers/run.sh; }
part_mount() { tests/mount/run.sh -j $((cores + 2)) -a no; }
part_mount_alone() { tests/mount/run.sh -a only; }
part_vm_check() { vm check; }

part_builds() { tests/unit.sh builds; }
part_one_process() { tests/unit.sh one-process; }
part_sanitizers() { tests/unit.sh sanitizers; }
part_valgrind() { tests/unit.sh valgrind; }
part_fuzz() { tests/unit.sh fuzz; }
part_places() { tests/places.sh; }
part_mount_cuda() { mount_cuda; }
part_metrics() { tests/metrics.sh; }
part_slurm() { tests/slurm.sh; }
part_containers() { tests/containers.sh; }
part_deb() { tests/deb.sh bookworm; }
part_vm_all() { vm all; }

part_mount_long() { K80_LONG=1 tests/mount/run.sh; }
part_stress_memory() { stress address,undefined; }
part_stress_threads() { stress thread; }
part_vm_long() { vm long; }
part_deb_long() { tests/deb.sh trixie; }
part_roots() { tests/roots.sh; }

vm() {
	mount-helpers/install-deps vm || {
		echo 'programs that the VM needs are missing'
		return 77
	}
	tests/vm/check.sh "$@"
}

# the mounted scripts that need neither slot nor orders, on the stand-in
mount_cuda() {
	local names
	mapfile -t names < <(cd tests/mount &&
		grep -LE '^need_(slot|sim)' vram_*.sh tool_*.sh tree_*.sh \
			prog_sweep*.sh prog_multi*.sh)
	K80FS_BACKEND=cuda tests/mount/run.sh -j $((cores + 1)) "${names[@]}"
}

# stress SANITIZERS: ten minutes of the mounted stress on a daemon built with
# them; whatever they report is a failure
stress() {
	local build=build-${1//,/-}
	make -s "-j$cores" SAN="$1" "$build/k80fs" || return
	K80FS=$PWD/$build/k80fs K80_STRESS_SECONDS=600 \
		tests/mount/run.sh prog_stress
}

# run_part PART: what it prints, with its name in front; RESULT goes to a file
run_part() {
	local part=$1 log=$logs/$1.log start=$SECONDS rc passed failed skipped

	echo "== $part: starts"
	"part_${part//-/_}" 2>&1 </dev/null | tee "$log" |
		sed -u "s/^/$part | /"
	rc=${PIPESTATUS[0]}
	read -r passed failed skipped < <(sed -nE \
		's/^([0-9]+) passed, ([0-9]+) failed(, ([0-9]+) skipped)?$/\1 \2 \4/p' \
		"$log" | tail -n 1)
	passed=${passed:-0} failed=${failed:-0} skipped=${skipped:-0}
	if [ "$rc" -eq 77 ] && [ -z "${CI:-}" ]; then
		printf '== %s: not run (%d s): %s\n' "$part" \
			$((SECONDS - start)) "$(tail -n 1 "$log")" |
			tee "$logs/$part.not-run"
	elif [ "$rc" -ne 0 ] || [ "$passed" -eq 0 ]; then
		# one that ended without counting has failed as a whole
		[ "$failed" -gt 0 ] || failed=1
	fi
	echo "$passed $failed $skipped" >"$logs/$part.result"
	[ -e "$logs/$part.not-run" ] ||
		printf '== %s: %d passed, %d failed, %d skipped (%d s)\n' \
			"$part" "$passed" "$failed" "$skipped" $((SECONDS - start))
}

# run_step LANE|LANE...: each lane with its parts in order
run_step() {
	local lane part pids=()

	while read -rd '|' lane; do
		for part in $lane; do
			run_part "$part"
		done &
		pids+=($!)
	done <<<"$1|"
	lanes=("${pids[@]}")
	wait "${pids[@]}"
	lanes=()
}

lanes=()
stop() {
	local pid

	for pid in "${lanes[@]}"; do
		kill -TERM -- "-$pid" 2>/dev/null
	done
	exit 130
}
trap stop INT TERM
# a lane is a process group of its own, which stop() can end
set -m

plan=$(plan "$@")
for part in ${plan//|/ }; do
	declare -F "part_${part//-/_}" >/dev/null || {
		echo "check.sh: no run and no part '$part'" >&2
		exit 2
	}
done
rm -rf "$logs"
mkdir -p "$logs"
while read -r step; do
	[ -z "$step" ] || run_step "$step"
done <<<"$plan"

total=(0 0 0)
for part in ${plan//|/ }; do
	read -r passed failed skipped <"$logs/$part.result"
	total[0]=$((total[0] + passed))
	total[1]=$((total[1] + failed))
	total[2]=$((total[2] + skipped))
	[ "$failed" -eq 0 ] ||
		grep -aE '^(not ok|FAILED)' "$logs/$part.log" | sed "s/^/$part | /"
done
cat "$logs"/*.not-run 2>/dev/null
printf '%d passed, %d failed, %d skipped (%d s)\n' "${total[@]}" "$SECONDS"
[ "${total[1]}" -eq 0 ]
