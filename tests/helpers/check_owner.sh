# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # read by run.sh, behind lib.sh
#
# k80-owner on the stand-in libcuda: sessions, FIFO, log, options.

OWNER=${K80_OWNER:-$TOP/build/k80-owner}
STANDIN=${K80_LIBCUDA:-$TOP/build/cuda}
PERSIST=${OWNER%/*}/compute_persist

# owner [OPTION]...: on simulated dies; commands on stdin, the log to ./out
owner()
{
	[ -x "$OWNER" ] || skip "k80-owner is not built"
	rc=0
	# a run of tests may be under nohup(1)
	if [ "$STANDIN" = real ]; then
		env --default-signal=HUP "$OWNER" --device=sim:vram=64M "$@" \
			>out 2>&1 || rc=$?
	else
		LD_LIBRARY_PATH=$STANDIN env --default-signal=HUP \
			"$OWNER" --device=sim:vram=64M "$@" >out 2>&1 || rc=$?
	fi
}

# every line begins with the time, and nothing of one is missing
check_log()
{
	! LC_ALL=C grep -vE '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}\.[0-9]{6}Z [ -~]+$' "$1" ||
		die "a line without a time"
	expect "$(tail -c 1 "$1" | od -An -c | tr -d ' ')" '\n' "end of the log"
	# by the time alone: two lines may be of one microsecond
	LC_ALL=C sort -c -s -k 1,1 "$1" || die "the log is out of order"
}

# session DELAY: commands
session()
{
	echo discover
	for d in 0 1 2 3 4 5; do echo "online $d"; done
	for d in 0 1 2 3 4 5; do echo "work $d $((d + 7)) 1000 $1"; done
	echo status
	for d in 0 1 2 3 4 5; do echo "read $d"; done
	printf 'probe 1\ncount\nswap 3\nstatus\nquit\nread 0\n'
}

check_session()
{
	local d

	expect 0 "$rc" "exit code"
	check_log out
	expect_line "discover: 6 dies, device sim" out
	expect 6 "$(grep -cE ' read [0-5]: PASS 1048576 of 1048576 right' out)" PASS
	for d in 0 1 2 3 4 5; do
		expect_line "read $d: PASS 1048576 of 1048576 right, seed $((d + 7)), iters 1000, sync" out
	done
	expect_line "probe 1: a new process sees" out
	expect_line "count: " out
	expect_line "swap 3: in the slot" out
	expect_line "status: slot 3" out
	expect_no_line error out
	expect 6 "$(grep -c ' read [0-5]: PASS' out)" "commands after quit"
	expect_line "end: the slot stays as it is" out
}

test_session_on_six_dies_passes()
{
	session 100000000 >commands
	owner <commands
	check_session
}

test_session_on_streams_passes()
{
	session 100000000 >commands
	owner --streams <commands
	check_session
}

test_work_on_six_dies_overlaps()
{
	local delay=2000000000 running

	[ "$STANDIN" != real ] || delay=300000000
	# a machine may be too busy to launch six in that time, but not in more
	for delay in $delay $((delay * 4)) $((delay * 16)); do
		session "$delay" >commands
		owner <commands
		check_session
		# all six were launched before the first had ended
		running=$(sed -n '/ status: /q; / status [0-5]: running/p' out |
			wc -l)
		[ "$running" -ne 6 ] || return 0
	done
	die "never more than $running of six ran at once"
}

test_session_without_a_slot_passes()
{
	printf 'discover\nonline 2\nonline 2\nwork 2 1 2\nread 2\nprobe 0\nswap 1\ncount\n' \
		>commands
	owner --device=none --dies=3 <commands
	expect 0 "$rc" "exit code"
	check_log out
	expect_line "discover: 3 dies, device none" out
	expect_line "online 2: ok, it was online" out
	expect_line "read 2: PASS" out
	expect_line "swap 1: there is no slot" out
}

# the line of a step comes before what the step makes
test_each_step_is_logged_before_it_is_done()
{
	printf 'online 3\nwork 3 0x10 5\nread 3\noffline 3\nread 3\n' >commands
	owner --log=log <commands
	expect 3 "$rc" "exit code"
	check_log log
	sed 's/^[^ ]* //' log >steps
	expect "online 3: acquire
online 3: start of k80-worker
online 3: cuInit
online 3: cuCtxCreate
online 3: cuStreamCreate, cuMemAlloc, cuMemHostRegister
online 3: cuModuleLoadDataEx" "$(sed -n '/acquire/,/cuModuleLoad/p' steps)" steps
	sed -n '/^work/,$p' steps >rest
	expect "work 3: cuLaunchKernel k80_add" "$(head -n 1 rest)" "first of work"
	expect_line "work 3: 1048576 floats, seed 16, iters 5" rest
	expect_line "read 3: PASS" rest
	expect_line "offline 3: end of its worker" rest
	expect_line "read 3: error: it is not online" rest
}

test_a_killed_worker_costs_its_die_alone()
{
	local pid worker=''

	mkfifo -m 600 fifo
	owner --input=fifo --log=log &
	pid=$!
	printf 'online 0\nonline 1\nwork 0 1 2 1000000000\nwork 1 3 4\n' >fifo
	wait_for grep -q 'work 1: 1048576' log
	worker=$(pgrep -x -f 'k80-worker 1 .*')
	kill -KILL "$worker"
	printf 'read 1\nread 0\nonline 1\nwork 1 5 6\nread 1\nquit\n' >fifo
	wait $pid || :
	check_log log
	expect_line "read 1: its worker has died" log
	expect_line "read 1: error: Input/output error" log
	expect_line "read 0: PASS" log
	expect_line "read 1: PASS" log
	expect '' "$(pgrep -x -f 'k80-worker .*' || :)" "workers left"
}

# the end is an orderly one, also by signal and when it is killed
test_no_worker_is_left_behind()
{
	local pid sig

	for sig in TERM INT HUP KILL; do
		rm -f fifo log
		owner --input=fifo --log=log &
		pid=$!
		wait_for test -p fifo
		printf 'online 0\nonline 1\nwork 0 1 2 100000000000\n' >fifo
		wait_for grep -q 'work 0: 1048576' log
		kill -$sig "$(pgrep -f '^[^ ]*k80-owner .*--input=fifo')"
		wait $pid || :
		[ $sig = KILL ] || expect_line "end: the slot stays" log
		wait_for sh -c '! pgrep -x -f "k80-worker .*"'
	done
}

test_nohup_is_meant()
{
	local pid

	mkfifo -m 600 fifo
	nohup "$OWNER" --device=none --input=fifo --log=log >/dev/null 2>&1 &
	pid=$!
	wait_for grep -q ' ready' log
	kill -HUP $pid
	timeout 20 sh -c 'printf "count\nstatus\nquit\n" >fifo' ||
		die "it has ended: $(cat log)"
	wait $pid || :
	expect_line "status: slot" log
}

test_input_of_others_is_refused()
{
	mkfifo -m 622 fifo
	owner --input=fifo
	expect 1 "$rc" "exit code"
	expect_line "fifo: refused: others may write to it" out
	owner --input=/dev/null
	expect 1 "$rc" "exit code"
	expect_line "refused: neither a FIFO nor a file" out
}

test_garbage_is_survived()
{
	{
		printf 'online 0\nfoo\nonline\nonline 6\nonline -1\nonline 0x0\n'
		printf 'work 0 1 15728641\nread 1\nread 0\nwork 3 1 1\n\n \n'
		head -c 100000 /dev/urandom
		printf '\n'
		head -c 5000 /dev/zero | tr '\0' x
		printf '\nwork 0 9 9\nread 0'
	} >commands
	owner <commands
	expect 3 "$rc" "exit code"
	check_log out
	expect_line "error: unknown command: 'foo'" out
	expect_line "error: wrong number of arguments: 'online'" out
	expect_line "error: no such die: 'online 6'" out
	expect_line "error: not a number: 'online -1'" out
	expect_line "error: not a number: 'online 0x0'" out
	expect_line "error: more iterations than 15728640: 'work 0 1 15728641'" out
	expect_line "read 1: error: it is not online" out
	expect_line "read 0: error: No data available" out
	expect_line "error: longer than a line may be: 'xxxxxxxx" out
	expect_line "read 0: PASS" out
}

# 1 if some process has ./log open so that a line written is on the disk
log_is_dsync()
{
	local f

	for f in /proc/[0-9]*/fd/*; do
		[ "$f" -ef log ] || continue
		echo $((($(sed -n 's/^flags:[[:space:]]*//p' \
			"${f/\/fd\//\/fdinfo\/}") & 010000) != 0))
		return
	done
}

