#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# For a machine with a GPU, /dev/fuse, busybox and root:
# run.sh [test] [bench] [owner]
# All parts if none is named. Needs no compiler where these are set:
#
# K80FS         the daemon (default: build/k80fs of this repository)
# K80_TEST_BIN  the built programs of tests/mount (default: build/mount)
# CB            tests/bench/cb.c, built; without it the cells of 4 jobs are
#               left out
# VRAMFS        github.com/Overv/vramfs, built; without it there is no peer
# PIN           a CPU that dd is to stay on
# ROUNDS        how often each cell is measured (5)
#
# Exit code 1 if a test failed or a target of the benchmark was missed.
set -u
here=$(cd "$(dirname "$0")" && pwd)
repo=$(cd "$here/../.." && pwd)
export K80FS=${K80FS:-$repo/build/k80fs}
export K80_TEST_BIN=${K80_TEST_BIN:-$repo/build/mount}
export K80FS_BACKEND=cuda K80_LIBCUDA=real
rc=0

command -v busybox >/dev/null || {
	echo "run.sh: busybox is not installed" >&2
	exit 2
}
[ $# -gt 0 ] || set -- test bench owner
for part; do
	case $part in
	test)
		# what needs no second die and no orders
		"$repo/tests/mount/run.sh" cuda_ prog_randops.sh vram_append \
			vram_beyond_8g vram_direct vram_fallocate.sh \
			vram_mmap_refused vram_open_trunc vram_seek_data \
			vram_shared_access vram_truncate vram_write_end ||
			rc=1
		;;
	bench)
		"$here/bench.sh" || rc=1
		;;
	owner)
		"$here/owner.sh" || rc=1
		;;
	*)
		echo "usage: run.sh [test] [bench] [owner]" >&2
		exit 2
		;;
	esac
done
exit "$rc"
