#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# copy_file_range inside the mount: any two dies, any alignment, one die
. "$(dirname "$0")/lib.sh"
VRAM=12G mount_sim
a=$(die 0)/vram b=$(die 1)/vram

t "$a" rw fill,0,3M,1 "fill,$((CAP - 8192)),8192,2"
t "$b" rw fill,0,4M,9
t "$a" r "cfr,0,$b,0,1M"
t "$b" r verify,0,1M,1 verify,1M,1M,9
# odd offsets on both sides: the bytes of a at 5 appear in b at 1000003
t "$a" rw pwrite,5,100001,3 "cfr,5,$b,1000003,100001"
t "$b" r same,1000003,100001,3 verify,1100004,1000000,9 verify,0,1000003,1
# inside one die, not overlapping; overlapping is EINVAL, as for any file
t "$b" rw "cfr,1000003,$b,2M,1000" same,2M,1000,3 "cfr,0,$b,10,100:EINVAL"
# clipped at the source's end, ENOSPC at the destination's
t "$a" r "cfr,$((CAP - 100)),$b,0,4096:100" "cfr,$CAP,$b,0,4096:0" \
	"cfr,0,$b,$CAP,4096:ENOSPC" "cfr,0,$b,$((CAP - 50)),4096:50"
# with a file of the host: EXDEV, on which tools fall back to read and write
: >"$W/file"
t "$a" r "cfr,0,$W/file,0,4096:EXDEV"
t "$W/file" rw write,4096,1 "cfr,0,$a,0,4096:EXDEV"
# not from or to the text files
t "$a" r "cfr,0,$(die 0)/ctl,0,10:EINVAL"
