#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The keeper dies: another has everything; it and the daemon die: memory is free
. "$(dirname "$0")/lib.sh"
DIES=2 mount_mem
d=$(mem 0)
random_file "$W/in" 9000000
cp "$W/in" "$d/a"
echo other >"$(mem 1)/b"
old=$(keeper_pid)
has_another() { [[ $(root_status mem_keeper) != "$old "* ]] && has_keeper; }
has_keeper() { [[ $(root_status mem_keeper) = [0-9]* ]]; }
kill -9 "$old"
await has_another || fail "the keeper is $(root_status mem_keeper)"
# made while it was gone or not: all of it is with the new one
cp "$W/in" "$d/c"
mem_kill
mem_again
cmp "$W/in" "$d/a"
cmp "$W/in" "$d/c"
expect_equal "$(cat "$(mem 1)/b")" other "other die"
expect_equal "$(number 0 mem_lost)" 0 "lost"

# a write that needs memory meets the dead keeper itself
old=$(keeper_pid)
kill -9 "$old"
cp "$W/in" "$d/e"
cmp "$W/in" "$d/e"
await has_another || fail "the keeper is $(root_status mem_keeper)"

# without any keeper, what is there stays as long as the daemon
pids=("$(keeper_pid)" "$(daemon_pid)")
kill -9 "${pids[@]}"
for pid in "${pids[@]}"; do
	await is_gone "$pid" || fail "$pid is still there"
done
soon umount -l "$M"
mem_again
expect_equal "$(ls "$d")" "" "files that nobody held"
freed 0

# one command frees all
cp "$W/in" "$d/a"
unmount
keeper --free all
mem_again
expect_equal "$(ls "$d")" "" "files after --free"
freed 0

# two daemons do not write to one pool
cp "$W/in" "$d/a"
first=$M
mount_mem
[[ $(status 0 mem) = "no: another k80fs has its files: pid "* ]] ||
	fail "mem of the second mount is '$(status 0 mem)'"
[ ! -e "$(mem 0)" ] || fail "the second mount has a folder"
unmount
M=$first
cmp "$W/in" "$(mem 0)/a"