test_fifo_keeps_what_comes_between_writers()
{
	owner --input=fifo --log=log &
	local pid=$!

	wait_for test -p fifo
	echo "online 0" >fifo
	# half a line, and its rest from another writer
	printf 'work 0 1' >fifo
	printf ' 2\nswap 1\n' >fifo
	wait_for grep -q 'work 0: 1048576 floats, seed 1, iters 2,' log
	expect "-rw-r--r--" "$(stat -c %A log)" "mode of the log"
	expect "prw-------" "$(stat -c %A fifo)" "mode of the FIFO"
	expect 1 "$(log_is_dsync)" "the log is O_DSYNC"
	printf 'read 0\n' >fifo
	wait_for grep -q 'read 0: PASS' log
	echo shutdown >fifo
	wait $pid
	check_log log
	expect_line "end:" log
	expect_no_line error log
	expect "" "$(cat out)" "standard output"
	# appended to
	echo quit >commands
	owner --log=log <commands
	expect 2 "$(grep -c ' ready$' log)" "sessions in the log"
}

test_a_slow_command_loses_none_that_follow()
{
	owner --device=sim:vram=64M,swap_us=300000 --input=fifo --log=log &
	local pid=$!

	wait_for test -p fifo
	printf 'swap 1\n' >fifo
	sleep .1
	echo count >fifo
	echo status >fifo
	echo quit >fifo
	wait $pid
	expect_line "swap 1: in the slot" log
	expect_line "count: " log
	expect_line "status: slot 1" log
}

