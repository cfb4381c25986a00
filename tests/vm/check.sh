#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The whole VM test: fetch, build, run every CI job on both guest kernels.
#
#   check.sh [JOB...]
#
# Both kernels run side by side, one on each of two cores. Ends with a line
# "N passed, N failed, N skipped"; status 0 only if none failed.
set -euo pipefail

vm=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$vm/../.." && pwd)
build=$top/build/vm
kernels=(6.1 6.12)
pids=()
names=()

end()
{
	local pid

	for pid in "${pids[@]}"; do
		kill "$pid" 2>/dev/null || :
		wait "$pid" 2>/dev/null || :
	done
}
trap end EXIT
trap 'exit 130' INT TERM

[ $# -gt 0 ] || set -- ci
"$vm/fetch.sh"
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

host 'the checker finds what is wrong in bad traces' python3 "$vm/excl_test.py"
for k in "${kernels[@]}"; do
	host "$k: no two files of the module need each other" \
		"$top/tests/layers.py" --flat "$top/kmod" "$build/kmod-$(
			cat "${K80_CACHE:-$HOME/.cache/k80fs-vm}/kernel-$k/release")"
done

# start NAME KERNEL JOB...: a runner in the background
start()
{
	local name=$1 kernel=$2

	shift 2
	"$vm/run.sh" -k "$kernel" -o "$build/out-$name" "$@" \
		>"$build/run-$name.log" 2>&1 &
	pids+=($!)
	names+=("$name")
}

for k in "${kernels[@]}"; do
	start "$k" "$k" "$@"
	# it only waits
	[ "$*" != ci ] || start "$k-stuck" "$k" stuck
done
for i in "${!pids[@]}"; do
	wait "${pids[$i]}" || :
	log=$build/run-${names[$i]}.log
	sed '$d' "$log"
	# a runner that did not get to its closing line has failed
	if read -r p _ f _ s _ < <(tail -1 "$log" |
		grep -E '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$'); then
		pass=$((pass + p)) fail=$((fail + f)) skip=$((skip + s))
	else
		tail -1 "$log"
		echo "not ok ${names[$i]}: the runner broke off"
		fail=$((fail + 1))
	fi
done
pids=()
echo "$pass passed, $fail failed, $skip skipped"
[ $fail -eq 0 ]
