#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Flat "key value" lines in a fixed order, none for an empty value
. "$(dirname "$0")/lib.sh"
need_slot "dies that take turns, or are held"
mount_sim

die_keys="die bdf id state slot hold holder vram_bytes resmem_bytes bar0 bar1
bar1_bytes bar3 bar1_mode driver alive generation resets acquires swaps_in
swaps_out last_swap_ns read_bytes written_bytes waiters progress bar1_cache
last_error"
root_keys="version backend transport copy dies slots active mapped slot_bar0
slot_bar1 slot_bar3 timeslice_ms swaps last_error"

# the keys stand in this order; a later version may add others
in_order() {
	local file=$1 wanted
	wanted=$(tr ' ' '\n' <<<"$2")
	expect_equal "$(cut -d' ' -f1 "$file" | grep -xF "$wanted")" "$wanted" \
		"keys of $file"
	expect_equal "$(cut -d' ' -f1 "$file" | sort | uniq -d)" "" "doubled keys"
	if grep -qvE '^[a-z][a-z0-9_]* [^ ].*$' "$file"; then
		fail "not 'key value': $(grep -vE '^[a-z][a-z0-9_]* [^ ].*$' "$file")"
	fi
	expect_equal "$(tail -1 "$file" | cut -d' ' -f1)" last_error "last key"
}
check_all() {
	local d
	for ((d = 0; d < N; d++)); do
		in_order "$(die "$d")/status" "$die_keys"
	done
	in_order "$M/status" "$root_keys"
}
check_all
expect_status 1 holder none
expect_status 1 hold none
ctl 1 pin
head -c 1 "$(die 1)/vram" >"$W/log"
check_all
