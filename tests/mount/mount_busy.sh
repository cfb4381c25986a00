#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# An open file keeps the mount busy; after its close it goes
. "$(dirname "$0")/lib.sh"
mount_sim

exec 5<"$(die 0)/vram"
expect_error "busy" umount "$M"
t fd:5 - pread,0,4096
exec 5<&-
umount "$M"
# a lazy unmount with a file open: the file works on, then the daemon goes
mount_sim
exec 5<>"$(die 0)/vram"
daemon=$(daemon_pid)
umount -l "$M"
t fd:5 - pwrite,0,4096,3 same,0,4096,3
exec 5<&-
await test ! -e "/proc/$daemon" || fail "the daemon is still there"
