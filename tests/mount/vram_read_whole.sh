#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# cat, dd, busybox and python read to the end and stop there
. "$(dirname "$0")/lib.sh"
need_small_dies "a die small enough to be read whole six times"
VRAM=64M mount_sim
v=$(die 0)/vram

t "$v" rw fill,0,64M,1
want=$(cat "$v" | sum)
expect_equal "$(cat "$v" | wc -c)" "$CAP" "cat"
expect_equal "$(busybox cat "$v" | sum)" "$want" "busybox cat"
expect_equal "$(dd if="$v" bs=1M status=none | sum)" "$want" "dd bs=1M"
expect_equal "$(dd if="$v" bs=16M iflag=direct status=none | sum)" "$want"
expect_equal "$(busybox dd if="$v" bs=4k 2>"$W/log" | sum)" "$want"
grep -q "$((CAP / 4096))+0 records in" "$W/log" || fail "$(cat "$W/log")"
expect_equal "$(dd if="$v" bs=1000003 status=none | wc -c)" "$CAP" "odd blocks"
expect_equal "$(sha256sum <"$v" | cut -d' ' -f1)" "$want" "sha256sum"
expect_equal "$(/usr/bin/python3 -c 'import sys, hashlib
print(hashlib.sha256(open(sys.argv[1], "rb").read()).hexdigest())' "$v")" \
	"$want" "python"
t "$v" r verify,0,64M,1
