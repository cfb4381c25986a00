#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Paths in options mean what they mean where k80fs is started, although the
# daemon works in /
. "$(dirname "$0")/lib.sh"
need_sim "its folder and its socket"
mkdir "$W/here" "$W/here/dies"
cd "$W/here"
mkdir m
mounts+=("$W/here/m")
"$K80FS" -o backend=sim,sim_vram=64M,sim_dies=1,sim_dir=dies,sim_ctl=sock m
[ -f dies/die0 ] || fail "the die's file is not in sim_dir"
[ -S sock ] || fail "the socket is not where it was asked for"
M=$W/here/m
echo data >"$M/die0/vram"
unmount "$M"
expect_equal "$(head -c 4 dies/die0)" data
expect_error "$W/here/no-node: No such file" "$K80FS" -o device=no-node m
