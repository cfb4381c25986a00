#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Reads and writes of 1..257 bytes at every offset around the places where an
# address may be cut wrong, opened without O_DIRECT
# timeout: 400
. "$(dirname "$0")/lib.sh"
VRAM=12G mount_sim

step=$(often 1 4)
[ "$K80FS_BACKEND" = sim ] || step=16
"$BIN/sweep" "$(die 0)/vram" buffered "${K80_SWEEP_STEP:-$step}"
