#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The daemon's memory never waits for pages that are to be written, which may be
# those of a loop device on one of its dies
. "$(dirname "$0")/lib.sh"
need_root "the right to say so"
need_cmd python3
# PR_SET_IO_FLUSHER, PF_MEMALLOC_NOIO
python3 -c 'import ctypes, sys; sys.exit(ctypes.CDLL(None).prctl(57, 1, 0, 0, 0) != 0)' ||
	skip "no CAP_SYS_RESOURCE, or a kernel before 5.6"
mount_sim
for task in "/proc/$(daemon_pid)/task"/*; do
	flags=$(sed 's/.*) //' "$task/stat" | cut -d' ' -f7)
	((flags & 0x80000)) || fail "thread ${task##*/} has flags $flags"
done
