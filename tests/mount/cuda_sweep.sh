#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Reads and writes of 1..257 bytes at odd offsets, on a CUDA device
# timeout: 400
. "$(dirname "$0")/lib.sh"
VRAM=12G mount_cuda
"$BIN/sweep" "$(die $((N - 1)))/vram" direct "${K80_SWEEP_STEP:-4}"
