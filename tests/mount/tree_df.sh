#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# df shows the sum of all dies' memory and 0 free; nothing is swapped for it
. "$(dirname "$0")/lib.sh"
DIES=5 VRAM=1G mount_sim

total=$((CAP * N))
expect_equal "$(df -B1 --output=size,used,avail "$M" | tail -1 | xargs)" \
	"$total $total 0" "df"
expect_equal "$(busybox df -k "$M" | tail -1 | awk '{ print $2, $4 }')" \
	"$((total / 1024)) 0" "busybox df"
expect_equal "$(stat -f -c '%a %f' "$M/die0/vram")" "0 0" "stat -f"
expect_status root active none
