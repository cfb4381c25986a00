#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What waits for a die is bounded: of more writers than that some get ENOMEM,
# the daemon stays small, looks and reads go on, and all is given back
# alone
# timeout: 300
. "$(dirname "$0")/lib.sh"
need_sim "the daemon's memory"
need_cmd python3
# each is a thread of the client
writers=${K80_PARKED:-$(often 3000 400)}
mount_sim wait=120000
daemon=$(daemon_pid)

anon_kib() {
	awk '/^RssAnon/ { print $2 }' "/proc/$daemon/status"
}

ctl 1 pin
mkfifo "$W/go"
python3 "$here/parked.py" "$(die 0)/vram" "$writers" <"$W/go" >"$W/said" &
client=$!
exec 4>"$W/go"
until grep -q parked "$W/said"; do sleep 0.2; done
for ((i = 0; i < 300 && $(number 0 waiters) < 256; i++)); do sleep 0.2; done
echo "$(cat "$W/said"), $(anon_kib) KiB"
[ "$(anon_kib)" -lt $((384 * 1024)) ] || fail "$(anon_kib) KiB"
within 1000 stat "$(die 0)/vram" >"$W/log"
within 1000 t "$(die 1)/vram" rw pread,0,4096 pwrite,0,4096,1
ctl 1 unpin
echo >&4
wait "$client"
cat "$W/said"
expect_equal "$(tail -1 "$W/said")" \
	"written 256 no memory $((writers - 256)) of $writers"
for ((i = 0; i < 50; i++)); do
	[ "$(anon_kib)" -ge $((128 * 1024)) ] || break
	sleep 0.1
done
[ "$i" -lt 50 ] || fail "kept afterwards: $(anon_kib) KiB"
