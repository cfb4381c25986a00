#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# metrics tells what happened: bytes, swaps, waits, the die that is in, errors
. "$(dirname "$0")/lib.sh"
mount_sim

# metric NAME [DIE]
metric() {
	local line=k80fs_$1${2:+"{die=\"$2\"}"}
	awk -v line="$line" '$1 == line { print $2 }' "$M/metrics"
}

at_least() {
	[ "$(metric "$1" "${3-}")" -ge "$2" ]
}

expect_equal "$(metric die_memory_bytes 0)" "$(status 0 vram_bytes)" memory
expect_equal "$(metric die_alive 1)" 1 alive
dd if="$(die 0)/vram" of=/dev/null bs=4K count=3 status=none
dd if=/dev/zero of="$(die 0)/vram" bs=4K count=2 conv=notrunc,fsync status=none
expect_equal "$(metric die_read_bytes_total 0)" "$(status 0 read_bytes)" read
expect_equal "$(metric die_written_bytes_total 0)" 8192 written
expect_equal "$(metric die_errors_total 0)" 0 errors
# one open file shows one moment
exec 3<"$M/metrics"
read -r -u 3 line
expect_equal "$line" '# HELP k80fs_die_in_slot Whether the die is in the slot.'
dd if=/dev/zero of="$(die 0)/vram" bs=4K count=1 conv=notrunc,fsync status=none
grep -qx 'k80fs_die_written_bytes_total{die="0"} 8192' <&3 ||
	fail "the rest of the file is of another moment"
exec 3<&-
[ "$K80FS_BACKEND" != cuda ] || exit 0

expect_equal "$(metric die_in_slot 0)" 1 "die 0 in the slot"
expect_equal "$(metric die_in_slot 1)" 0 "die 1 in the slot"
swaps=$(metric swap_seconds_count)
ctl 0 pin
dd if="$(die 1)/vram" of="$W/out" bs=4K count=1 status=none &
reader=$!
await at_least die_waiting_requests 1 1 || fail "nobody waits"
ctl 0 unpin
wait $reader
expect_equal "$(metric die_waiting_requests 1)" 0 "waiting"
at_least die_waits_total 1 1 || fail "waits: $(metric die_waits_total 1)"
[[ $(metric die_wait_seconds_total 1) =~ ^0\.0*$ ]] && fail "waited for no time"
expect_equal "$(metric die_in_slot 1)" 1 "die 1 in the slot"
at_least swap_seconds_count $((swaps + 1)) "" || fail "no swap was counted"
expect_equal "$(metric 'swap_seconds_bucket{le="+Inf"}')" \
	"$(metric swap_seconds_count)" "all swaps"
if [ "$K80FS_BACKEND" = sim ]; then
	ctl 1 pin
	sim dead 1
	t "$(die 1)/ctl" w "puts,flush\n:EIO"
	at_least die_errors_total 1 1 || fail "no error was counted"
	expect_equal "$(metric die_alive 1)" 0 "alive"
fi
