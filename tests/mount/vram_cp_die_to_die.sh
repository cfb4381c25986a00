#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# cp die0/vram die1/vram: staged by the daemon, two swaps a stage of 16 MiB
# timeout: 300
. "$(dirname "$0")/lib.sh"
need_sim "swaps of a die small enough to be copied whole"
VRAM=256M mount_sim
a=$(die 0)/vram b=$(die 1)/vram

random_file "$W/in" "$CAP"
cp --sparse=never "$W/in" "$a"
before=$(root_status swaps)
cp "$a" "$b"
swaps=$(($(root_status swaps) - before))
cmp "$W/in" "$b"
[ "$swaps" -le 36 ] || fail "$swaps swaps for 256 MiB in stages of 16"
[ "$swaps" -ge 4 ] || fail "$swaps swaps: stages larger than 64 MiB"

# one request is answered short, after one stage
n=$(t "$a" r "cfr,0,$b,0,256M:16M" 2>&1) || fail "one stage: $n"
