#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Files are there after umount and mount, and after a kill; with all that stat says
. "$(dirname "$0")/lib.sh"
DIES=2 mount_mem
d=$(mem 0)
random_file "$W/in" 9000000
cp "$W/in" "$d/a"
truncate -s 900M "$d/sparse"
echo end >>"$d/sparse"
: >"$d/empty"
chmod 640 "$d/a"
touch -d '2001-02-03 04:05:06.789' "$d/a"
echo other >"$(mem 1)/other"
facts() { (cd "$M" && stat -c '%n %s %b %a %u %g %Y %y %i' die*/mem/*); }
before=$(facts)
check() {
	expect_equal "$(facts)" "$before" "$1"
	cmp "$W/in" "$d/a"
	expect_equal "$(tail -c 4 "$d/sparse")" end "$1: sparse"
	expect_equal "$(cat "$(mem 1)/other")" other "$1: other die"
	expect_equal "$(number 0 mem_files) $(number 0 mem_lost)" "3 0" "$1"
}
check "at first"
k=$(keeper_pid)
unmount
expect_equal "$(keeper_pid)" "$k" "the keeper stays"
mem_again
check "after umount and mount"
mem_kill
mem_again
check "after a kill"
expect_equal "$(root_status mem_keeper)" "$k $KEEPER" "who holds it"

# a length that was set is there, with or without bytes
pid=$(daemon_pid)
truncate -s 5000000 "$d/longer"
kill -9 "$pid"
await is_gone "$pid" || fail "daemon $pid is still there"
umount -l "$M"
mem_again
expect_equal "$(stat -c %s "$d/longer")" 5000000 "a length that was set"
rm "$d/longer"

# what has no name any more goes with the daemon
exec 5<"$d/a"
rm "$d/a"
cmp "$W/in" <(cat <&5)
taken=$(number 0 mem_bytes)
mem_kill
exec 5<&-
mem_again
[ "$(number 0 mem_bytes)" -lt "$taken" ] || fail "its memory is still taken"
[ ! -e "$d/a" ] || fail "it is there again"
# numbers are not given again
echo new >"$d/new"
! grep -q " $(stat -c %i "$d/new")\$" <<<"$before" || fail "an inode twice"
