#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A loop device on a die: mkfs, mount, files, umount, fsck
# timeout: 300
. "$(dirname "$0")/lib.sh"
need_root "to set up a loop device"
need_cmd losetup mkfs.ext4 fsck.ext4
VRAM=${K80_LOOP_VRAM:-12G} mount_sim
v=$(die 0)/vram

loop=$(losetup -f --show "$v") || skip "no free loop device"
undo() {
	local rc=$?
	mountpoint -q "$W/fs" && umount "$W/fs"
	[ -z "$loop" ] || losetup -d "$loop"
	(exit $rc)
	finish
}
trap undo EXIT
expect_equal "$(blockdev --getsize64 "$loop")" "$CAP" "size of the device"
# mkfs discards the whole device first: a lot of zeroes to write in a VM
discard=discard
[ "$K80FS_BACKEND" = sim ] || discard=nodiscard
mkfs.ext4 -q -F -E $discard "$loop"
mkdir "$W/fs"
mount "$loop" "$W/fs"
mib=$(bulk 300)
random_file "$W/in" $((mib << 20))
cp "$W/in" "$W/fs/a"
mkdir "$W/fs/many"
for ((i = 0; i < 200; i++)); do
	echo "file $i" >"$W/fs/many/$i"
done
# other dies are used meanwhile
for d in 1 2; do
	t "$(die $d)/vram" rw "fill,0,32M,$d" "verify,0,32M,$d" &
done
sync -f "$W/fs"
wait
umount "$W/fs"
fsck.ext4 -f -n "$loop" >"$W/fsck" || fail "fsck: $(cat "$W/fsck")"
mount "$loop" "$W/fs"
drop_caches 1
cmp "$W/in" "$W/fs/a"
expect_equal "$(cat "$W/fs/many/177")" "file 177"
[ "$K80FS_BACKEND" != sim ] || fstrim "$W/fs"
rm -r "$W/fs/many"
umount "$W/fs"
losetup -d "$loop"
loop=
# the file system is on the die, also after a swap
ctl 1 acquire
loop=$(losetup -f --show "$v")
fsck.ext4 -f -n "$loop" >"$W/fsck" || fail "fsck: $(cat "$W/fsck")"
mount -o ro "$loop" "$W/fs"
cmp "$W/in" "$W/fs/a"
umount "$W/fs"
losetup -d "$loop"
loop=
