# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Five minutes of random operations on the module's dies with a model of every
# byte, while a kernel driver comes and goes and the daemon is ended and killed.
# ci: no
# time: 900
# Dies of 256 MiB: emulated copies are slow.
top=$(cd "$VM/../.." && pwd)
check "loads" load vram_bytes=0x10000000
export K80FS_BACKEND=bar_swap K80_TIME_SCALE=$((3 * SLOW))
export K80_STRESS_SECONDS=300
"$top/tests/mount/run.sh" prog_stress >"$TMPDIR/stress" 2>&1
rc=$?
# its verdict is ours
cat "$TMPDIR/stress"
[ $rc -eq 0 ] || grep -q '^not ok' "$TMPDIR/stress" ||
	echo "not ok tests/mount/run.sh: status $rc"
check "unloads" await 5 unload
