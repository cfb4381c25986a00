# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# From six cold dies, with nothing loaded but bar_swap, to memory and to what
# must persist: k80-owner warm, files, compute_persist, vram_persist.
# time: 240
# alone: yes
top=$(cd "$VM/../.." && pwd)/build
export LD_LIBRARY_PATH=$top/cuda STANDIN_VRAM=256M
m=$TMPDIR/k80

bound()
{
	local die

	for die in "${DIES[@]}"; do
		[ ! -e "$SYS/$die/driver" ] || echo "$die"
	done
}

# copy DIE in|out: 2 MiB between a die's file and $TMPDIR/in*, $TMPDIR/out
copy()
{
	local at=$((8 << 10))

	if [ "$2" = in ]; then
		dd if="$TMPDIR/in$1" of="$m/die$1/vram" bs=1M seek=$at \
			conv=notrunc,fsync status=none
	else
		dd if="$m/die$1/vram" of="$TMPDIR/out" bs=1M skip=$at count=2 \
			status=none
	fi
}

# what each die was given is there
all_there()
{
	local die

	for die in 0 1 2 3 4 5; do
		copy $die out && cmp "$TMPDIR/in$die" "$TMPDIR/out" || return 1
	done
}

mounted()
{
	check "k80fs mounts" "$top/k80fs" -o backend=bar_swap "$m"
}

vendor_unload()
{
	bs acquire 0 force >/dev/null
	rmmod nvidia_uvm nvidia
}

mkdir -p "$m"
all_cold
check "a tree for modprobe" vendor_tree
cp "$VM/../../mount-helpers/bar_swap.conf" /etc/modprobe.d/
check "loads" load first_sbr=auto
check "warm all" sh -c "echo warm all | $top/k80-owner >$TMPDIR/warm" ||
	sed 's/^/#   /' "$TMPDIR/warm"
for die in 0 1 2 3 4 5; do
	check_like "die $die was trained" "$(ctl $die stat)" \
		'cold 0 trainings 1$'
	bs acquire $die >/dev/null
	check_is "die $die is usable" "$(bs info $die state)" active
done
check_is "nothing is left loaded" "$(ls -d /sys/module/nvidia* 2>/dev/null)" ""
check_is "nor bound" "$(bound)" ""
check_is "no touch was told" "$(told)" 0
mounted
for die in 0 1 2 3 4 5; do
	head -c 2M /dev/urandom >"$TMPDIR/in$die"
	check "die $die takes a file" copy $die in
done
check "unmounts" umount "$m"
mounted
check "all is there after a new mount" all_there
check "unmounts" umount "$m"
check "unloads" await 5 unload
check "loads" load first_sbr=auto
mounted
check "all is there after rmmod and insmod" all_there

check "reset" sh -c "echo reset >$m/die1/ctl"
check_like "takes the memory" "$(grep -w state "$m/die1/status")" no_vram
if copy 1 out 2>"$TMPDIR/said"; then
	echo "not ok a read after it fails"
else
	check_like "a read after it fails" "$(cat "$TMPDIR/said")" \
		'Input/output error'
fi
check_like "and what to do is said" "$(grep -w last_error "$m/die1/status")" \
	'k80-owner warm 1'
check "unmounts" umount "$m"
check "warm 1" sh -c "echo warm 1 | $top/k80-owner >$TMPDIR/warm" ||
	sed 's/^/#   /' "$TMPDIR/warm"
mounted
check "it takes a file again" copy 1 in
check "the others have theirs" all_there
check "unmounts" umount "$m"
check_is "no touch was told" "$(told)" 0

check "compute_persist" "$top/compute_persist" -t 4 -s 1000000 0
check_is "no touch was told" "$(told)" 0
[ ! -e /sys/module/nvidia ] || check "the driver leaves" vendor_unload
check "vram_persist" sh -c \
	"\"$top/vram_persist\" 0 >\"$TMPDIR/persist\" 2>&1"
sed 's/^/# /' "$TMPDIR/persist"
check_like "a context's buffer was tried" "$(cat "$TMPDIR/persist")" \
	"PASS: die 0, a context's buffer"
check_is "no touch was told" "$(told)" 0
[ ! -e /sys/module/nvidia ] || check "the driver leaves" vendor_unload
check "vram_persist --reload" "$top/vram_persist" --reload 0
check_is "no touch was told" "$(told)" 0
check_is "nothing is left loaded" "$(ls -d /sys/module/nvidia* 2>/dev/null)" ""
check "unloads" await 5 unload
