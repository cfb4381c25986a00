#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The tests that need no mount: unit tests in every build that finds another
# kind of fault, the library's tests on the simulator, the fuzzer, the helpers.
# Ends with: N passed, N failed, N skipped
set -u
cd "$(dirname "$0")/.." || exit 2

passed=0
failed=0
log=$(mktemp "${TMPDIR:-/var/tmp}/k80unit.XXXXXX")
helpers=
trap '[ -z "$helpers" ] || kill "$helpers"; rm -f "$log" "$log.helpers"' EXIT

# step NAME COMMAND...: adds up what Check or a script of ours counted, or
# counts the command itself
step() {
	local name=$1 rc bad all line
	shift
	"$@" >"$log" 2>&1
	rc=$?
	line=$(grep -E '^[0-9]+%: Checks: [0-9]+' "$log" | tail -n 1)
	if [ -n "$line" ]; then
		all=$(sed 's/.*Checks: \([0-9]*\).*/\1/' <<<"$line")
		bad=$(sed 's/.*Failures: \([0-9]*\), Errors: \([0-9]*\).*/\1+\2/' <<<"$line")
		bad=$((bad))
	elif line=$(grep -E '^[0-9]+ passed, [0-9]+ failed' "$log" | tail -n 1) && [ -n "$line" ]; then
		bad=$(sed 's/.*passed, \([0-9]*\) failed.*/\1/' <<<"$line")
		all=$((${line%% *} + bad))
	else
		all=1
		bad=$((rc != 0))
	fi
	if [ "$rc" -ne 0 ] && [ "$bad" -eq 0 ]; then
		all=$((all + 1))
		bad=1
	fi
	passed=$((passed + all - bad))
	failed=$((failed + bad))
	if [ "$bad" -eq 0 ]; then
		printf 'ok %s (%d)\n' "$name" "$all"
	else
		printf 'not ok %s (%d of %d)\n' "$name" "$bad" "$all"
		{
			grep -aE '^not ok|^FAILED|:[FE]:|ERROR: ' "$log" |
				head -n 20
			tail -n 30 "$log"
		} | sed 's/^/  | /'
	fi
}

jobs=-j$(nproc)
step "build gcc" make -s "$jobs" all tests
step "build clang" make -s "$jobs" B=build-clang CC=clang all tests
step "build address,undefined" make -s "$jobs" SAN=address,undefined all tests
step "build thread" make -s "$jobs" SAN=thread all tests

# they mostly wait for what they start: beside the rest
tests/helpers/run.sh >"$log.helpers" 2>&1 &
helpers=$!
end_of_helpers() {
	wait "$helpers"
	local rc=$?
	helpers=
	cat "$log.helpers"
	return "$rc"
}

step "unit" build/check_all
step "unit in one process" env CK_FORK=no build/check_all
step "unit address,undefined" env CK_FORK=no build-address-undefined/check_all
# the suites with threads in them
mapfile -t threaded < <(sed -n \
	's/^\tX(\(sched[a-z_]*\|io[a-z_]*\|pool\|behind\|readahead\|guard\|dev_sim\)).*/\1/p' \
	tests/unit/suites.h)
for suite in "${threaded[@]}"; do
	step "unit thread $suite" env CK_RUN_SUITE="$suite" CK_FORK=no \
		TSAN_OPTIONS="halt_on_error=1" build-thread/check_all
done
for suite in backend barswap behind ctl dev_module dma io node options readahead status; do
	step "unit valgrind $suite" env CK_RUN_SUITE="$suite" CK_FORK=no \
		CK_TIMEOUT_MULTIPLIER=20 valgrind -q --error-exitcode=9 \
		--leak-check=full --errors-for-leak-kinds=definite build/check_all
done

step "library on the simulator" env BARSWAP_DEVICE=sim:vram=64M build/test_barswap
step "library on the simulator, address,undefined" env \
	BARSWAP_DEVICE=sim:vram=64M build-address-undefined/test_barswap
step "vram_persist" env BARSWAP_DEVICE=sim:vram=64M build/vram_persist
# real time on the stand-in, so no more than a stutter of this machine may count
step "compute_persist" env BARSWAP_DEVICE=sim:vram=64M \
	LD_LIBRARY_PATH=build/cuda build/compute_persist -m 500 -s 100000
step "exported symbols" tests/check_symbols.sh
step "example of the man page" tests/check_example.sh
step "fuzz ctl" make -s fuzz FUZZ_SECONDS=5
step "helpers" end_of_helpers

printf '%d passed, %d failed, 0 skipped\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
