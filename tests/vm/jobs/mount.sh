# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# The mounted-tree tests, with the module under k80fs.
# time: 420
top=$(cd "$VM/../.." && pwd)
check "loads" load
export K80FS_BACKEND=bar_swap
"$top/tests/mount/run.sh" >"$TMPDIR/mount" 2>&1
rc=$?
sed 's/^/# /' "$TMPDIR/mount"
check_is "tests/mount/run.sh" $rc 0
check "unloads" unload
