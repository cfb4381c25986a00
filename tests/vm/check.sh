#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The VM's part of the test runs: fetch, build, run jobs.
#
#   check.sh check|all|long|JOB...
#
#   check    one boot of one kernel, with the jobs that are marked for it
#   all      the rest of that kernel's CI jobs, and all of them on the other
#   long     every job in full length on both kernels
#
# Kernels run side by side, one on each of two cores. Ends with a line
# "N passed, N failed, N skipped"; status 0 only if none failed, 77 if the
# packages that the machine is made of cannot be fetched.
set -euo pipefail

vm=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$vm/../.." && pwd)
build=$top/build/vm
kernels=(6.1 6.12)
pids=()
names=()
logs=()
shown=''

end()
{
	local pid

	for pid in "${pids[@]}" $shown; do
		kill "$pid" 2>/dev/null || :
		wait "$pid" 2>/dev/null || :
	done
}
trap end EXIT
trap 'exit 130' INT TERM

[ $# -gt 0 ] || set -- all
[ "$*" != check ] || kernels=(6.1)
if ! said=$("$vm/fetch.sh" qemu "${kernels[@]}" 2>&1 | tee /dev/stderr); then
	echo "no virtual machine: $(grep '^fetch.sh:' <<<"$said" | head -n 1)"
	exit 77
fi
make -s -C "$vm"
make -s -C "$top" all build/test_barswap
make -s -f "$top/tests/mount/Makefile" OUT="$top/build/mount"
"$vm/modules.sh" "${kernels[@]}"
pass=0 fail=0 skip=0

# host NAME COMMAND...: a check that needs no guest
host()
{
	local name=$1

	shift
	if "$@" >"$build/host.log" 2>&1; then
		echo "ok $name"
		pass=$((pass + 1))
	else
		sed 's/^/# /' "$build/host.log"
		echo "not ok $name"
		fail=$((fail + 1))
	fi
}

# "check" has seen to these
[ "$*" = all ] || host 'the checker finds what is wrong in bad traces' \
	python3 "$vm/excl_test.py"
[ "$*" = check ] || host 'the module builds for a kernel with backports' \
	"$vm/backport.sh"
for k in "${kernels[@]}"; do
	[ "$* $k" != 'all 6.1' ] || continue
	host "$k: no two files of the module need each other" \
		"$top/tests/layers.py" --flat "$top/kmod" "$build/kmod-$(
			cat "${K80_CACHE:-$HOME/.cache/k80fs-vm}/kernel-$k/release")"
done

# start NAME KERNEL JOB...: a runner in the background
start()
{
	local name=$1 kernel=$2

	shift 2
	: >"$build/run-$name.log"
	logs+=("$build/run-$name.log")
	"$vm/run.sh" -k "$kernel" -o "$build/out-$name" "$@" \
		>>"$build/run-$name.log" 2>&1 &
	pids+=($!)
	names+=("$name")
}

case $* in
check)	start 6.1 6.1 check ;;
all)	start 6.1 6.1 rest
	start 6.12 6.12 ci
	# it only waits
	for k in "${kernels[@]}"; do
		start "$k-stuck" "$k" stuck
	done ;;
*)	[ "$*" != long ] || set -- all
	for k in "${kernels[@]}"; do
		start "$k" "$k" "$@"
	done ;;
esac
# what they find is shown as they find it
tail -q -n +1 -f "${logs[@]}" \
	> >(grep --line-buffered -vE '^[0-9]+ passed, [0-9]+ failed') &
shown=$!
for pid in "${pids[@]}"; do
	wait "$pid" || :
done
sleep 1
for i in "${!logs[@]}"; do
	# a runner that did not get to its closing line has failed
	if read -r p _ f _ s _ < <(tail -1 "${logs[$i]}" |
		grep -E '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$'); then
		pass=$((pass + p)) fail=$((fail + f)) skip=$((skip + s))
	else
		echo "not ok ${names[$i]}: the runner broke off"
		fail=$((fail + 1))
	fi
done
pids=()
echo "$pass passed, $fail failed, $skip skipped"
[ $fail -eq 0 ]
