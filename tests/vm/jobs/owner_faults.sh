# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# What costs a die under k80-owner, and that die alone, while six kernels run: a
# kernel that writes to a bad address; a worker that is killed together with its
# anchor.
# time: 240
# ci: 6.12
# alone: yes
top=$(cd "$VM/../.." && pwd)/build
# a step of the delay loop is a millisecond; a bad address costs the process
export LD_LIBRARY_PATH=$top/cuda STANDIN_VRAM=64M STANDIN_STEP_NS=1000000
export STANDIN_SPOILS=1 STANDIN_STRAY=$TMPDIR/stray
log=$TMPDIR/owner.log
long=$((4000 * ${SLOW:-1}))

each()
{
	local die

	for die in 0 1 2 3 4 5; do
		# shellcheck disable=SC2059 # the caller's
		printf "$1\n" $die
	done
}

# a process that nobody has waited for yet, too
is_dead()
{
	[ ! -e "/proc/$1" ] || grep -q '^State:[[:space:]]*[ZX]' "/proc/$1/status"
}

reads()
{
	grep -oE 'read [0-5]: (PASS|FAIL|error)' "$log" | xargs
}

was_told()
{
	[ "$(told)" -gt 0 ]
}

all_cold
check "a tree for modprobe" vendor_tree
cp "$VM/../../mount-helpers/bar_swap.conf" /etc/modprobe.d/
check "loads" load

# a real one would be a fault of the kernel's own: work has none to give
echo "${DIES[2]}" >"$TMPDIR/stray"
mkfifo -m 600 "$TMPDIR/fifo"
"$top/k80-owner" -i "$TMPDIR/fifo" -l "$log" </dev/null &
owner=$!
{
	each 'online %d'
	each "work %d 7 100 $long"
	each 'read %d'
} >"$TMPDIR/fifo"
check "a bad address: the reads end" await 60 grep -q 'read 5: [Pe]' "$log"
check_is "a bad address: what comes of them" "$(reads)" \
	"read 0: PASS read 1: PASS read 2: error$(:
	) read 3: PASS read 4: PASS read 5: PASS"
check_like "a bad address: it is named" "$(grep ' 2: ' "$log")" \
	CUDA_ERROR_ILLEGAL_ADDRESS
rm "$TMPDIR/stray"
printf 'status\nonline 2\nwork 2 9 9\nread 2\nstatus\n' >"$TMPDIR/fifo"
check "a bad address: online again" await 60 grep -q 'read 2: PASS' "$log"
check_is "a bad address: what the die was, and is" \
	"$(await 20 grep -q 'status 2: idle' "$log"
	grep -oE 'status 2: [a-z]+' "$log" | xargs)" \
	"status 2: failed status 2: idle"
check_is "a bad address: no touch was told" "$(told)" 0

# both are the same process but for its first thread: the worker began first
mapfile -t pair < <(pgrep -f '^k80-worker 3 ' | sort -n)
check_is "a worker and its anchor" ${#pair[@]} 2
: >"$log"
{
	each "work %d 11 100 $long"
	printf 'swap 0\nswap 1\nstatus\n'
} >"$TMPDIR/fifo"
check "no anchor: six kernels" await 60 grep -q 'status: slot 1' "$log"
check_is "no anchor: all run" \
	"$(grep -cE 'status [0-5]: running' "$log")" 6
kill -KILL "${pair[1]}"
await 20 is_dead "${pair[1]}"
check_is "no anchor: nothing was told of that yet" "$(told)" 0
kill -KILL "${pair[0]}"
check "no anchor: the driver misses the die" await 20 was_told
each 'read %d' >"$TMPDIR/fifo"
check "no anchor: the reads end" await 60 grep -q 'read 5: [Pe]' "$log"
check_is "no anchor: what comes of them" "$(reads)" \
	"read 0: PASS read 1: PASS read 2: PASS read 3: error$(:
	) read 4: PASS read 5: PASS"
check_is "no anchor: that die alone is told" "$(klog |
	sed -n 's/.*nvidia: \([0-9a-f:.]*\): .*touch at .* found.*/\1/p' |
	sort -u)" "${DIES[3]}"
told >"$TMPDIR/touches"
echo shutdown >"$TMPDIR/fifo"
wait $owner
check_is "no anchor: it ends in order, with a failure behind it" \
	"$? $(tail -1 "$log" | cut -d' ' -f2-)" "3 end: the slot stays as it is"
check "no anchor: the workers end" await 60 workers_gone
check_is "no anchor: nothing more was told" "$(told)" "$(cat "$TMPDIR/touches")"
check "the driver leaves" driver_leaves

# bound anew, as after a reset of a lost card, the die is as the others
{
	each 'online %d'
	each 'work %d 13 100'
	each 'read %d'
	each 'offline %d'
	echo shutdown
} | "$top/k80-owner" >"$log" 2>&1
check_is "the next owner has six" "$(grep -c 'read [0-5]: PASS' "$log")" 6
check_is "nothing more was told" "$(told)" "$(cat "$TMPDIR/touches")"
check "the driver leaves" driver_leaves
check "unloads" unload
