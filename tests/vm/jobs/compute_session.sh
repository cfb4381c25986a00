# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# k80fs -o compute on cold cards: six kernels at once through one slot; one that
# writes to a bad address; the daemon killed while six run.
# time: 300
# alone: yes
top=$(cd "$VM/../.." && pwd)/build
# a step of the delay loop is a millisecond
export LD_LIBRARY_PATH=$top/cuda STANDIN_VRAM=64M STANDIN_STEP_NS=1000000
m=$TMPDIR/k80
long=$((4000 * ${SLOW:-1}))

compute()
{
	local file=$m/die$1/compute/ctl

	shift
	echo "$*" >"$file"
}

# compute_status DIE KEY
compute_status()
{
	sed -n "s/ *\$//; s/^$2 //p" "$m/die$1/compute/status"
}

# what key $1 of each die that computes says
compute_all()
{
	local die

	for die in 0 1 2 3 4 5; do
		compute_status $die "$1"
	done | xargs
}

six_online()
{
	local die

	for die in 0 1 2 3 4 5; do
		compute $die online || return 1
	done
}

# six_work DELAY [DIE]: a kernel on each, but none on DIE
six_work()
{
	local die

	for die in 0 1 2 3 4 5; do
		[ "$die" = "${2:-}" ] ||
			compute $die work $((die + 1)) 100 "$1" || return 1
	done
}

mounted()
{
	mkdir -p "$m"
	check "k80fs mounts" "$top/k80fs" -o backend=bar_swap,compute "$m"
}

# every die has been out while the kernels ran
all_were_out()
{
	local die

	bs acquire 0 force >/dev/null
	check_is "five are out" "$(for die in 1 2 3 4 5; do
		bs info $die state
	done | xargs)" "idle idle idle idle idle"
	bs acquire 1 force >/dev/null
	check_is "so was the sixth" "$(bs info 0 state)" idle
	check_is "and all kernels run" "$(compute_all state)" \
		"running running running running running running"
}

all_cold
check "a tree for modprobe" vendor_tree
cp "$VM/../../mount-helpers/bar_swap.conf" /etc/modprobe.d/
check "loads" load
mounted
check "six dies online" six_online
check "six kernels" six_work $long
all_were_out
for die in 0 1 2 3 4 5; do
	check "die $die: verify" compute $die verify
done
check_is "six PASS" "$(compute_all verified)" "PASS PASS PASS PASS PASS PASS"
check_is "no touch was told" "$(told)" 0

check "five kernels" six_work 2000 2
# its launch may be what says it
compute 2 launch k80_fill 1 32 u64:64 u32:1024 f32:1 2>/dev/null
if dd if="$m/die2/compute/out" of=/dev/null bs=1M count=1 2>"$TMPDIR/said"; then
	echo "not ok a bad address: no result"
else
	check_like "a bad address: no result" "$(cat "$TMPDIR/said")" \
		'Input/output error'
fi
check_is "a bad address: the die has failed" "$(compute_status 2 state)" failed
for die in 0 1 3 4 5; do
	compute $die verify
	check_is "a bad address on another: die $die" \
		"$(compute_status $die verified)" PASS
done
check "it comes back" compute 2 online
check "and computes" compute 2 work 3 100
compute 2 verify
check_is "rightly" "$(compute_status 2 verified)" PASS
printf busy >"$TMPDIR/bytes"
check_like "with its driver its memory is the driver's" "$(dd \
	if="$TMPDIR/bytes" of="$m/die2/vram" conv=notrunc 2>&1)" 'busy'
check "it goes offline" compute 2 offline
check "and its memory is written" dd if="$TMPDIR/bytes" of="$m/die2/vram" \
	conv=notrunc
check_is "and read" "$(head -c 4 "$m/die2/vram")" busy
check_is "no touch was told" "$(told)" 0

check "unmounts" umount "$m"
check "its workers end" await 30 workers_gone
check_is "no touch was told" "$(told)" 0
check "the driver leaves" driver_leaves

for signal in KILL TERM; do
	mounted
	check "SIG$signal: six dies online" six_online
	check "SIG$signal: six kernels" six_work $long
	bs acquire 0 force >/dev/null
	daemon=$(pgrep -x k80fs)
	kill -$signal "$daemon"
	check "SIG$signal: the workers end" await 60 workers_gone
	check_is "SIG$signal: no touch was told" "$(told)" 0
	! mountpoint -q "$m" || umount -l "$m"
	check "SIG$signal: the driver leaves" driver_leaves
done

mounted
check "the next one: six dies online" six_online
check "the next one: six kernels" six_work 1000
for die in 0 1 2 3 4 5; do
	compute $die verify
done
check_is "the next one: six PASS" "$(compute_all verified)" \
	"PASS PASS PASS PASS PASS PASS"
check "the next one: unmounts" umount "$m"
check "the next one: its workers end" await 30 workers_gone
check "the next one: the driver leaves" driver_leaves
check_is "no touch was told" "$(told)" 0
check "unloads" await 5 unload