test_input_that_is_a_file_ends_at_its_end()
{
	printf 'status\n' >commands
	owner --input=commands
	expect 0 "$rc" "exit code"
	expect_line "status 5: offline" out
}

test_bad_options_are_refused()
{
	local o

	for o in --dies=0 --dies=17 --dies=x --foo extra; do
		run "$OWNER" "$o"
		expect 2 "$rc" "exit code with $o"
	done
	run "$OWNER" --device=/nowhere </dev/null
	expect 1 "$rc" "exit code"
	expect_line "--device=none or --device=sim" out
	run "$OWNER" --log=/nowhere/log --device=sim:vram=64M </dev/null
	expect 1 "$rc" "exit code"
	expect_line "/nowhere/log: No such file" out
	run "$OWNER" --help
	expect 0 "$rc" "exit code"
	expect_line "--input=FIFO" out
	run "$OWNER" --version
	expect 0 "$rc" "exit code"
	expect_line "k80-owner " out
}

test_without_libcuda_online_says_so()
{
	[ "$STANDIN" != real ] || skip "there is a libcuda"
	! ldconfig -p 2>/dev/null | grep -q 'libcuda\.so\.1' ||
		skip "there is a libcuda"
	rc=0
	printf 'online 0\ncount\nprobe 0\n' |
		"$OWNER" --device=sim:vram=64M >out 2>/dev/null || rc=$?
	expect 3 "$rc" "exit code"
	expect_line "install the vendor's driver" out
	expect_line "online 0: error: No such device" out
	expect_line "probe 0: error: No such device" out
}

test_a_full_log_ends_it()
{
	local out

	[ -c /dev/full ] || skip "no /dev/full"
	mkfifo -m 600 fifo
	owner --log=/dev/full --input=fifo
	expect 1 "$rc" "exit code"
	expect "k80-owner: the log: No space left on device" "$(cat out)" complaint
	rc=0
	printf 'online 0\n' | "$OWNER" --device=none 2>err >/dev/full || rc=$?
	expect 1 "$rc" "exit code with standard output full"
	expect_line "the log: No space left on device" err
	rc=0
	"$OWNER" --device=none </dev/null >&- 2>err || rc=$?
	expect 1 "$rc" "exit code without standard output"
	expect_line "the log: Bad file descriptor" err
	for out in --help --version; do
		rc=0
		"$OWNER" $out >/dev/full 2>err || rc=$?
		expect 1 "$rc" "exit code of $out"
		expect_line "standard output: No space left on device" err
	done
}

