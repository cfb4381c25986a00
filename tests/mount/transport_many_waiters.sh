#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Forty requests of one CPU that wait for dies that are out hold up nothing else
# that this CPU asks for, on either transport
. "$(dirname "$0")/lib.sh"
need_sim "many dies"
need_cmd taskset

cpus=$(taskset -cp $$ | sed 's/.*: //')
cpu=${cpus%%[,-]*}

# waiter N: a reader, a writer or a command; its exit code goes to a file
waiter() {
	local d=$((1 + $1 % (N - 1))) rc=0
	case $(($1 % 4)) in
	0) dd if=/dev/zero of="$(die $d)/vram" bs=1M count=1 conv=notrunc ;;
	1) dd of="$(die $d)/ctl" conv=notrunc <<<acquire ;;
	*) dd if="$(die $d)/vram" of=/dev/null bs=4096 count=1 ;;
	esac 2>"$W/waiter$1.err" || rc=$?
	echo $rc >"$W/waiter$1.rc"
}

waiting() {
	local d n=0
	for ((d = 1; d < N; d++)); do
		n=$((n + $(number $d waiters)))
	done
	echo $n
}

# each of the forty waits or has ended
all_are_in() {
	[ $(($(waiting) + $(cat "$W"/waiter*.rc 2>/dev/null | wc -l))) -ge 40 ]
}

# many_waiters WANTED OPTION...: WANTED of forty wait, the others get EBUSY
many_waiters() {
	local want=$1 pids=() i
	shift
	rm -f "$W"/waiter*
	taskset -cp "$cpus" $$ >"$W/log"
	mount_sim wait=60000 "$@"
	taskset -cp "$cpu" $$ >"$W/log"
	t "$(die 0)/vram" rw fill,0,1M,1
	ctl 0 pin
	for ((i = 0; i < 40; i++)); do
		waiter $i &
		pids+=($!)
	done
	await all_are_in || :
	expect_equal "$(waiting)" "$want" "waiting with: $*"
	for i in 1 2 3; do
		soon t "$(die 0)/vram" rw verify,0,1M,1 pwrite,2M,4096,1 \
			fsync
		soon dd if="$(die 0)/vram" of=/dev/null bs=1M count=32 \
			iflag=direct status=none
		soon stat "$(die 1)/vram" >"$W/log"
		soon cat "$(die 1)/status" "$M/status" >"$W/log"
		soon ls -lR "$M" >"$W/log"
		soon df "$M" >"$W/log"
		soon t "$(die 1)/vram" r+nonblock pread,0,1:EBUSY
		soon ctl 0 pin
		soon ctl 0 zero 8M 8M
	done
	soon ctl 0 unpin
	wait "${pids[@]}"
	expect_equal "$(cat "$W"/waiter*.rc | grep -cx 0)" "$want" "served"
	expect_equal "$(cat "$W"/waiter*.err | grep -c 'resource busy' || :)" \
		$((40 - want)) "refused"
	# what waited has given its place back
	for ((i = 1; i < N; i++)); do
		t "$(die $i)/vram" rw pread,0,4096
	done
	unmount
}

many_waiters 40
if uring_on; then
	many_waiters 6 io_uring io_uring_q_depth=8
	many_waiters 2 io_uring io_uring_q_depth=4
	many_waiters 40 io_uring io_uring_q_depth=42
else
	echo "on /dev/fuse alone; no io_uring: $WHY_NO_URING"
fi
