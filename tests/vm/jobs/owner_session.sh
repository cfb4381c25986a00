# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Six kernels at once through one slot, with the vendor's driver bound to all
# six dies; then the same with k80-owner killed while they run.
# time: 300
# alone: yes
top=$(cd "$VM/../.." && pwd)/build
# a step of the delay loop is a millisecond: a kernel lasts 5 s
export LD_LIBRARY_PATH=$top/cuda STANDIN_VRAM=64M STANDIN_STEP_NS=1000000
log=$TMPDIR/owner.log

# the last die's driver leaves while that die is in
driver_leaves()
{
	local die

	for die in 0 1 2 3 4 5; do
		[ -e "$SYS/${DIES[$die]}/driver" ] || continue
		bs acquire $die force >/dev/null
		echo "${DIES[$die]}" >"$SYS/${DIES[$die]}/driver/unbind"
	done
	rmmod nvidia_uvm nvidia
}

workers_gone()
{
	! pgrep -x k80-worker
}

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
		echo work $die $((die + 1)) 100 5000
	done
	for die in 0 1 2 3 4 5; do
		echo read $die
	done
	echo shutdown
} >"$TMPDIR/commands"
check "a session" "$top/k80-owner" -l "$log" <"$TMPDIR/commands"
check_is "six PASS" "$(grep -c 'read [0-5]: PASS' "$log")" 6 ||
	tail -60 "$log" | sed 's/^/#   /'
check_like "a new process sees its die alone" "$(grep 'probe 1' "$log")" \
	'sees 1 CUDA'
check "no worker is left" await 20 workers_gone
check_is "no touch was told" "$(told)" 0
check "the driver leaves" driver_leaves

# start k80-owner on a FIFO with six kernels running; sets owner
six_run()
{
	rm -f "$TMPDIR/fifo" "$log"
	mkfifo -m 600 "$TMPDIR/fifo"
	"$top/k80-owner" -i "$TMPDIR/fifo" -l "$log" </dev/null &
	owner=$!
	grep -vE 'read|shutdown' "$TMPDIR/commands" >"$TMPDIR/fifo"
	await 60 grep -q 'work 5: [0-9]' "$log" ||
		tail -60 "$log" | sed 's/^/#   /'
}

for signal in KILL TERM; do
	six_run
	kill -$signal $owner
	wait $owner 2>/dev/null
	check "SIG$signal: the workers end" await 30 workers_gone
	check_is "SIG$signal: no touch was told" "$(told)" 0
	check "SIG$signal: the driver leaves" driver_leaves
done

six_run
kill -KILL "$(pgrep -x k80-worker | head -1)"
sleep 1
echo shutdown >"$TMPDIR/fifo"
wait $owner
check "one worker killed: the others end in order" await 30 workers_gone
check_is "one worker killed: no touch was told" "$(told)" 0
check "one worker killed: the driver leaves" driver_leaves
check "unloads" unload
