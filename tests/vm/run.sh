#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Run jobs in the emulated machine with three K80 cards.
#
#   run.sh [-k 6.1|6.12] [-o DIR] JOB...
#
# JOB is a name in jobs/ without .sh, "all", or, with fewer repetitions,
#   ci       all but those marked "# ci: no", or "# ci: K" for another kernel K
#   check    those marked "# check: yes": what breaks first, in one boot
#   rest     those of ci that are not of check
# Each job is a bash script that root runs in the guest, with guest/lib.sh
# loaded. Its head may also say:
#   # rig: OPTION...   a machine that differs, see boot_options in boot.sh
#   # time: SECONDS    its limit (default 60)
#   # alone: yes       a boot of its own
# Jobs with the same machine share a boot; if the guest dies the rest of them
# get a new one. Prints "ok NAME", "not ok NAME" a check and a closing line
# "N passed, N failed, N skipped". Logs stay in DIR (default build/vm/out-K).
# K80_SLOW=N multiplies every limit, for a busy machine; K80_KEEP=1 keeps the
# dies' memory files. Build first: see check.sh, which does the whole test.
set -euo pipefail

vm=$(cd "$(dirname "$0")" && pwd)
build=${B:-$(cd "$vm/../.." && pwd)/build/vm}
cache=${K80_CACHE:-$HOME/.cache/k80fs-vm}
slow=${K80_SLOW:-1}
kernel=6.1
out=
pass=0 fail=0 skip=0
dir=''
waiting=()

# shellcheck source=tests/vm/boot.sh
. "$vm/boot.sh"

usage()
{
	sed -n '3,/^set /s/^# \{0,1\}//p' "$0" >&2
	exit 2
}

while getopts k:o: opt; do
	case $opt in
	k)	kernel=$OPTARG ;;
	o)	out=$OPTARG ;;
	*)	usage ;;
	esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || usage
out=${out:-$build/out-$kernel}

head_of()
{
	sed -n "s/^# $2: *//p" "$vm/jobs/$1.sh" | head -1
}

