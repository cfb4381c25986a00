# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # rc comes from lib.sh
#
# .ci/run in a checkout whose make only prints counts.

# ci EXIT-CODE LINE...: .ci/run with a make that prints LINEs as "check" and, as
# "check-all", one part more that passes
ci()
{
	local code=$1

	shift
	mkdir -p tree/.ci tree/mount-helpers
	cp "$TOP/.ci/run" tree/.ci/
	# shellcheck disable=SC2016 # for the fake to expand
	printf '#!/bin/sh\necho "deps $*" >>"%s"\n' "$WORK/calls" \
		>tree/mount-helpers/install-deps
	chmod 755 tree/mount-helpers/install-deps
	printf '%s\n' "$@" >lines
	export WORK
	fake make <<-EOF
		echo "make \$* CI=\$CI \$(pwd)" >>"\$WORK/calls"
		[ "\$1" = check ] || {
			echo '== other: 1 passed, 0 failed, 0 skipped'
			exit 0
		}
		cat "\$WORK/lines"
		exit $code
	EOF
	run tree/.ci/run
}

test_sums_the_parts_in_the_last_line()
{
	ci 0 '== lint: 10 passed, 0 failed, 1 skipped (3 s)' 'ok x' \
		'4 passed, 0 failed, 0 skipped' \
		'== unit: 200 passed, 0 failed, 2 skipped' \
		'214 passed, 0 failed, 3 skipped'
	expect 0 "$rc"
	expect '211 passed, 0 failed, 3 skipped' "$(tail -n 1 out)"
}

test_installs_then_runs_both_runs_at_the_top()
{
	ci 0 '== unit: 1 passed, 0 failed, 0 skipped'
	expect "deps build test more deb vm slurm containers
make check CI=true $WORK/tree
make check-all CI=true $WORK/tree" "$(cat calls)"
}

test_failed_part_fails()
{
	ci 1 '== lint: 9 passed, 0 failed, 0 skipped' \
		'== unit: 3 passed, 2 failed, 0 skipped'
	expect 1 "$rc"
	expect '13 passed, 2 failed, 0 skipped' "$(tail -n 1 out)"
}

test_failed_part_fails_although_make_says_0()
{
	ci 0 '== unit: 3 passed, 2 failed, 0 skipped'
	expect 1 "$rc"
	expect '4 passed, 2 failed, 0 skipped' "$(tail -n 1 out)"
}

test_make_that_breaks_off_fails()
{
	ci 2 '== lint: 9 passed, 0 failed, 0 skipped' 'cc: error'
	expect 1 "$rc"
	expect '10 passed, 1 failed, 0 skipped' "$(tail -n 1 out)"
}

test_no_test_at_all_fails()
{
	ci 0 'nothing to do'
	fake make <<-'EOF'
		echo '== unit: 0 passed, 0 failed, 7 skipped'
	EOF
	run tree/.ci/run
	expect 1 "$rc"
	expect '0 passed, 1 failed, 14 skipped' "$(tail -n 1 out)"
	echo 'echo nothing to do' | fake make
	run tree/.ci/run
	expect 1 "$rc"
	expect '0 passed, 1 failed, 0 skipped' "$(tail -n 1 out)"
}

test_failed_installation_fails()
{
	mkdir -p tree/.ci tree/mount-helpers
	cp "$TOP/.ci/run" tree/.ci/
	printf '#!/bin/sh\nexit 1\n' >tree/mount-helpers/install-deps
	chmod 755 tree/mount-helpers/install-deps
	run tree/.ci/run
	expect 1 "$rc"
	expect '0 passed, 1 failed, 0 skipped' "$(tail -n 1 out)"
}
