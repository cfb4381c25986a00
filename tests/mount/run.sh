#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Run the mounted-tree tests: run.sh [-j N] [-a no|only] [PATTERN]...
# Each script gets a work folder of its own and a time limit; whatever it
# leaves behind (process, mount) is removed and makes it a failure. A script
# may say "# timeout: SECONDS". -a: without those that must have the machine to
# themselves, or these only. K80_NO_SKIP=1 makes a skipped script a failure;
# K80_TIME_SCALE=N multiplies the limits.
set -u
here=$(cd "$(dirname "$0")" && pwd)
repo=$(cd "$here/../.." && pwd)
jobs=1
which=all

# They hold one time against another, both measured
ALONE='compute_six_dies'

while getopts j:a: opt; do
	case $opt in
	j) jobs=$OPTARG ;;
	a) which=$OPTARG ;;
	*)
		echo "usage: run.sh [-j N] [-a no|only] [PATTERN]..." >&2
		exit 2
		;;
	esac
done
shift $((OPTIND - 1))

export K80FS=${K80FS:-$repo/build/k80fs}
export K80FS_BACKEND=${K80FS_BACKEND:-sim}
export K80_TEST_BIN=${K80_TEST_BIN:-$repo/build/mount}
# the module has one slot: scripts would see each other's swaps
[ "$K80FS_BACKEND" != bar_swap ] || jobs=1
scale=${K80_TIME_SCALE:-1}
supp=$repo/tests/unit/tsan.supp

if [ ! -x "$K80FS" ]; then
	echo "run.sh: $K80FS is not built (make)" >&2
	exit 2
fi
# relative names: the tree may be in a folder with a blank, which make splits
(cd "$repo" && make -s -f tests/mount/Makefile \
	OUT="$(realpath -m --relative-to=. "$K80_TEST_BIN")") || exit 2

base=$(mktemp -d "${TMPDIR:-/var/tmp}/k80mount.XXXXXX")
chmod 711 "$base" # some scripts become another user
trap 'rm -rf --one-file-system "$base"' EXIT
trap stop INT TERM

# left_behind WORK: pids of processes that carry its name in their environment
left_behind() {
	grep -lzxF "K80_TEST_WORK=$1" /proc/[0-9]*/environ 2>/dev/null |
		sed 's|/proc/\([0-9]*\)/.*|\1|'
}

# Ended from outside: nothing that was started may outlive it
stop() {
	local work pid
	for work in "$base"/*.work; do
		for pid in $(left_behind "$work"); do
			kill -TERM "$pid"
		done
		clean_up "$work"
	done
	exit 130
}

# Kill and unmount what is left of a script; prints what it was
clean_up() {
	local work=$1 pid dir i
	# a daemon that ends gives gigabytes back to the file system first
	for ((i = 0; i < 300; i++)); do
		[ -n "$(left_behind "$work")" ] || break
		sleep 0.1
	done
	for pid in $(left_behind "$work"); do
		echo "left behind: process $pid" \
			"$(tr '\0' ' ' <"/proc/$pid/cmdline")"
		kill -9 "$pid"
	done
	while read -r dir; do
		echo "left behind: mount $dir"
		umount -l "$dir"
	done < <(awk -v w="$work/" 'index($5, w) == 1 { print $5 }' \
		/proc/self/mountinfo | sort -r)
	for dir in "$work"/san.*; do
		[ -e "$dir" ] || continue
		echo "sanitizer report:"
		cat "$dir"
	done
}

# Run one script; its verdict goes to NAME.rc, what it printed to NAME.log
run_one() {
	local script=$1 name work limit rc left start took
	name=$(basename "$script" .sh)
	work=$base/$name.work
	limit=$(sed -n 's/^# timeout: //p' "$script")
	limit=$((${limit:-120} * scale))
	mkdir "$work"
	start=$SECONDS
	K80_TEST_WORK=$work ASAN_OPTIONS=log_path=$work/san \
		UBSAN_OPTIONS=log_path=$work/san \
		TSAN_OPTIONS=log_path=$work/san:suppressions=$supp \
		timeout -k 10 "$limit" bash "$script" \
		>"$base/$name.log" 2>&1 </dev/null
	rc=$?
	took=$((SECONDS - start))
	[ "$rc" != 124 ] && [ "$rc" != 137 ] ||
		echo "took more than $limit s" >>"$base/$name.log"
	left=$(clean_up "$work")
	if [ -n "$left" ]; then
		echo "$left" >>"$base/$name.log"
		[ "$rc" != 0 ] || rc=1
	fi
	rm -rf --one-file-system "$work"
	[ "$rc" != 77 ] || [ -z "${K80_NO_SKIP:-}" ] || rc=1
	echo "$rc" >"$base/$name.rc"
	case $rc in
	0) echo "ok $name ($took s)" ;;
	77) echo "skip $name: $(tail -1 "$base/$name.log")" ;;
	*)
		# one write, so that scripts beside it do not cut in
		echo "not ok $name ($took s, exit code $rc)
$(sed 's/^/    /' "$base/$name.log" | cut -c1-300 | head -15)
$(sed 's/^/    /' "$base/$name.log" | cut -c1-300 | tail -n +16 | tail -60)"
		;;
	esac
}

pick() {
	local script p
	for script in "$here"/*.sh; do
		case ${script##*/} in
		run.sh | lib.sh) continue ;;
		esac
		[ $# -gt 0 ] || echo "$script"
		for p; do
			[[ ${script##*/} != *$p* ]] || echo "$script"
		done
	done
}

# The ones with long limits first, so that none is left over at the end
by_limit() {
	local script limit
	while read -r script; do
		limit=$(sed -n 's/^# timeout: //p' "$script")
		echo "${limit:-120} $script"
	done | sort -k1,1nr -k2 | cut -d' ' -f2-
}

# is_alone SCRIPT
is_alone() {
	[[ " $ALONE " == *" $(basename "$1" .sh) "* ]]
}

together=()
apart=()
while read -r script; do
	if ! is_alone "$script"; then
		[ "$which" = only ] || together+=("$script")
	elif [ "$which" != no ]; then
		apart+=("$script")
	fi
done < <(pick "$@" | sort -u | by_limit)
picked=("${together[@]}" "${apart[@]}")
[ ${#picked[@]} -gt 0 ] || {
	echo "run.sh: no script matches: $*" >&2
	exit 2
}

for script in "${together[@]}"; do
	while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do
		wait -n
	done
	run_one "$script" &
done
wait
for script in "${apart[@]}"; do
	run_one "$script"
done

passed=$(cat "$base"/*.rc | grep -cx 0)
skipped=$(cat "$base"/*.rc | grep -cx 77)
failed=$((${#picked[@]} - passed - skipped))
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
