#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# kill -9 of a daemon that waits for its own first answer: nothing hangs
. "$(dirname "$0")/lib.sh"
need_sim "a daemon with a library of ours"
M=$W/mnt
mkdir "$M"
mounts+=("$M")
export SLOW_LOOK=$W/looked
LD_PRELOAD=$BIN/slow_look.so "$K80FS" -f -o backend=sim,sim_vram=16M "$M" \
	2>"$W/log" &
pid=$!
await test -e "$SLOW_LOOK" || fail "it does not look: $(cat "$W/log")"
stat "$M/status" >"$W/out" 2>&1 &
kill -9 "$pid"
if ! await is_gone "$pid"; then
	umount -f "$M" || :
	fail "a thread of it waits for its own answer"
fi
umount "$M" || umount -l "$M"
