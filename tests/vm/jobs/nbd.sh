# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Two of the module's dies as this kernel's own network block devices: a
# partition and a file system on one, raw bytes on the other, at one time; trim.
# ci: 6.1
# time: 180
top=$(cd "$VM/../.." && pwd)
m=$TMPDIR/k80
sock=$TMPDIR/nbd.sock

serve()
{
	local die

	mkdir -p "$TMPDIR/dies"
	for die in 0 1; do
		ln -s "$m/die$die/vram" "$TMPDIR/dies/die$die"
	done
	nbdkit --pidfile "$TMPDIR/pid" --unix "$sock" file \
		"dir=$TMPDIR/dies" >"$TMPDIR/nbdkit" 2>&1 || return
	await 10 test -S "$sock"
}

attach()
{
	net nbd-client -unix "$sock" "/dev/nbd$1" -N "die$1"
}

partition()
{
	printf 'label: gpt\nstart=2048, size=65536\n' | sfdisk -q /dev/nbd0 &&
		await 10 test -b /dev/nbd0p1 &&
		mkfs.ext4 -q -E nodiscard /dev/nbd0p1 &&
		mkdir "$TMPDIR/ext4" &&
		mount -o discard /dev/nbd0p1 "$TMPDIR/ext4"
}

# a file on one die while the other is written, both through the one slot
both_at_once()
{
	head -c 5000001 /dev/urandom >"$TMPDIR/a"
	head -c 6000000 /dev/urandom >"$TMPDIR/b"
	dd if="$TMPDIR/b" of=/dev/nbd1 bs=100000 seek=54321 conv=fsync \
		status=none &
	cp "$TMPDIR/a" "$TMPDIR/ext4/a" && sync "$TMPDIR/ext4/a" && wait $! &&
		echo 3 >/proc/sys/vm/drop_caches &&
		cmp "$TMPDIR/a" "$TMPDIR/ext4/a" &&
		cmp -n 6000000 -i 0:5432100000 "$TMPDIR/b" "$m/die1/vram"
}

fsck_here()
{
	dd if="$m/die0/vram" of="$TMPDIR/part" bs=1M skip=1 count=32 \
		status=none && e2fsck -fn "$TMPDIR/part"
}

# what is discarded is a punched hole: zeros, and nothing beside it
trimmed()
{
	blkdiscard -o 5432104448 -l 1048576 /dev/nbd1 &&
		cmp -n 4448 -i 0:5432100000 "$TMPDIR/b" "$m/die1/vram" &&
		cmp -n 1048576 -i 5432104448:0 "$m/die1/vram" /dev/zero &&
		cmp -n 1000000 -i 1053024:5433153024 "$TMPDIR/b" "$m/die1/vram"
}

if ! command -v nbdkit >/dev/null; then
	echo "skip network block devices: no nbdkit here"
	return 0
fi
check "modules" need_mod nbd crc32c_generic ext4 || return 0
check "loads" load
mkdir -p "$m"
check "k80fs mounts" "$top/build/k80fs" -o backend=bar_swap "$m"
check "nbdkit serves" serve
check "nbd-client attaches die 0" attach 0
check "and die 1" attach 1
check_is "as long as the dies" "$(blockdev --getsize64 /dev/nbd0 /dev/nbd1 |
	xargs)" "$((12 << 30)) $((12 << 30))"
check "a partition with ext4" partition
check "both at once" both_at_once
check "fstrim" fstrim "$TMPDIR/ext4"
check "the file is there after it" cmp "$TMPDIR/a" "$TMPDIR/ext4/a"
check "unmounts" umount "$TMPDIR/ext4"
check "what is on the die is that file system" fsck_here
check "discard is a hole" trimmed
for die in 0 1; do
	check "detaches die $die" net nbd-client -d /dev/nbd$die
done
kill "$(cat "$TMPDIR/pid")"
rmmod nbd
check "k80fs unmounts" umount "$m"
check "unloads" await 5 unload
