#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Reading ctl lists the commands; its size is that text's length
. "$(dirname "$0")/lib.sh"
mount_sim

for word in acquire release pin unpin lease reset flush zero sbr nowait wait=; do
	grep -qF -- "$word" "$(die 0)/ctl" || fail "die ctl tells no $word"
done
for word in release timeslice auto; do
	grep -qF -- "$word" "$M/ctl" || fail "root ctl tells no $word"
done
for f in "$(die 0)/ctl" "$M/ctl"; do
	expect_equal "$(cat "$f" | wc -c)" "$(stat -c %s "$f")" "size of $f"
	expect_equal "$(dd if="$f" bs=1 status=none | sum)" "$(sum <"$f")" "bs=1"
	expect_equal "$(busybox cat "$f" | sum)" "$(sum <"$f")"
	expect_equal "$(tail -c 5 "$f" | sum)" "$(tail -c 5 <(cat "$f") | sum)"
	t "$f" r "pread,$(stat -c %s "$f"),10:0"
	expect_equal "$(tail -1 "$f" | tail -c 1 | xxd -p)" 0a "last byte"
done
expect_status root active none
