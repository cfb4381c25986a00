# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# This kernel's NFS server exports the tree of the module's dies by the line of
# the README, and its NFS client uses it: bytes at odd places, new images, cold
# caches, a server that starts anew, dies whose memory has gone.
# ci: 6.1
# time: 240
# alone: yes
top=$(cd "$VM/../.." && pwd)
root=$TMPDIR/export
m=$root/k80
n=$TMPDIR/nfs
OPTIONS=no_root_squash,$(sed -n 's,^ */mnt/k80 .*(\(.*\))$,\1,p' "$top/README.md")

# /etc and /var/lib as those programs want them
nfs_places()
{
	"$CACHE/bin/busybox" ip link set lo up &&
		mkdir -p "$TMPDIR/etc" "$root" "$n" && need_mod overlay &&
		mount -t tmpfs tmpfs /var/lib &&
		mkdir -p /var/lib/nfs/sm /var/lib/nfs/v4recovery &&
		printf '%s\n' "$root 127.0.0.1(ro,fsid=0,no_subtree_check)" \
			"$m 127.0.0.1($OPTIONS)" >"$TMPDIR/etc/exports" &&
		mount -t overlay etc /etc \
			-o "lowerdir=$TMPDIR/etc:/etc:$CACHE/net/etc"
}

# the server is up: version 4 alone, which needs no other service
serve()
{
	: >/var/lib/nfs/etab
	mountpoint -q /proc/fs/nfsd || mount -t nfsd nfsd /proc/fs/nfsd ||
		return 1
	net exportfs -r && {
		net rpc.mountd -F -N 3 >"$TMPDIR/mountd.log" 2>&1 &
		echo $! >"$TMPDIR/mountd"
		# how long clients of old may ask for what they had open
		echo 10 >/proc/fs/nfsd/nfsv4gracetime
		echo 10 >/proc/fs/nfsd/nfsv4leasetime
		net rpc.nfsd -N 3 -U 4
	}
}

serve_no_more()
{
	net rpc.nfsd 0
	net exportfs -ua
	kill "$(cat "$TMPDIR/mountd")"
}

mount_tree()
{
	"$top/build/k80fs" -o "$1" "$m"
}

# the same bytes by NFS, by k80fs, and for the host of this machine
same_bytes()
{
	python3 - "$n/die$1/vram" "$m/die$1/vram" <<-'END'
	import os, sys
	K, G = 1024, 1 << 30
	over = os.open(sys.argv[1], os.O_RDWR)
	here = os.open(sys.argv[2], os.O_RDWR)
	def expect(fd, at, what, name):
	    got = os.pread(fd, len(what), at)
	    assert got == what, (name, at, len(what), got[:16], what[:16])
	for at, size in ((0, 1), (1, 1), (4095, 2), (4097, 4095), (12345, 67890),
	                 (5 * G - 3, 7), (9 * G + 1, 1234567), (12 * G - 1, 1)):
	    what = os.urandom(size)
	    around = os.pread(here, 8, at + size) if at + size < 12 * G else b""
	    os.pwrite(over, what, at)
	    os.fsync(over)
	    expect(here, at, what, "written over NFS")
	    expect(here, at + size, around, "behind what was written")
	    what = os.urandom(size)
	    os.pwrite(here, what, at)
	    os.close(over)
	    over = os.open(sys.argv[1], os.O_RDWR)
	    expect(over, at, what, "written here")
	assert os.lseek(over, 0, os.SEEK_END) == 12 * G
	END
}

# what NFS sends reaches the die at an fsync
at_the_host()
{
	printf 'over-the-net' | dd of="$n/die2/vram" bs=12 seek=700000001 \
		conv=notrunc,fsync status=none &&
		[ "$(ctl 2 peek "$(printf '%x' $((700000001 * 12)))" 12)" = \
			"ok $(printf over-the-net | xxd -p)" ]
}

# no client begins a new image: what it skips stays
no_new_image()
{
	python3 - "$n/die1/vram" "$m/die1/vram" <<-'END'
	import os, sys
	K = 1024
	here = os.open(sys.argv[2], os.O_RDWR)
	old = os.urandom(256 * K)
	os.pwrite(here, old, 0)
	over = os.open(sys.argv[1], os.O_WRONLY | os.O_TRUNC)
	assert os.fstat(over).st_size == 12 << 30, os.fstat(over)
	os.pwrite(over, b"new" * K, 64 * K)
	os.fsync(over)
	os.ftruncate(over, 0)
	os.pwrite(over, b"end" * K, 128 * K)
	os.close(over)
	want = bytearray(old)
	want[64 * K : 67 * K] = b"new" * K
	want[128 * K : 131 * K] = b"end" * K
	got = os.pread(here, len(old), 0)
	for at in range(0, len(old), K):
	    assert got[at : at + K] == want[at : at + K], at
	END
}

