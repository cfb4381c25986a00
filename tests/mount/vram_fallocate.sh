#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# fallocate: every mode inside and beyond the capacity
. "$(dirname "$0")/lib.sh"
VRAM=12G mount_sim
v=$(die 0)/vram
last=$((CAP - 1000))

t "$v" rw fill,0,1M,1 "fill,$last,1000,1"
t "$v" rw fallocate,0,0,4096 "fallocate,0,0,$CAP" fallocate,keep,5,7 \
	"fallocate,0,$last,1000" "fallocate,0,$last,1001:EFBIG" \
	"fallocate,0,$CAP,1:EFBIG" "fallocate,keep,$((CAP - 5)),5" "size:$CAP"
t "$v" r verify,0,1M,1 "verify,$last,1000,1"

t "$v" rw fallocate,punch,1000,5001 same,1000,5001,0 verify,0,1000,1 \
	verify,6001,1000000,1 fallocate,zero,10001,30000 same,10001,30000,0 \
	verify,6001,4000,1 verify,40001,100000,1 fallocate,zerokeep,7001,1 \
	same,7001,1,0 verify,7002,2999,1
# beyond the end: PUNCH_HOLE is clipped, ZERO_RANGE refused and changes nothing
t "$v" rw "fallocate,punch,$((CAP - 10)),4096" "same,$((CAP - 10)),10,0" \
	"verify,$last,990,1" "fallocate,zero,$last,1001:EFBIG" \
	"verify,$last,990,1" "fallocate,zero,$CAP,1:EFBIG" \
	"fallocate,punch,$CAP,4096" "fallocate,punch,$((CAP * 2)),1" "size:$CAP"
t "$v" rw fallocate,collapse,0,4096:EOPNOTSUPP \
	fallocate,insert,0,4096:EOPNOTSUPP fallocate,unshare,0,4096:EOPNOTSUPP \
	fallocate,0,0,0:EINVAL fallocate,punch,-1,5:EINVAL verify,0,1000,1
t "$v" r fallocate,punch,0,4096:EBADF

fallocate -l 4096 "$v"
fallocate -p -o 0 -l 500 "$v"
fallocate -z -o 600 -l 100 "$v"
t "$v" r same,0,500,0 verify,500,100,1 same,600,100,0 verify,700,300,1
expect_error "File too large" fallocate -l $((CAP + 1)) "$v"
expect_error "not supported" fallocate -c -l 4096 "$v"
