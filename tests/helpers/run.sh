#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Tests of mount-helpers/, tests/lint.sh and .ci/run.
# usage: run.sh [FILE...]   FILE: check_mount.sh, ...; all of them by default
#
# A file holds functions test_<behaviour>. Each runs in a shell of its own,
# with -eu, in an empty folder $WORK and, if run by root, in private mount and
# pid namespaces, so that nothing outlives it. What costs time to make may be
# kept for others in $SHARED. Exit code 77 = skipped. K80_TIME_SCALE=N multiplies
# the limit of each, two minutes.

set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
base=$(mktemp -d "${TMPDIR:-/var/tmp}/k80-helpers.XXXXXX")
chmod 755 "$base"
mkdir "$base/shared"
trap 'rm -rf --one-file-system "$base"' EXIT
n_pass=0
n_fail=0
n_skip=0
namespace=()
[ "$(id -u)" -ne 0 ] || namespace=(unshare -mpf --kill-child --mount-proc --)

# run_one FILE FUNCTION
run_one()
{
	local rc

	mkdir "$base/work"
	# shellcheck disable=SC2016 # expanded by the inner shell
	(cd "$base/work" && WORK=$base/work SHARED=$base/shared exec \
		timeout -k 5 $((120 * ${K80_TIME_SCALE:-1})) \
		"${namespace[@]}" bash -euc \
		'[ $# -eq 3 ] || "$4" "${WORK%/*}"; . "$1"; . "$2"; "$3"' test \
		"$here/lib.sh" "$here/$1" "$2" \
		${namespace:+"$here/../drop-mounts.sh"}) \
		>"$base/log" 2>&1 </dev/null
	rc=$?
	rm -rf --one-file-system "$base/work"
	case $rc in
	0)
		n_pass=$((n_pass + 1))
		echo "ok ${1%.sh}: ${2#test_}"
		;;
	77)
		n_skip=$((n_skip + 1))
		echo "skip ${1%.sh}: ${2#test_}: $(tail -n 1 "$base/log")"
		;;
	*)
		n_fail=$((n_fail + 1))
		echo "not ok ${1%.sh}: ${2#test_} (exit code $rc)"
		sed 's/^/    /' "$base/log"
		;;
	esac
}

files=("$@")
[ $# -gt 0 ] || mapfile -t files < <(cd "$here" && ls check_*.sh)
for file in "${files[@]}"; do
	mapfile -t names < <(sed -n 's/^\(test_[a-z0-9_]*\)()$/\1/p' \
		"$here/$file")
	for name in "${names[@]}"; do
		run_one "$file" "$name"
	done
done
echo "$n_pass passed, $n_fail failed, $n_skip skipped"
[ "$n_fail" -eq 0 ] && [ $((n_pass + n_skip)) -gt 0 ]
