#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A page whose read waits for a pinned slot while a clear runs keeps the daemon
# from nothing: told to stop it answers both and ends
. "$(dirname "$0")/lib.sh"
need_sim "clears that take as long as a card's"
need_cmd python3
export LD_PRELOAD=$BIN/slow_clear.so
VRAM=12G mount_sim wait=60000
unset LD_PRELOAD
daemon=$(daemon_pid)
cat >"$W/touch.py" <<'END'
import mmap, os, sys, time
f = os.open(sys.argv[1], os.O_RDONLY)
m = mmap.mmap(f, 1 << 20, mmap.MAP_PRIVATE, mmap.PROT_READ)
print(m[0], flush=True)
os.read(os.open(sys.argv[2], os.O_RDONLY), 1)
print(m[8192], flush=True)
END
mkfifo "$W/go"
python3 "$W/touch.py" "$(die 0)/vram" "$W/go" >"$W/touched" &
toucher=$!
until [ -s "$W/touched" ]; do sleep 0.05; done
ctl 1 pin
echo zero 1<>"$(die 1)/ctl" 2>"$W/zero" &
zero=$!
sleep 0.3
echo >"$W/go"
sleep 0.3
kill -TERM "$daemon"
wait "$toucher" || fail "the page: $(cat "$W/touched")"
! wait "$zero" || fail "a zero that was cut off succeeded"
await test ! -d "/proc/$daemon" ||
	fail "still there: $(threads_of "$daemon")"
