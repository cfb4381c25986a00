# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Six kernels at once through one slot, with the vendor's driver bound to all
# six dies; then the same with k80-owner killed while they run.
# time: 300
# alone: yes
top=$(cd "$VM/../.." && pwd)/build
# a step of the delay loop is a millisecond
export LD_LIBRARY_PATH=$top/cuda STANDIN_VRAM=64M STANDIN_STEP_NS=1000000
log=$TMPDIR/owner.log
long=$((4000 * ${SLOW:-1}))

all_cold
check "a tree for modprobe" vendor_tree
cp "$VM/../../mount-helpers/bar_swap.conf" /etc/modprobe.d/
check "loads" load
{
	echo online 0
	echo probe 1
	for die in 1 2 3 4 5; do
		echo online $die
	done
	for die in 0 1 2 3 4 5; do
		echo work $die $((die + 1)) 100 $long
	done
	printf 'swap 0\nstatus\nswap 1\nstatus\n'
	for die in 0 1 2 3 4 5; do
		echo read $die
	done
	printf 'offline 3\nstatus\nread 4\nshutdown\n'
} >"$TMPDIR/commands"
check "a session" "$top/k80-owner" -l "$log" <"$TMPDIR/commands"
check_is "six kernels run while die 0 is in, and while die 1 is" \
	"$(sed '/ read 0: /,$d' "$log" |
		grep -oE 'status [0-5]: running|status: slot [01]' | sort | uniq -c |
		xargs)" \
	"$(for die in 0 1 2 3 4 5; do echo "2 status $die: running"; done | xargs
	) 1 status: slot 0 1 status: slot 1"
check_is "six PASS, and one again when another is offline" \
	"$(grep -c 'read [0-5]: PASS' "$log")" 7 ||
	tail -60 "$log" | sed 's/^/#   /'
check_like "offline takes the driver off" \
	"$(grep 'status 3: ' "$log" | tail -1)" 'offline, .*driver none,'
check_like "a new process sees its die alone" "$(grep 'probe 1' "$log")" \
	'sees 1 CUDA'
check "no worker is left" await 20 workers_gone
check_is "no touch was told" "$(told)" 0
check "the driver leaves" driver_leaves

# start k80-owner on a FIFO, a process group of its own, with six kernels
# running; sets owner
six_run()
{
	rm -f "$TMPDIR/fifo" "$log"
	mkfifo -m 600 "$TMPDIR/fifo"
	set -m
	"$top/k80-owner" -i "$TMPDIR/fifo" -l "$log" </dev/null &
	set +m
	owner=$!
	sed '/swap/,$d' "$TMPDIR/commands" >"$TMPDIR/fifo"
	await 60 grep -q 'work 5: [0-9]' "$log" ||
		tail -60 "$log" | sed 's/^/#   /'
}

# killed TEXT: after the end of the owner nothing is left, nothing was told
killed()
{
	wait $owner 2>/dev/null
	check "$1: the workers end" await 60 workers_gone
	check_is "$1: no touch was told" "$(told)" 0
	check "$1: the driver leaves" driver_leaves
}

six_run
kill -KILL $owner
killed SIGKILL
six_run
kill -TERM $owner
killed SIGTERM
six_run
kill -TERM -- -$owner
killed "SIGTERM to all"

six_run
kill -KILL "$(pgrep -f '^k80-worker 3 ' | head -1)"
{
	for die in 0 1 2 3 4 5; do
		echo read $die
	done
	printf 'online 3\nwork 3 9 9\nread 3\nshutdown\n'
} >"$TMPDIR/fifo"
killed "one worker killed"
check_is "one worker killed: what comes of the reads" \
	"$(grep -oE 'read [0-5]: (PASS|error)' "$log" | xargs)" \
	"read 0: PASS read 1: PASS read 2: PASS read 3: error$(:
	) read 4: PASS read 5: PASS read 3: PASS"
check "unloads" unload
