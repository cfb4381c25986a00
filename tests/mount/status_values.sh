#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The values of a die's status, and how they follow what is done
. "$(dirname "$0")/lib.sh"
need_slot "dies that take turns, or are held"
VRAM=1G mount_sim

expect_status 1 die 1
[[ $(status 1 id) =~ ^10de:102d ]] || fail "id '$(status 1 id)'"
expect_status 1 state idle
expect_status 1 vram_bytes "$(stat -c %s "$(die 1)/vram")"
expect_status 1 resmem_bytes 0
expect_status 1 driver none
expect_status 1 alive 1
in=$(number 1 swaps_in)
out=$(number 1 swaps_out)
t "$(die 1)/vram" rw pwrite,0,1000,1 pread,0,300
expect_status 1 state active
expect_status 1 bar1_mode physical
for b in bar0 bar1 bar3; do
	[[ $(status 1 $b) =~ ^0x[0-9a-fA-F]+ ]] || fail "$b '$(status 1 $b)'"
	expect_equal "$(root_status slot_$b | cut -d' ' -f1)" \
		"$(status 1 $b | cut -d' ' -f1)" "slot_$b"
done
[ "$(status 1 bar1_bytes)" -ge "$CAP" ] || fail "bar1_bytes"
expect_equal "$(number 1 written_bytes)" 1000 written_bytes
expect_equal "$(number 1 read_bytes)" 300 read_bytes
expect_equal "$(number 1 swaps_in)" $((in + 1)) swaps_in
expect_equal "$(number 1 swaps_out)" "$out" swaps_out
[ "$(number 1 acquires)" -ge 1 ] || fail "acquires"
[ "$(number 1 last_swap_ns)" -gt 0 ] || fail "last_swap_ns"
expect_status 1 bar1_cache wc
ctl 1 release
expect_status 1 bar1_cache none
expect_equal "$(number 1 swaps_out)" $((out + 1)) swaps_out
expect_status 1 state idle
expect_equal "$(number 0 written_bytes)" 0 "the other die's"

expect_status root backend "$K80FS_BACKEND"
expect_status root slots 1
expect_status root active none
[ -n "$(root_status version)" ] || fail "version"
[ -n "$(root_status copy)" ] || fail "copy"
[ -n "$(root_status transport)" ] || fail "transport"
expect_equal "$("$K80FS" --version | grep -oF "$(root_status version)" | head -1)" \
	"$(root_status version)" "version in --version"
[ $((10#$(root_status swaps))) -ge 1 ] || fail "swaps"
if [ "$K80FS_BACKEND" = sim ]; then
	expect_status 1 last_error none
	expect_status 2 bar1_mode unknown
	expect_status root dies 6
	unmount
	DIES=3 mount_sim
	expect_status root dies 3
fi
