#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `zero` leaves nothing of the last user, in the carve-out neither
. "$(dirname "$0")/lib.sh"
need_sim "a carve-out"
DIES=2 VRAM=2G mount_sim sim_resmem=32M
echo secret | dd of="$(die 0)/resmem" bs=1M seek=100 conv=notrunc 2>"$W/dd"
echo secret | dd of="$(die 0)/vram" bs=1M seek=100 conv=notrunc 2>"$W/dd"
ctl 0 zero
for f in vram resmem; do
	expect_equal "$(dd if="$(die 0)/$f" bs=1M skip=100 count=1 2>"$W/dd" |
		tr -d '\0' | wc -c)" 0 "bytes left in $f"
done
