#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# run.sh [OPTIONS OF bench.py]: the whole benchmark, one command. Builds what
# it compares, mounts it, writes build/bench/{report.txt,report.json,report.svg}.
# Always a report: exits 0 whatever the figures are.
# run.sh copy [OPTIONS]: every copy routine, see copybench.c
# run.sh slot [OPTIONS]: the slot policy on a simulated clock, see slotsim.c
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
b=${B:-$top/build}
out=$b/bench
cc=${CC:-gcc}
cflags=(-O2 -g -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -iquote "$top/fusefs")

mkdir -p "$out"
case ${1-} in
copy)
	shift
	"$cc" "${cflags[@]}" -o "$out/k80-copybench" "$here/copybench.c" \
		"$top/fusefs/copy/copy.c" "$top/fusefs/copy/x86.c" \
		"$b/libbarswap.a" -lpthread
	exec "$out/k80-copybench" "$@"
	;;
slot)
	shift
	"$cc" "${cflags[@]}" -o "$out/slotsim" "$here/slotsim.c" \
		"$top/fusefs/sched/policy.c"
	exec "$out/slotsim" "$@"
	;;
esac
"$cc" "${cflags[@]}" -o "$out/cb" "$here/cb.c" -lpthread

peers=${BENCH_PEERS:-$b/peers}
if ! "$here/peers.sh" "$peers" >"$out/peers.log" 2>&1; then
	echo "bench: passthrough_hp could not be built: NO RATIO TO IT IN THIS" \
		"REPORT (see $out/peers.log)" >&2
fi
# in a mount namespace of its own: a copy of our mounts in somebody else's
# would keep our daemons alive after we unmount
private=()
[ "$(id -u)" -ne 0 ] || private=(unshare --mount --propagation private)
exec "${private[@]}" python3 -B "$here/bench.py" --client "$out/cb" \
	--k80fs "$b/k80fs" \
	--hp "$peers/passthrough_hp" --out "$out" "$@"
