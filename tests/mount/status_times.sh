#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# mtime and ctime of status are those of the last change that poll reports,
# those of ctl of the last command, those of vram also of a clear by command
. "$(dirname "$0")/lib.sh"
need_slot "dies that take turns, or are held"
DIES=3 VRAM=64M mount_sim wait=100

times() {
	stat -c '%y %z' "$1"
}

# stays FILE COMMAND..., moves FILE COMMAND...: what the command does to its times
stays() {
	local file=$1 old
	old=$(times "$file")
	shift
	"$@"
	expect_equal "$(times "$file")" "$old" "times of $file after $*"
}

moves() {
	local file=$1 old
	old=$(times "$file")
	shift
	sleep 0.02 # the clock of a marker ticks in steps of some milliseconds
	: >"$W/before"
	sleep 0.02
	"$@"
	await is_moved || fail "$file: old times after $*"
	[ "$file" -nt "$W/before" ] ||
		fail "$file: $(times "$file") is before $*"
	expect_equal "$(stat -c %y "$file")" "$(stat -c %z "$file")" "ctime"
}

is_moved() {
	[ "$(times "$file")" != "$old" ]
}

# not that of the look that finds it out; a busy machine may be a while late
is_time_of_change() {
	ctl 1 acquire
	ctl 1 pin
	sleep "$1"
	: >"$W/after"
	sleep 0.02
	ctl 1 unpin
	ctl 0 acquire
	sleep "$1"
	: >"$W/later"
	[ "$M/die1/status" -nt "$W/after" ] && [ "$W/later" -nt "$M/die1/status" ]
}

s=$(die 0)/status
ctl 0 acquire
stays "$s" sleep 0.05
# counters do not count, nor does a look, nor another die
stays "$s" dd if=/dev/zero of="$(die 0)/vram" bs=64K count=4 conv=notrunc \
	status=none
stays "$s" grep -q hold "$s"
moves "$s" ctl 0 pin
stays "$s" ctl_errno 0 EINVAL nonsense
moves "$s" ctl 0 unpin
moves "$s" ctl 1 acquire
stays "$s" ctl 1 pin
stays "$s" ctl 1 unpin
moves "$s" ctl 0 acquire
stays "$s" ctl root timeslice 50

in_contrast is_time_of_change

root=$M/status
moves "$root" ctl 1 pin
moves "$root" ctl 1 unpin
moves "$root" ctl root timeslice 40
moves "$root" ctl 2 acquire
stays "$root" t "$(die 2)/vram" r pread,0,1M
exec 5<"$root"
t fd:5 - pread,0,10 poll,2,0:0
ctl root timeslice 30
t fd:5 - poll,2,0:2
exec 5<&-

# commands
for file in "$(die 0)/ctl" "$M/ctl"; do
	who=0
	[ "$file" != "$M/ctl" ] || who=root
	stays "$file" grep -q release "$file"
	moves "$file" ctl "$who" release
	stays "$file" t "$file" w "puts,nonsense\n:EINVAL"
done
stays "$(die 1)/ctl" ctl 0 acquire
moves "$(die 1)/ctl" bash -c "printf pin >$(die 1)/ctl"
ctl 1 unpin
moves "$(die 0)/vram" ctl 0 zero 0 4K
stays "$(die 1)/vram" ctl 0 zero 0 4K

[ "$K80FS_BACKEND" = sim ] || exit 0
moves "$s" sim driver 0 nvidia
moves "$s" sim driver 0 none
ctl 0 acquire
moves "$(die 0)/vram" ctl 0 reset
sim dead 0
moves "$s" ctl_errno 0 EIO acquire

unmount
VRAM=64M mount_compute
stays "$(die 0)/compute/ctl" grep -q online "$(die 0)/compute/ctl"
moves "$(die 0)/compute/ctl" compute 0 online
stays "$(die 0)/compute/log" grep -q cuInit "$(die 0)/compute/log"
moves "$(die 0)/compute/log" compute 0 work 1 2
stays "$(die 1)/compute/log" compute 0 sync
