#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What a held die means to the others: EBUSY or ETIMEDOUT, reason in status
. "$(dirname "$0")/lib.sh"
need_slot "dies that take turns, or are held"
mount_sim wait=60000
v=$(die 1)/vram

for how in pin lease; do
	exec 3>"$(die 0)/ctl"
	echo $how >&3
	for flags in rw+nonblock rw+nonblock+direct; do
		t "$v" $flags pread,0,1:EBUSY took,0,$SOON pwrite,0,1,1:EBUSY \
			took,0,$SOON fallocate,punch,0,1:EBUSY
	done
	for word in acquire pin lease "acquire sbr"; do
		ctl_errno 1 EBUSY "$word nowait"
		t "$(die 1)/ctl" w+nonblock "puts,$word\n:EBUSY" took,0,$SOON
		t "$(die 1)/ctl" w "puts,$word wait=200\n:ETIMEDOUT" \
			took,180,$SOON "puts,$word wait=0\n:ETIMEDOUT" \
			took,0,$SOON
	done
	echo unpin >&3
	exec 3>&-
done
unmount

mount_sim wait=1500
v=$(die 1)/vram
for how in pin lease; do
	exec 3>"$(die 0)/ctl"
	echo $how >&3
	t "$(die 1)/ctl" w "puts,acquire\n:ETIMEDOUT" took,1400,$SOON
	t "$v" rw pread,0,1:ETIMEDOUT took,1400,$SOON \
		pwrite,0,1,1:ETIMEDOUT took,1400,$SOON \
		fallocate,zero,0,1:EBUSY
	expect_error "Connection timed out" head -c 1 "$v"
	expect_error "Connection timed out" bash -c "echo acquire >'$(die 1)/ctl'"
	[ "$(status 1 last_error)" != none ] || fail "last_error tells nothing"
	status 1 last_error | grep -q "die.\?0" ||
		fail "last_error names no holder: $(status 1 last_error)"
	# the die that is in serves on
	t "$(die 0)/vram" rw+nonblock pwrite,0,100,1 pread,0,100
	expect_status 0 hold $how
	echo unpin >&3
	exec 3>&-
	t "$v" rw pread,0,1
done
