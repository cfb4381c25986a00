# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# The fourteen tests of the library and vram_persist, on the real module.
# time: 120
# check: yes
top=$(cd "$VM/../.." && pwd)
export BARSWAP_DEVICE=$DEV
check "loads" load
check "test_barswap runs" sh -c \
	"\"$top/build/test_barswap\" >\"$TMPDIR/lib\" 2>&1"
sed 's/^/# /' "$TMPDIR/lib"
check_like "fourteen tests or more, none failed" "$(cat "$TMPDIR/lib")" \
	'^100%: Checks: (1[4-9]|[2-9][0-9]), Failures: 0, Errors: 0'
for die in 0 5; do
	check "vram_persist $die" "$top/build/vram_persist" $die
done
check "unloads" unload
