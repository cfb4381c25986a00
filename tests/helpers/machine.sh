# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154,SC2119,SC2120 # rc comes from lib.sh
#
# Trees of fixtures for k80-doctor, in ./root. Sourced by its tests.

REL=6.1.0-57-amd64

put()
{
	mkdir -p "root/${1%/*}"
	cat >"root/$1"
}

# put_device PATH VENDOR DEVICE CLASS: PATH is that below /sys/devices, as
# pci0000:00/0000:00:01.0/0000:01:00.0
put_device()
{
	echo "$2" | put "sys/devices/$1/vendor"
	echo "$3" | put "sys/devices/$1/device"
	echo "$4" | put "sys/devices/$1/class"
	mkdir -p root/sys/bus/pci/devices
	ln -sfn "../../../devices/$1" "root/sys/bus/pci/devices/${1##*/}"
}

# put_bridge PATH BUS: a port, BUS in hexadecimal behind it
put_bridge()
{
	put_device "$1" 0x10b5 0x8747 0x060400
	echo $((0x$2)) | put "sys/devices/$1/secondary_bus_number"
}

put_die()
{
	put_device "$1" 0x10de 0x102d 0x030200
}

# put_board PORT BUS [ROOT]: a K80 at root port PORT, its switch at bus BUS,
# the two below it at the next ones, as 0000:00:01.0 and 01; its dies are at
# the third and fourth bus
put_board()
{
	local bus=$((0x$2)) top=pci${3:-0000:00}/$1 domain=${1%%:*} up

	up=$top/$domain:$2:00.0
	put_bridge "$top" "$2"
	put_bridge "$up" "$(printf %02x $((bus + 1)))"
	for n in 0 1; do
		path=$up/$(printf '%s:%02x:%s.0' "$domain" $((bus + 1)) \
			$((n * 8 + 8)) | sed 's/:8\./:08./; s/:16\./:10./')
		put_bridge "$path" "$(printf %02x $((bus + 2 + n)))"
		put_die "$path/$(printf '%s:%02x:00.0' "$domain" $((bus + 2 + n)))"
	done
}

# iomem LINE...
iomem()
{
	printf '%s\n' "$@" | put proc/iomem
}

# conf NAME: a file of /etc/modprobe.d that is older than the initramfs
conf()
{
	put "etc/modprobe.d/$1"
	touch -d '2020-01-01' "root/etc/modprobe.d/$1"
}

# good_machine: ./root, where every check is ok
good_machine()
{
	rm -rf root
	[ -d "$SHARED/good" ] || {
		make_good_machine
		mv root "$SHARED/good"
	}
	cp -a "$SHARED/good" root
}

make_good_machine()
{
	put_board 0000:00:01.0 01
	put_board 0000:00:02.0 05
	put_board 0000:00:03.0 09
	put_device pci0000:00/0000:00:19.0 0x8086 0x1502 0x020000
	echo "$REL" | put proc/sys/kernel/osrelease
	echo 'address sizes	: 36 bits physical, 48 bits virtual' | put proc/cpuinfo
	put proc/iomem <<-'EOF'
		00001000-0009ffff : System RAM
		c0000000-febfffff : PCI Bus 0000:00
		  dee00000-deefffff : PCI Bus 0000:01
		    dee00000-dee3ffff : 0000:01:00.0
		  f3000000-f5ffffff : PCI Bus 0000:01
		    f3000000-f3ffffff : 0000:03:00.0
		  f7c00000-f7c1ffff : 0000:00:19.0
		    f7c00000-f7c1ffff : e1000e
		100000000-5ffffffff : System RAM
		600000000-fffffffff : PCI Bus 0000:00
		  c00000000-fffffffff : PCI Bus 0000:01
		    c00000000-fffffffff : 0000:03:00.0
	EOF
	echo 'BOOT_IMAGE=/vmlinuz ro pci=hpmemsize=0 pci=hpmmioprefsize=0 quiet' |
		put proc/cmdline
	echo 'ext4 745472 1 - Live 0x0' | put proc/modules
	echo 'nodev	fuse' | put proc/filesystems
	echo '[none] integrity confidentiality' | put sys/kernel/security/lockdown
	put etc/modprobe.d/bar_swap.conf <"$HELPERS/bar_swap.conf"
	put etc/default/grub <<-'EOF'
		GRUB_CMDLINE_LINUX="pci=hpmemsize=0 pci=hpmmioprefsize=0"
		GRUB_EARLY_INITRD_LINUX_CUSTOM="dsdt_override.cpio"
	EOF
	echo "	initrd /boot/dsdt_override.cpio /boot/initrd.img-$REL" |
		put boot/grub/grub.cfg
	: | put boot/dsdt_override.cpio
	printf 'root:x:0:\nk80:x:999:joe\n' | put etc/group
	: | put etc/udev/rules.d/60-bar-swap.rules
	: | put "lib/modules/$REL/build/Makefile"
	: | put "lib/modules/$REL/updates/dkms/bar_swap.ko.xz"
	: | put dev/fuse
	: | put usr/bin/fusermount3
	touch -d '2020-01-01' root/etc/modprobe.d/bar_swap.conf
	: | put "boot/initrd.img-$REL"
}

doctor()
{
	run "$HELPERS/k80-doctor" --root root "$@"
}

# expect_problem CHECK FOUND [TO-DO]: it and no other check reports a problem
expect_problem()
{
	doctor
	expect 1 "$rc" "exit code ($(cat out))"
	expect 1 "$(grep -c '^problem' out)" "problems in $(cat out)"
	grep -q "^problem  $1 " out || die "not $1:" "$(cat out)"
	expect_line "$2" out
	[ -z "${3:-}" ] || expect_line "-> $3" out
	expect_line '1 to mend' out
}

expect_ok()
{
	doctor
	expect 0 "$rc" "exit code ($(cat out))"
	grep -q "^ok       $1 .*$2" out || die "no '$1 ... $2' in" "$(cat out)"
}
