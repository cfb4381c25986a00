#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# rsync --inplace to and from a die
. "$(dirname "$0")/lib.sh"
need_small_dies "a die small enough to be synchronised"
need_cmd rsync
VRAM=32M mount_sim
v=$(die 0)/vram

random_file "$W/in" "$CAP"
# both are of this second and of one size: rsync would believe them the same
rsync --ignore-times --inplace "$W/in" "$v"
cmp "$W/in" "$v"
# the delta algorithm reads the old contents
t "$W/in" rw pwrite,1000000,5000,1
rsync --inplace --no-whole-file --checksum "$W/in" "$v"
cmp "$W/in" "$v"
t "$v" rw pwrite,2000000,5000,2
rsync --no-whole-file --checksum "$v" "$W/out"
cmp "$W/out" "$v"
# without --inplace it makes a new file and renames it: no
expect_error "failed" rsync --checksum "$W/in" "$v"
