#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A worker that is killed costs its die until it is online again, and nobody else;
# one that is stopped holds up no unmount and keeps no mount alive; none is left
# when the daemon is killed
. "$(dirname "$0")/lib.sh"
need_slot "a worker a die"

# worker_of DIE: its pid; others' workers have another work folder
worker_of() {
	local p
	for p in $(grep -lzxF "K80_TEST_WORK=$W" /proc/[0-9]*/environ \
		2>/dev/null || :); do
		p=${p%/environ}
		[ "$(tr '\0' ' ' 2>/dev/null <"$p/cmdline" |
			cut -d' ' -f1,2)" = "k80-worker $1" ] && echo "${p#/proc/}"
	done
	return 0
}

# gone PID: it has closed its files, which a driver's may delay
gone() {
	local state
	read -r _ _ state _ 2>"$W/log" <"/proc/$1/stat" || return 0
	set -- "/proc/$1/task"/*
	[ "$state" = Z ] && [ $# -le 1 ]
}

export K80_TEST_WORK=$W
mount_compute
for d in 0 1 2; do
	compute $d online
	expect_equal "$(worker_of $d | wc -l)" 1 "workers of die $d"
done
compute 0 work 0 5 500000000
compute 1 work 1 5 100000000000
compute 2 work 2 5 500000000

# what it has: nothing of the daemon's but a socket and memory
pid=$(worker_of 1)
grep -q '^SigIgn:.*[4567cdef]...$' "/proc/$pid/status" ||
	fail "SIGTERM is not ignored: $(grep SigIgn "/proc/$pid/status")"
for fd in "/proc/$pid/fd"/*; do
	case $(readlink "$fd") in
	/dev/null | socket:* | /memfd:k80-worker* | anon_inode:* | pipe:*) ;;
	/dev/nvidia* | /proc/driver/nvidia/* | /dev/char/*) # the driver's own
		[ "${K80_LIBCUDA:-}" = real ] ||
			fail "the worker has $(readlink "$fd")"
		;;
	/memfd:standin-memory*) # the same of the stand-in
		[ "${K80_LIBCUDA:-}" != real ] ||
			fail "the worker has $(readlink "$fd")"
		;;
	*) fail "the worker has $(readlink "$fd")" ;;
	esac
done
! grep -q ' fuse.k80fs ' "/proc/$pid/mountinfo" || [ "$(id -u)" != 0 ] ||
	fail "the worker sees a k80fs"
# needs a capability that a container's root lacks
! (echo -1000 >/proc/self/oom_score_adj) 2>"$W/log" ||
	expect_equal "$(cat "/proc/$pid/oom_score_adj")" -1000 oom_score_adj
expect_equal "$(ps -o sid= -p "$pid" | tr -d ' ')" "$pid" "its session"
kill -TERM "$pid"

kill -KILL "$pid"
compute_errno 1 EIO sync
expect_compute 1 state failed
grep -q "worker has died" < <(compute_status 1 last_error) ||
	fail "last_error: $(compute_status 1 last_error)"
for d in 0 2; do
	compute $d verify
	expect_compute $d verified PASS
done
compute 1 online
compute 1 work 1 2
compute 1 verify
expect_compute 1 verified PASS
# while nobody asks
pid=$(worker_of 2)
kill -KILL "$pid"
for ((i = 0; i < 100; i++)); do
	! gone "$pid" || break
	sleep 0.05
done
compute 2 online
compute 2 work 1 2
compute 2 verify

# an unmount with a worker that answers nothing: its copy of the mount is gone,
# or this daemon would not learn of it
pid=$(worker_of 0)
daemon=$(daemon_pid)
kill -STOP "$pid"
umount "$M"
sleep 1
kill -CONT "$pid"
for ((i = 0; i < 100; i++)); do
	! gone "$daemon" || break
	sleep 0.1
done
gone "$daemon" || fail "the daemon is there 10 s after the unmount"
for d in 0 1 2; do
	expect_equal "$(worker_of $d)" "" "worker of die $d"
done

# kill -9 of the daemon: clients are answered at once, also beside a worker that
# is stopped, and the workers leave
mount_compute
compute 0 online
compute 0 work 1 2 10000000000
compute 3 online
pid=$(worker_of 3)
kill -STOP "$pid"
kill -KILL "$(daemon_pid)"
for ((i = 0; i < 50; i++)); do
	[ -n "$(worker_of 0)" ] || break
	sleep 0.1
done
expect_equal "$(worker_of 0)" "" "worker of die 0"
expect_error "not connected" timeout 5 stat "$M/status"
kill -CONT "$pid"
for ((i = 0; i < 50; i++)); do
	[ -n "$(worker_of 3)" ] || break
	sleep 0.1
done
expect_equal "$(worker_of 3)" "" "worker of die 3"
