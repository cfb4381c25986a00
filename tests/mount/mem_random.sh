#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Four processes, random operations on their files, every byte known
# timeout: 900
. "$(dirname "$0")/lib.sh"
VRAM=512M mount_mem
"$BIN/memx" "$M" "$(mem 0)" "${K80_SEED:-1}" "$(often 600 10)" 4
rm "$(mem 0)"/*
freed 0
unmount
