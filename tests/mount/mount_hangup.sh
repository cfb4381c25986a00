#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# SIGHUP ends the daemon, unless whoever started it ignored that, as nohup(1) does
. "$(dirname "$0")/lib.sh"
need_sim "only its end"
M=$W/mnt
mkdir "$M"
mounts+=("$M")

has_ended() {
	[ -z "$(daemon_pids "$M")" ]
}

env --default-signal=HUP "$K80FS" -o backend=sim,sim_vram=16M "$M"
kill -HUP "$(daemon_pid)"
await has_ended || fail "it does not end"
if is_mounted "$M"; then
	fail "still mounted"
fi

nohup "$K80FS" -o backend=sim,sim_vram=16M "$M" >"$W/out" 2>&1
pid=$(daemon_pid)
# one that is blocked is not ignored
blocked=$(awk '/^SigBlk:/ { print $2 }' "/proc/$pid/status")
(((16#$blocked & 1) == 0)) || fail "it waits for SIGHUP: $blocked"
kill -HUP "$pid"
t "$(die 0)/vram" rw pwrite,0,4096,1 same,0,4096,1
is_mounted "$M" || fail "SIGHUP ended it"
