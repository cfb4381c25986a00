#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# SEEK_DATA and SEEK_HOLE: all data, one hole at the end
. "$(dirname "$0")/lib.sh"
VRAM=12G mount_sim
v=$(die 0)/vram

t "$v" rw fallocate,punch,0,1M
t "$v" r lseek,0,data:0 lseek,5000,data:5000 "lseek,0,hole:$CAP" \
	"lseek,$((CAP - 1)),data:$((CAP - 1))" "lseek,$((CAP - 1)),hole:$CAP" \
	"lseek,$CAP,data:ENXIO" "lseek,$CAP,hole:ENXIO" \
	"lseek,$((CAP + 10)),data:ENXIO" "lseek,0,end:$CAP" lseek,12,set:12 \
	"lseek,$((CAP * 2 / 3)),data:$((CAP * 2 / 3))"
