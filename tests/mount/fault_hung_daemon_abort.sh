#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A daemon that hangs is cut off at the connection that findmnt names, as the
# manual has it, and who waits for it gets an error
. "$(dirname "$0")/lib.sh"
need_root "to abort a connection"
need_cmd findmnt unshare
mount_sim

pid=$(daemon_pid)
kill -STOP "$pid"
cat "$(die 0)/status" >"$W/out" 2>"$W/err" &
reader=$!
# not every system has it mounted
cat >"$W/abort" <<'END'
"$2" "$3" || exit
mount -t fusectl none /sys/fs/fuse/connections || exit
n=$(findmnt -no MAJ:MIN "$1" | tr -d ' ')
echo 1 >"/sys/fs/fuse/connections/${n#*:}/abort"
END
sleep 0.2
unshare -m sh "$W/abort" "$M" "$repo/tests/drop-mounts.sh" "$W"
! wait $reader || fail "read something of a daemon that is stopped"
grep -q 'Software caused connection abort\|not connected' "$W/err" ||
	fail "$(cat "$W/err")"
kill -CONT "$pid"
umount "$M"
