#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The daemon's own memory stays flat: 32 clients, several GiB written
# timeout: 300
. "$(dirname "$0")/lib.sh"
need_sim "several GiB to be written in a test's time"
VRAM=12G mount_sim

daemon=$(daemon_pid)
anon() {
	sed -n 's/^RssAnon:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$daemon/status"
}
pids=()
for ((i = 0; i < 32; i++)); do
	dd if=/dev/zero of="$(die $((i % 6)))/vram" bs=1M seek=$((i * 256)) \
		count=128 conv=notrunc status=none &
	pids+=($!)
done
most=0
while kill -0 "${pids[31]}" 2>"$W/log"; do
	now=$(anon)
	[ "$now" -le "$most" ] || most=$now
	sleep 0.1
done
for p in "${pids[@]}"; do
	wait "$p"
done
now=$(anon)
[ "$now" -le "$most" ] || most=$now
echo "RssAnon: at most $most kB"
[ "$most" -lt $((128 << 10)) ] || fail "RssAnon rose to $most kB"