# jobs_of ci|check|rest: their names
jobs_of()
{
	local f job check ci

	for f in "$vm"/jobs/*.sh; do
		job=$(basename "$f" .sh)
		check=$(head_of "$job" check)
		ci=$(head_of "$job" ci)
		[ "${ci:-$kernel}" = "$kernel" ] || continue
		case $1 in
		check)	[ "$check" = yes ] || continue ;;
		rest)	[ "$check" != yes ] || continue ;;
		esac
		echo "$job"
	done
}

result()
{
	case $1 in
	"ok "*)		pass=$((pass + 1)) ;;
	"not ok "*)	fail=$((fail + 1)) ;;
	"skip "*)	skip=$((skip + 1)) ;;
	*)		return 0 ;;
	esac
	echo "$1"
}

# what the guest said of job $1: its check lines, with kernel and job in front
job_results()
{
	local line

	while IFS= read -r line; do
		case $line in
		"ok "* | "skip "*)
			result "${line%% *} $kernel/$1: ${line#* }" ;;
		"not ok "*)
			result "not ok $kernel/$1: ${line#not ok }" ;;
		esac
	done < <(grep -aE '^(ok|not ok|skip) ' "$dir/out/$1.log" || :)
}

# boot_progress: called over and over while a guest runs; says what a job found
# as soon as it is done, and returns 0 if one has come to its end
boot_progress()
{
	local ended=1

	while [ ${#waiting[@]} -gt 0 ] &&
		[ -e "$dir/out/${waiting[0]}.done" ]; do
		job_results "${waiting[0]}"
		waiting=("${waiting[@]:1}")
		ended=0
	done
	return $ended
}

# prove exclusivity for the whole boot; the jobs' quiet intervals too
check_trace()
{
	local line tag=$1
	local -a final=()

	# a guest that died left none, which is a failure of its own
	[ ! -e "$dir/out/config" ] || final=(--final "$dir/out/config")
	while IFS= read -r line; do
		case $line in
		"ok "*)		result "ok $kernel/$tag: ${line#ok }" ;;
		"not ok "*)	result "not ok $kernel/$tag: ${line#not ok }" ;;
		*)		echo "$line" ;;
		esac
	done < <(python3 "$vm/excl.py" --plan "$dir/out/plan" \
		"${final[@]}" --dies "$dir/log" "$dir/trace" 2>&1 ||
		echo "# the checker is not content")
}

# run_group "OPTIONS" JOB...: until each job of the group has run
run_group()
{
	local opts=$1 limit t n job began
	local -a todo

	shift
	todo=("$@")
	while [ ${#todo[@]} -gt 0 ]; do
		boots=$((boots + 1))
		dir=$out/boot$boots
		began=$SECONDS
		mkdir -p "$dir/out"
		# of the longest job; a guest that is up to nothing is ended
		limit=0
		n=0
		for job in "${todo[@]}"; do
			n=$((n + 1))
			t=$(head_of "$job" time)
			t=$((${t:-60} * slow))
			[ "$t" -lt "$limit" ] || limit=$t
			echo "$n $job $t $slow $scope"
		done >"$dir/out/plan"
		limit=$((limit + 60 * slow))
		waiting=()
		case " $opts " in
		*" dsdt "*)	boot_dsdt "$kernel" "$dir" >"$dir/dsdt.log" 2>&1 ||
				echo "# no DSDT: see $dir/dsdt.log" ;;
		esac
		waiting=("${todo[@]}")
		# shellcheck disable=SC2086 # options are words
		boot "$kernel" "$dir" $limit $opts ||
			echo "# boot $boots ($opts) had to be ended"
		boot_progress || :
		if [ ${#waiting[@]} -gt 0 ] &&
			[ -e "$dir/out/${waiting[0]}.log" ]; then
			job_results "${waiting[0]}"
			result "not ok $kernel/${waiting[0]}: the guest died in it"
			tail -n 40 "$dir/serial" | sed 's/^/# /'
			waiting=("${waiting[@]:1}")
		fi
		check_trace "boot$boots"
		# not in a pipe: a subshell has no children's times
		times >"$out/times"
		echo "# boot $boots: $((SECONDS - began)) s; CPU of all boots" \
			"$(tail -1 "$out/times")"
		if [ ${#waiting[@]} -eq ${#todo[@]} ]; then
			result "not ok $kernel/boot$boots: the guest does not come up"
			tail -n 20 "$dir/serial" "$dir/qemu.err" | sed 's/^/# /'
			return
		fi
		todo=("${waiting[@]}")
	done
}

trap 'boot_end' EXIT
trap 'exit 130' INT TERM
"$vm/fetch.sh" qemu "$kernel"
boots=0
rm -rf "$out"
mkdir -p "$out" "$build"
scope=full
case $* in
ci | check | rest)
	scope=$*
	mapfile -t jobs < <(jobs_of "$*") ;;
all)	mapfile -t jobs < <(cd "$vm/jobs" && basename -s .sh -- *.sh) ;;
*)	jobs=("$@") ;;
esac
declare -A groups
for job in "${jobs[@]}"; do
	[ -e "$vm/jobs/$job.sh" ] || { echo "run.sh: no job $job" >&2; exit 2; }
	key=" $(head_of "$job" rig)"
	[ -z "$(head_of "$job" alone)" ] || key="$key|$job"
	groups[$key]+=" $job"
done
while IFS= read -r key; do
	# shellcheck disable=SC2086 # names are words
	run_group "${key%%|*}" ${groups[$key]}
done < <(printf '%s\n' "${!groups[@]}" | sort)
echo "$pass passed, $fail failed, $skip skipped"
[ $fail -eq 0 ] && [ $pass -gt 0 ]
