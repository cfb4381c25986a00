#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# O_TRUNC is accepted and changes nothing, also as others see it meanwhile
. "$(dirname "$0")/lib.sh"
mount_sim
v=$(die 0)/vram

t "$v" rw fill,0,1M,1
exec 5<>"$v"
t "$v" w+trunc "size:$CAP"
t fd:5 - "size:$CAP" verify,0,1M,1
: >"$v"
t fd:5 - "size:$CAP" verify,0,1M,1
printf abc >"$v"
t "$v" r verify,3,1000000,1
expect_equal "$(head -c 3 "$v")" abc
# while one open after the other truncates, no one ever sees another size
end=$(($(now_ms) + 2000))
while [ "$(now_ms)" -lt $end ]; do
	for ((i = 0; i < 50; i++)); do
		: >"$v"
	done
done &
loop=$!
while kill -0 $loop 2>"$W/log"; do
	t fd:5 - "size:$CAP" "lseek,0,end:$CAP" "pread,$((CAP - 4)),10:4"
	expect_equal "$(stat -c %s "$v")" "$CAP" "stat during O_TRUNC"
	t "$v" w+append write,1,0:ENOSPC
done
wait $loop
expect_equal "$(head -c 3 "$v")" abc "byte 0 after all that"
t "$v" r verify,3,1000000,1
exec 5>&-
