# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # rc comes from lib.sh
#
# k80-keeper as a command: its start, --status and --free.

KEEPER=$TOP/build/k80-keeper
ONE=00112233445566778899aabbccddeeff
ONE_GPU=GPU-00112233-4455-6677-8899-aabbccddeeff
TWO=ffeeddccbbaa99887766554433221100
TWO_GPU=GPU-ffeeddcc-bbaa-9988-7766-554433221100

# keeper OPTION...: at ./s; its output to ./out, its exit code to $rc
keeper()
{
	[ -x "$KEEPER" ] || skip "k80-keeper is not built"
	run "$KEEPER" --socket="$WORK/s" "$@"
}

keeper_pid()
{
	cat "$WORK/s.lock"
}

is_gone()
{
	! kill -0 "$1"
}

# client UUID N: a process that has claimed UUID and N pieces of 2 MiB kept; its
# pid to $client
client()
{
	mkfifo hold
	"$PYTHON" "$TOP/tests/helpers/keepclient.py" "$WORK/s" "$@" \
		<hold >ready 2>&1 &
	client=$!
	exec 9>hold
	rm hold
	wait_for grep -q ready ready
}

leave()
{
	exec 9>&-
	wait "$client"
	wait_for grep -q 'claimed by nobody' <("$KEEPER" --socket="$WORK/s" -S)
}

test_start_and_end()
{
	keeper
	expect 0 "$rc" "$(cat out)"
	expect '' "$(cat out)"
	expect 'srw-------' "$(stat -c %A s)" "mode of the socket"
	keeper
	expect 0 "$rc" "a second start"
	expect_line "$WORK/s is the place of process $(keeper_pid)" out
	keeper --status
	expect 0 "$rc"
	expect "k80-keeper $(keeper_pid) at $WORK/s" "$(cat out)"
	kill "$(keeper_pid)"
	wait_for test ! -e s
	keeper -S
	expect 0 "$rc"
	expect "nobody listens at $WORK/s: nothing is kept" "$(cat out)"
	keeper --free=all
	expect 0 "$rc"
	expect_line "nobody listens" out
}

test_it_does_not_hold_up_whoever_reads_its_output()
{
	[ -x "$KEEPER" ] || skip "k80-keeper is not built"
	expect '' "$("$KEEPER" --socket="$WORK/s" 2>&1)"
	kill "$(keeper_pid)"
}

test_in_the_foreground_it_ends_by_signal()
{
	[ -x "$KEEPER" ] || skip "k80-keeper is not built"
	"$KEEPER" -F -s "$WORK/s" &
	wait_for test -S s
	expect $! "$(keeper_pid)" "pid in the lock"
	kill -HUP $!
	kill $!
	wait $!
	[ ! -e s ] || die "the socket is left"
}

test_status_says_what_is_kept_and_for_whom()
{
	keeper
	client $ONE 3
	keeper --status
	expect 0 "$rc"
	expect_line "$ONE_GPU: 3 chunks, 6291456 bytes, no table, claimed by process $client (python3" out
	leave
	keeper --status
	expect_line "$ONE_GPU: 3 chunks, 6291456 bytes, no table, claimed by nobody" out
	kill "$(keeper_pid)"
}

test_free_is_refused_while_claimed()
{
	keeper
	client $ONE 3
	keeper --free=$ONE_GPU
	expect 1 "$rc"
	expect_line "$ONE_GPU: not freed: claimed by process $client (python3" out
	leave
	# all of which one is claimed: the other is freed all the same
	client $TWO 2
	keeper --free=all
	expect 1 "$rc"
	expect_line "$ONE_GPU: freed" out
	expect_line "$TWO_GPU: not freed: claimed by process $client" out
	leave
	keeper -f $TWO
	expect 0 "$rc"
	expect "$TWO_GPU: freed" "$(cat out)"
	keeper --status
	expect "k80-keeper $(keeper_pid) at $WORK/s" "$(cat out)"
	keeper -f $TWO
	expect 1 "$rc"
	expect_line "$TWO_GPU: nothing is kept for it" out
	kill "$(keeper_pid)"
}

test_bad_options_are_refused()
{
	local o

	for o in --free= --free=x --free=${ONE}0 --free=GPU-$ONE,x --foo extra \
		'-S -f all' '-F -S' --socket=here; do
		# shellcheck disable=SC2086 # two words are two options
		keeper $o
		expect 2 "$rc" "exit code with $o ($(cat out))"
	done
	[ ! -e s ] || die "it was started"
	run "$KEEPER" --help
	expect 0 "$rc"
	expect_line "--free=UUID" out
	run "$KEEPER" --version
	expect 0 "$rc"
	expect_line "k80-keeper " out
	rc=0
	"$KEEPER" --help >/dev/full 2>err || rc=$?
	expect 1 "$rc"
	expect_line "standard output: No space left on device" err
	run "$KEEPER" --socket=/nowhere/s
	expect 1 "$rc"
	expect_line "k80-keeper: /nowhere/s: No such file or directory" out
	run "$KEEPER" --socket="/$(printf '%0200d' 1)"
	expect 1 "$rc"
	expect_line "File name too long" out
}

# of others than root a folder of their own, or none is chosen
test_default_place()
{
	need_root
	keeper=$(for_anyone "$KEEPER")
	mkdir run
	chown nobody run
	run setpriv --reuid nobody --clear-groups env XDG_RUNTIME_DIR="$WORK/run" \
		"$keeper"
	expect 0 "$rc" "$(cat out)"
	run setpriv --reuid nobody --clear-groups env XDG_RUNTIME_DIR="$WORK/run" \
		"$keeper" -S
	expect_line " at $WORK/run/k80fs-keeper.sock" out
	kill "$(cat run/k80fs-keeper.sock.lock)"
	run setpriv --reuid nobody --clear-groups env -u XDG_RUNTIME_DIR "$keeper"
	expect 1 "$rc"
	expect_line "say --socket=PATH" out
	mount -t tmpfs tmpfs /run
	run "$KEEPER"
	expect 0 "$rc" "$(cat out)"
	expect 755 "$(stat -c %a /run/k80fs)" "mode of the folder"
	[ -S /run/k80fs/keeper.sock ] || die "no socket"
	kill "$(cat /run/k80fs/keeper.sock.lock)"
}

# what another user has put there is neither used nor given anything
test_keeper_of_another_user_is_a_stranger()
{
	need_root
	keeper=$(for_anyone "$KEEPER")
	mkdir -m 777 place
	run setpriv --reuid nobody --clear-groups "$keeper" -s "$WORK/place/s"
	expect 0 "$rc" "$(cat out)"
	run "$KEEPER" -s "$WORK/place/s" -S
	expect 1 "$rc"
	expect_line "another user's" out
	kill "$(cat place/s.lock)"
}
