#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# kill -9 of the daemon: every file is whole or not there, what was synced is right
# timeout: 3600
. "$(dirname "$0")/lib.sh"
need_root "it mounts in a program"
M=$W/mnt
mkdir "$M"
mounts+=("$M")
# so that a kill meets bytes that are on their way
export STANDIN_COPY_US=3000
VRAM=512M use_mem
"$BIN/memx" "$M" "$(mem 0)" "${K80_SEED:-1}" 0 4 "$(often 1000 10)" \
	"$K80FS" -f -o "$(mem_options)" "$M"
mem_again
rm "$(mem 0)"/*
freed 0
unmount
