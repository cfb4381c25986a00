#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The tests that need no mount: unit tests in every build that finds another
# kind of fault, the library's tests on the simulator, the fuzzer.
#
#   unit.sh GROUP...
#
# GROUP: build unit library      what `make check` runs
#        builds one-process sanitizers valgrind fuzz      the rest
#
# Ends with: N passed, N failed, N skipped
set -u
cd "$(dirname "$0")/.." || exit 2

passed=0
failed=0
skipped=0
log=$(mktemp "${TMPDIR:-/var/tmp}/k80unit.XXXXXX")
trap 'rm -f "$log"' EXIT
jobs=-j$(nproc)

# step NAME COMMAND...: adds up what Check or a script of ours counted, or
# counts the command itself
step() {
	local name=$1 rc bad all line start=$SECONDS
	shift
	"$@" >"$log" 2>&1
	rc=$?
	line=$(grep -E '^[0-9]+%: Checks: [0-9]+' "$log" | tail -n 1)
	if [ "$rc" -eq 77 ]; then
		skipped=$((skipped + 1))
		echo "skip $name: $(tail -n 1 "$log")"
		return
	elif [ -n "$line" ]; then
		all=$(sed 's/.*Checks: \([0-9]*\).*/\1/' <<<"$line")
		bad=$(sed 's/.*Failures: \([0-9]*\), Errors: \([0-9]*\).*/\1+\2/' <<<"$line")
		bad=$((bad))
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
		printf 'ok %s (%d, %d s)\n' "$name" "$all" $((SECONDS - start))
	else
		printf 'not ok %s (%d of %d)\n' "$name" "$bad" "$all"
		{
			grep -aE '^not ok|^FAILED|:[FE]:|ERROR: ' "$log" |
				head -n 20
			tail -n 30 "$log"
		} | sed 's/^/  | /'
	fi
}

# suites PATTERN: those of the registry whose names match
suites() {
	sed -n 's/^\tX(\([a-z_]*\)).*/\1/p' tests/unit/suites.h | grep -xE "$1"
}

run_build() {
	step "build gcc" make -s "$jobs" all tests
}

run_unit() {
	step "unit" build/check_all
}

run_library() {
	step "library on the simulator" env BARSWAP_DEVICE=sim:vram=64M \
		build/test_barswap
	step "one law for simulator and module" build/law tests/law/table
	step "the law is what was promised" tests/law/said.sh
	step "vram_persist" env BARSWAP_DEVICE=sim:vram=64M \
		LD_LIBRARY_PATH="$PWD/build/cuda" build/vram_persist
	step "compute_persist" persist
	step "exported symbols" tests/check_symbols.sh
	step "example of the man page" tests/check_example.sh
}

# real time on the stand-in: a stutter of a busy machine is as long as a short
# kernel, but not as a longer one
persist() {
	local ms
	for ms in 500 2000 8000; do
		BARSWAP_DEVICE=sim:vram=64M LD_LIBRARY_PATH=$PWD/build/cuda \
			build/compute_persist -m $ms -s $((ms * 200)) && return
	done
	return 1
}

run_builds() {
	step "build clang" make -s "$jobs" B=build-clang CC=clang all tests
	step "build address,undefined" make -s "$jobs" SAN=address,undefined \
		all tests
	step "build thread" make -s "$jobs" SAN=thread all tests
	step "build gcc, not optimised" make -s "$jobs" B=build-gcc-O0 \
		CFLAGS='-g -O0' all tests
	step "build clang, not optimised" make -s "$jobs" B=build-clang-O0 \
		CC=clang CFLAGS='-g -O0' all tests
	step "32-bit syntax" syntax_32
}

syntax_32() {
	echo '#include <stdio.h>' | gcc -m32 -fsyntax-only -x c - 2>/dev/null || {
		echo 'the C library has no 32-bit headers here'
		return 77
	}
	make -s syntax-32
}

run_one-process() {
	step "unit in one process" env CK_FORK=no build/check_all
}

run_sanitizers() {
	local suite supp=$PWD/tests/unit/tsan.supp
	step "unit address,undefined" env CK_FORK=no \
		build-address-undefined/check_all
	step "library on the simulator, address,undefined" env \
		BARSWAP_DEVICE=sim:vram=64M build-address-undefined/test_barswap
	# the suites with threads in them
	for suite in $(suites '(sched|io)[a-z_]*|pool|trace|behind|readahead|guard|rw|dev_sim|chunk'); do
		step "unit thread $suite" env CK_RUN_SUITE="$suite" CK_FORK=no \
			TSAN_OPTIONS="halt_on_error=1 suppressions=$supp" \
			build-thread/check_all
	done
}

run_valgrind() {
	local suite
	for suite in $(suites 'backend|barswap|behind|chunk|ctl|dev_module|dma|io|node|options|readahead|rw|status'); do
		step "unit valgrind $suite" env CK_RUN_SUITE="$suite" CK_FORK=no \
			CK_TIMEOUT_MULTIPLIER=20 valgrind -q --error-exitcode=9 \
			--leak-check=full --errors-for-leak-kinds=definite \
			build/check_all
	done
}

run_fuzz() {
	step "fuzz ctl" make -s fuzz-ctl FUZZ_SECONDS=5
	step "fuzz table" make -s fuzz-table FUZZ_SECONDS=5
}

for group; do
	declare -F "run_$group" >/dev/null || {
		echo "unit.sh: no group '$group'" >&2
		exit 2
	}
	"run_$group"
done
printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
[ "$failed" -eq 0 ]