# a folder that is open on the client finds its files when both have forgotten
cold_handles()
{
	python3 - "$n" <<-'END'
	import os, sys
	def forget():
	    open("/proc/sys/vm/drop_caches", "w").write("3")
	dirs = [os.open("%s/die%d" % (sys.argv[1], d), os.O_RDONLY) for d in range(6)]
	for die, fd in enumerate(dirs):
	    forget()
	    vram = os.open("vram", os.O_RDWR, dir_fd=fd)
	    os.pwrite(vram, b"die %d" % die, 77)
	    os.close(vram)
	forget()
	for die, fd in enumerate(dirs):
	    vram = os.open("vram", os.O_RDONLY, dir_fd=fd)
	    forget()
	    assert os.pread(vram, 5, 77) == b"die %d" % die, die
	    status = os.read(os.open("status", os.O_RDONLY, dir_fd=fd), 99)
	    assert status.startswith(b"die %d\n" % die), status
	END
}

punched()
{
	fallocate -p -o 100001 -l 50000 "$n/die1/vram" &&
		cmp -n 50000 -i 100001:0 "$m/die1/vram" /dev/zero &&
		! cmp -s -n 1000 -i 99001:0 "$m/die1/vram" /dev/zero
}

# over_a_restart OPTIONS: what a client reads by a file that it had open when all
# of the server stopped, and what by one that it opens then
over_a_restart()
{
	local before after anew

	coproc client { exec python3 "$TMPDIR/client.py" "$n/die3/vram"; }
	read -r before <&"${client[0]}"
	serve_no_more
	umount "$m" && mount_tree "$1" && serve || return
	echo go >&"${client[1]}"
	read -r after <&"${client[0]}"
	read -r anew <&"${client[0]}"
	echo "$before, $after, $anew"
}

check "modules" need_mod nfsd nfsv4 || return 0
check_like "the README has an exports line" "$OPTIONS" 'fsid='
check "places" nfs_places
check "loads" load
mkdir -p "$m"
check "k80fs mounts" mount_tree backend=bar_swap
check "serves" serve
check "a client mounts" net mount.nfs 127.0.0.1:/k80 "$n" -o vers=4.2 ||
	dmesg | tail -20
check_is "the same tree" "$(cd "$n" && find . -printf '%p %y\n' | sort)" \
	"$(cd "$m" && find . -printf '%p %y\n' | sort)"
check "bytes at odd places" same_bytes 0
check "fsync reaches the die" at_the_host
check "no client begins a new image" no_new_image
check "handles outlive the caches" cold_handles
check "a hole is punched" punched
cat >"$TMPDIR/client.py" <<-'END'
	import errno, os, sys
	def read(fd):
	    try:
	        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
	        got = os.pread(fd, len(old), 4321)
	    except OSError as e:
	        return errno.errorcode[e.errno]
	    return "same" if got == old else "zeros" if not any(got) else "other"
	fd = os.open(sys.argv[1], os.O_RDWR)
	old = os.urandom(100000)
	os.pwrite(fd, old, 4321)
	os.fsync(fd)
	print(read(fd), flush=True)
	sys.stdin.readline()
	print(read(fd), flush=True)
	print(read(os.open(sys.argv[1], os.O_RDWR)), flush=True)
END
check_is "over a restart memory is what it was" \
	"$(over_a_restart backend=bar_swap)" "same, same, same"
check "other memory" over_a_restart backend=sim,sim_vram=64M >/dev/null
# the client finds the handle stale when it asks for what it had open
check_like "memory that went with its mount is an error, not other bytes" \
	"$(over_a_restart backend=sim,sim_vram=64M)" \
	'^same, (EBADF|ESTALE), zeros$'
check "the client unmounts" umount "$n"
serve_no_more
check "k80fs unmounts" umount "$m"
umount -l /etc /var/lib /proc/fs/nfsd
check "unloads" await 5 unload
