# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # rc comes from lib.sh
#
# tests/check.sh in a tree whose tests only print counts.

# part PATH EXIT-CODE LINE...: that script notes its arguments and prints LINEs
part()
{
	local path=tree/tests/$1 code=$2

	shift 2
	mkdir -p "$(dirname "$path")"
	{
		echo '#!/bin/sh'
		echo "echo \"\$(basename \"\$(dirname \"\$0\")\")/\$(basename \"\$0\") \$*\" >>'$WORK/calls'"
		printf "echo '%s'\n" "$@"
		echo "exit $code"
	} >"$path"
	chmod 755 "$path"
}

# tree: all pass, one test each
tree()
{
	local p

	mkdir -p tree/tests tree/mount-helpers
	cp "$TOP/tests/check.sh" tree/tests/
	printf '#!/bin/sh\n' >tree/mount-helpers/install-deps
	chmod 755 tree/mount-helpers/install-deps
	for p in lint.sh unit.sh places.sh deb.sh metrics.sh slurm.sh containers.sh mount/run.sh \
		helpers/run.sh vm/check.sh; do
		part "$p" 0 'ok x' '1 passed, 0 failed, 0 skipped'
	done
	printf '#\n' >tree/tests/mount/vram_x.sh
	unset CI
}

check()
{
	run tree/tests/check.sh "$@"
}

test_sums_the_parts_and_says_how_long_each_took()
{
	tree
	part lint.sh 0 'ok y' '10 passed, 0 failed, 2 skipped'
	check lint helpers
	expect 0 "$rc" "$(cat out)"
	expect_line '== lint: starts' out
	expect_line 'lint | ok y' out
	grep -qE '^== lint: 10 passed, 0 failed, 2 skipped \([0-9]+ s\)$' out
	tail -n 1 out | grep -qE '^11 passed, 0 failed, 2 skipped \([0-9]+ s\)$'
}

test_failed_part_fails_and_is_named_at_the_end()
{
	tree
	part lint.sh 1 'not ok y' '3 passed, 1 failed, 0 skipped'
	check lint helpers
	expect 1 "$rc"
	expect 'lint | not ok y' "$(tail -n 2 out | head -n 1)"
	tail -n 1 out | grep -q '^4 passed, 1 failed, 0 skipped'
}

test_part_that_breaks_off_has_failed()
{
	tree
	part lint.sh 2 'ok y'
	check lint helpers
	expect 1 "$rc"
	expect_line '== lint: 0 passed, 1 failed, 0 skipped' out
	# a count of nothing is none
	part lint.sh 0 '0 passed, 0 failed, 3 skipped'
	check lint
	expect 1 "$rc"
}

test_what_cannot_be_run_is_said_in_one_line_at_the_end()
{
	tree
	part vm/check.sh 77 'no packages'
	check lint vm-check
	expect 0 "$rc" "$(cat out)"
	tail -n 2 out | head -n 1 |
		grep -qE '^== vm-check: not run \([0-9]+ s\): no packages$'
	tail -n 1 out | grep -q '^1 passed, 0 failed, 0 skipped'
}

test_what_cannot_be_run_is_a_failure_in_ci()
{
	tree
	part vm/check.sh 77 'no packages'
	export CI=true
	check lint vm-check
	expect 1 "$rc"
	expect_line '== vm-check: 0 passed, 1 failed, 0 skipped' out
}

test_check_and_all_repeat_nothing()
{
	tree
	check check
	expect 0 "$rc" "$(cat out)"
	sort calls >check.calls
	rm calls
	check all
	expect 0 "$rc" "$(cat out)"
	# the CUDA mounts name their scripts
	sed 's/ vram_x.sh$/ cuda/' calls | sort >all.calls
	expect '' "$(comm -12 check.calls all.calls)"
	expect '' "$(uniq -d check.calls)$(uniq -d all.calls)"
	expect_line 'vm/check.sh check' check.calls
	expect_line 'vm/check.sh all' all.calls
}

test_unknown_part_is_exit_code_2()
{
	tree
	check lint nonsense
	expect 2 "$rc"
	expect_line "no part 'nonsense'" out
	[ ! -e calls ] || die "$(cat calls)"
}

test_ended_from_outside_it_ends_what_it_started()
{
	local pid

	tree
	printf '#!/bin/sh\necho $$ >"%s/lint.pid"\nexec sleep 600\n' "$WORK" \
		>tree/tests/lint.sh
	tree/tests/check.sh lint >out 2>&1 &
	pid=$!
	wait_for test -s lint.pid
	kill -TERM $pid
	rc=0
	wait $pid || rc=$?
	expect 130 "$rc"
	wait_for test ! -e "/proc/$(cat lint.pid)"
}
