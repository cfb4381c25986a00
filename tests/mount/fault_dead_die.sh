#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A die falls off the bus in the middle of a read: EIO, never 0xFF as data
. "$(dirname "$0")/lib.sh"
need_sim "a die that dies"
VRAM=1G mount_sim
v=$(die 0)/vram

t "$v" rw fill,0,64M,1
t "$(die 1)/vram" rw fill,0,1M,2
exec 5<"$v"
"$BIN/tool" fd:5 - pread,0,1M
# readers that go round; each must end with EIO and wrong data never
pids=()
for i in 1 2 3 4; do
	(
		while "$BIN/tool" "$v" r verify,0,64M,1; do
			:
		done
	) 2>"$W/err$i" &
	pids+=($!)
done
sleep 0.5
sim dead 0
for p in "${pids[@]}"; do
	wait "$p"
done
for i in 1 2 3 4; do
	grep -qE "got (EIO|ENXIO)" "$W/err$i" || fail "reader $i: $(cat "$W/err$i")"
	if grep -q "byte" "$W/err$i"; then
		fail "reader $i saw wrong data: $(cat "$W/err$i")"
	fi
done
t fd:5 - pread,0,1:EIO pread,0,1M:EIO "size:$CAP"
exec 5<&-
t "$v" r:ENXIO close:EBADF
t "$v" rw:ENXIO close:EBADF
ctl_errno 0 EIO acquire
wait_status 0 alive 0
expect_status 0 state dead
[ "$(status 0 last_error)" != none ] || fail "last_error tells nothing"
expect_equal "$(stat -c %s "$v")" "$CAP" "it stays in the tree"
# the others are unharmed
t "$(die 1)/vram" rw verify,0,1M,2 pwrite,0,10,1
t "$(die 2)/vram" rw pwrite,0,10,1 fsync
# and it may come back
sim revive 0
ctl 0 acquire
wait_status 0 alive 1
t "$v" rw pwrite,0,4096,3 same,0,4096,3