# the signal that comes with it would leave every die to the anchors
test_a_log_at_the_limit_of_files_ends_it_in_order()
{
	mkfifo -m 600 fifo
	head -c 1000 /dev/zero | tr '\0' '\n' >log
	rc=0
	(
		ulimit -f 1
		exec "$OWNER" --device=none --input=fifo --log=log >out 2>&1
	) || rc=$?
	expect 1 "$rc" "exit code"
	expect "k80-owner: the log: File too large" "$(cat out)" complaint
}

test_an_input_that_cannot_be_read_is_an_error()
{
	rc=0
	"$OWNER" --device=none </etc >out 2>&1 || rc=$?
	expect 1 "$rc" "exit code with a folder"
	expect_line "k80-owner: standard input: Is a directory" out
	rc=0
	"$OWNER" --device=none --log=log <&- >out 2>&1 || rc=$?
	expect 1 "$rc" "exit code without standard input"
	expect_line "k80-owner: standard input: Bad file descriptor" out
	check_log log
	owner --input=/etc
	expect 1 "$rc" "exit code with --input"
	expect_line "/etc: refused: neither a FIFO nor a file" out
}

test_advice_fits_the_device()
{
	run "$OWNER" --device=sim:foo=1 </dev/null
	expect 1 "$rc" "exit code"
	expect_line "sim:foo=1: Invalid argument: the options of sim are" out
	expect_no_line modprobe out
	run "$OWNER" --device=sim:dir=/nowhere </dev/null
	expect 1 "$rc" "exit code"
	expect_line "sim:dir=/nowhere: No such file" out
	expect_no_line modprobe out
	mkdir -p dies/die0
	run "$OWNER" --device=sim:dir=dies </dev/null
	expect 1 "$rc" "exit code"
	expect_line "k80-owner: dies/die0: not a regular file" out
	expect_no_line modprobe out
	run "$OWNER" --device=/dev/null </dev/null
	expect 1 "$rc" "exit code"
	expect_line "this is not the node of bar_swap" out
	expect_no_line modprobe out
}

test_compute_persist_passes_in_miniature()
{
	local ms

	[ "$STANDIN" != real ] || skip "the long one is run there"
	[ -x "$PERSIST" ] || skip "it is not built"
	export LD_LIBRARY_PATH=$STANDIN BARSWAP_DEVICE=sim:vram=64M
	# a busy machine may stutter for as long as a short kernel takes
	for ms in 400 1600 6400; do
		rc=0
		"$PERSIST" -m $ms -s $((ms * 500)) 2 >out 2>&1 || rc=$?
		[ "$rc" -ne 0 ] || break
	done
	expect 0 "$rc" "exit code: $(cat out)"
	expect_line "1048576 of 1048576 right" out
	expect_line "PASS: die 2, 6 dies, device sim" out
	rc=0
	"$PERSIST" -m 400 6 >out 2>&1 || rc=$?
	expect 2 "$rc" "exit code for a die that is not there"
	# a context that is lost while it is out
	rc=0
	STANDIN_FAIL=cuStreamSynchronize:2:719:0 \
		"$PERSIST" -m 400 >out 2>&1 || rc=$?
	expect 1 "$rc" "exit code: $(cat out)"
}

test_persist_programs_name_the_device_they_cannot_open()
{
	local program

	for program in vram_persist compute_persist; do
		[ -x "$TOP/build/$program" ] || skip "needs build/$program"
		run env BARSWAP_DEVICE="$WORK/none" "$TOP/build/$program"
		expect 2 "$rc"
		expect_line "open $WORK/none: No such file or directory" out
		expect_line 'BARSWAP_DEVICE=sim' out
	done
}
