#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A dead mount in the way is named, not covered by a second one
. "$(dirname "$0")/lib.sh"
need_sim "a daemon is killed"
mount_sim
kill -9 "$(daemon_pid)"
is_gone() {
	[ -z "$(daemon_pids "$M")" ]
}
await is_gone
rc=0
"$K80FS" -o backend=sim,sim_vram=64M "$M" 2>"$W/err" || rc=$?
expect_equal "$rc" 2 "exit code"
grep -qF "a dead mount is in the way; run: fusermount3 -uz $M" "$W/err" ||
	fail "said: $(cat "$W/err")"
expect_equal "$(grep -c " $M " /proc/self/mountinfo)" 1 "mounts there"
umount -l "$M"
