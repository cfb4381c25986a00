#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The owner and compute as files on a machine with a GPU, /dev/fuse and root, on
# simulated dies that take turns while their contexts are real. See run.sh for
# the variables; K80_BUILD: the folder of the programs (default: build).
set -u
here=$(cd "$(dirname "$0")" && pwd)
repo=$(cd "$here/../.." && pwd)
build=${K80_BUILD:-$repo/build}
export K80FS=${K80FS:-$build/k80fs} K80_OWNER=$build/k80-owner
export K80FS_BACKEND=sim K80_LIBCUDA=real
rc=0

# part NAME COMMAND...
part() {
	local name=$1
	shift
	echo "== $name"
	"$@" || {
		rc=1
		echo "== $name FAILED"
	}
}

# shellcheck disable=SC2317 # called through part
session() {
	echo discover
	for d in 0 1 2 3 4 5; do echo "online $d"; done
	for d in 0 1 2 3 4 5; do echo "work $d $((d + 1)) 100000 10000000"; done
	for d in 0 1 2 3 4 5; do echo "read $d"; done
	printf 'probe 1\ncount\nstatus\nquit\n'
}

# shellcheck disable=SC2317
show_session() {
	session | "$K80_OWNER" --device=sim:vram=64M
}

# shellcheck disable=SC2317
persist() {
	BARSWAP_DEVICE=sim:vram=64M "$build/compute_persist" -t 10 2
}

part "a session" show_session
part "sessions" "$repo/tests/helpers/run.sh" check_owner.sh
part "compute_persist" persist
part "compute as files" "$repo/tests/mount/run.sh" compute_
part "six dies" "$here/six_dies.sh"
exit "$rc"
