#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A line runs when it is whole, however the writes cut it; a tail of the first
# write alone, or at the close; what destroys needs its newline
. "$(dirname "$0")/lib.sh"
need_slot "dies that take turns, or are held"
mount_sim
c=$(die 0)/ctl v=$(die 0)/vram

printf 'acquire\npin\n' | cat >"$c"
expect_status 0 hold pin
expect_error "Invalid argument" bash -c "printf 'unpin\nfoo\n' | cat >'$c'"
expect_status 0 hold none
# the first write of an open file needs none, nor does the last
bash -c "printf 'pin' >'$c'"
expect_status 0 hold pin
t "$c" w "puts,acquire\nunpin"
expect_status 0 hold none
# what is behind the last newline goes on with the next write
t "$c" w "puts,\nacq" "puts,uire\npi" "puts,n" "puts,\n"
expect_status 0 hold pin
t "$c" w "puts,unpin" "puts,pi" "puts,n\nacq" "puts,uire foo\n:EINVAL"
expect_status 0 hold pin
# and what is kept runs at the close, which tells; twice it does not
t "$c" w "puts,\nbogus" flush:EINVAL flush
t "$c" w "puts,\nunpin" flush flush
expect_status 0 hold none
t "$c" w "puts,acq:EINVAL" "puts,uire\n:EINVAL"
# dd bs=1 writes single letters: the first of them is no command
expect_error "Invalid argument" dd of="$c" bs=1 status=none <<<acquire
# bash's printf writes each line by itself
bash -c "printf 'pin\nunpin\n' >'$c'"
echo unpin >>"$c"
expect_status 0 hold none
echo pin >"$c"
busybox sh -c "echo unpin >>'$c'; echo pin >'$c'"
expect_status 0 hold pin
tee -a "$c" <<<unpin >"$W/log"
busybox tee "$c" <<<release >"$W/log"
expect_status 0 state idle
cp <(echo acquire) "$c"
expect_status 0 state active
# the position is ignored
t "$c" rw "pputs,100000,pin\n" "pputs,3,unpin\n" lseek,50,set "puts,pin\n" \
	"puts,release\n"
t "$c" w+append "puts,acquire\n"
t "$c" w+trunc "puts,release\n"

# zero, reset and acquire sbr that were cut do nothing, and the close tells
kept() {
	t "$v" r verify,0,1M,7
	expect_status 0 generation "$gen"
}
t "$v" rw fill,0,1M,7
gen=$(status 0 generation)
for line in zero 'zero 0 4K' 'zero 0' reset 'acquire sbr' 'acquire sbr nowait'; do
	t "$c" w "puts,$line" flush:EINVAL flush
	t "$c" w "puts,\n$line" flush:EINVAL
	printf '%s' "$line" >"$c"
	kept
done
t "$c" w "puts,zero 0" "puts, 4K\n"
t "$v" r same,0,4K,0 verify,4K,1020K,7
# a program that writes through a buffer of 4096 bytes cuts the line there
t "$v" rw fill,0,1M,7
{
	printf '%4091s\n' ''
	echo 'zero 512K 4K'
} >"$W/lines"
awk 1 "$W/lines" >"$c"
t "$v" r verify,0,512K,7 same,512K,4K,0 verify,516K,508K,7
t "$v" rw fill,0,1M,7
dd if="$W/lines" of="$c" bs=4096 status=none
t "$v" r verify,0,512K,7 same,512K,4K,0 verify,516K,508K,7
# a line may come in pieces, but be no longer than a write
t "$c" w "puts,\nacquire" write,4096,32:E2BIG "puts,pin\n"
expect_status 0 hold pin
