#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# flock and fcntl locks on vram and ctl work between processes
. "$(dirname "$0")/lib.sh"
mount_sim

for f in "$(die 0)/vram" "$(die 0)/ctl"; do
	exec 5<>"$f"
	flock -n 5
	if flock -n "$f" true; then
		fail "two exclusive locks on $f"
	fi
	flock -u 5
	flock -n "$f" true
	exec 5>&-
	/usr/bin/python3 - "$f" <<'P'
import fcntl, os, sys
f = open(sys.argv[1], "r+b", buffering=0)
fcntl.lockf(f, fcntl.LOCK_EX | fcntl.LOCK_NB, 10, 0)
if os.fork() == 0:
    g = open(sys.argv[1], "r+b", buffering=0)
    try:
        fcntl.lockf(g, fcntl.LOCK_EX | fcntl.LOCK_NB, 10, 5)
        os._exit(1)
    except OSError:
        pass
    fcntl.lockf(g, fcntl.LOCK_EX | fcntl.LOCK_NB, 10, 10)
    os._exit(0)
sys.exit(os.waitstatus_to_exitcode(os.wait()[1]))
P
done
(flock 9; : >"$W/locked"; sleep 0.5; echo first >>"$W/order") \
	9<"$(die 1)/vram" &
await test -e "$W/locked"
(flock 9; echo second >>"$W/order") 9<"$(die 1)/vram"
wait
expect_equal "$(xargs <"$W/order")" "first second"
