# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC2034,SC2154 # variables are k80-doctor's
#
# Read by k80-doctor: how the kernel is started, what it loads, and the rest of
# what an administrator sets up.

DRIVERS='nvidia nvidia_drm nvidia_modeset nvidia_uvm'

is_loaded()
{
	case "$modules" in
	*" $1 "*) return 0 ;;
	esac
	return 1
}

# cut_word: the word at which GRUB ends the kernel's line, if there is one
cut_word()
{
	{
		grub_line
		sed -n 's/^[ \t]*linux[a-z0-9]*[ \t]*//p' \
			"$root/boot/grub/grub.cfg" 2>/dev/null
	} | unquoted_semicolon | head -n 1
}

check_parameters()
{
	now=$(echo "$command_line" | pci_options)
	later=$(grub_line | pci_options)
	lacking=''
	unset_in_grub=''
	for want in hpmemsize=0 hpmmioprefsize=0; do
		echo "$now" | grep -qx "$want" || lacking="$lacking pci=$want"
		echo "$later" | grep -qx "$want" || unset_in_grub=1
	done
	cut=$(cut_word)
	if [ -z "$lacking" ]; then
		ok kernel-parameters 'pci=hpmemsize=0 pci=hpmmioprefsize=0'
		return
	elif [ -n "$unset_in_grub" ]; then
		set -- "missing:$lacking" \
			"add to GRUB_CMDLINE_LINUX in /etc/default/grub:$lacking"
	else
		set -- "set in GRUB, not in effect:$lacking"
	fi
	if [ -n "$cut" ]; then
		found="$1; GRUB ends the line at the \";\" of $cut"
		shift
		set -- "$found" "$@" \
			"quote that word a second time: GRUB_CMDLINE_LINUX=\"'$cut' ...\""
	fi
	problem kernel-parameters "$@" 'update-grub, reboot'
}

# branch_drivers: Debian names the driver's file after its branch; "blacklist
# nvidia" does not meet it
branch_drivers()
{
	find "$root/lib/modules/$release" -name 'nvidia-*.ko*' 2>/dev/null |
		sed 's/.*\///; s/\.ko.*//; y/-/_/' |
		grep -E '^nvidia_(tesla|current|legacy)' |
		grep -vE '_(uvm|drm|modeset|peermem)$' | sort -u
}

check_driver_files()
{
	# one line of ";"-separated commands, "-" as "_", as modprobe sees names
	lines=";$(echo "$modprobe_lines" | sed 's/ #.*//' | tr -- '-\n' '_;');"
	lacking=''
	for driver in $DRIVERS; do
		case $lines in
		*";blacklist $driver;"*) ;;
		*) lacking="$lacking, blacklist $driver" ;;
		esac
		case $lines in
		*";install $driver /bin/false;"*) ;;
		*";install $driver /usr/bin/false;"*) ;;
		*) lacking="$lacking, install $driver /bin/false" ;;
		esac
	done
	for driver in $(branch_drivers); do
		case $lines in
		*";blacklist $driver;"*) ;;
		*) lacking="$lacking, blacklist $driver" ;;
		esac
	done
	dos=$(echo "$modprobe_lines" | sed -n 's/^@dos //p' | tr '\n' ' ')
	if [ -n "$dos" ]; then
		problem driver-files "${dos% } has DOS line ends, which modprobe takes for parts of the names" \
			"sed -i 's/\\r\$//' ${dos% }" 'update-initramfs -u, reboot'
		return
	fi
	if [ -n "$lacking" ]; then
		problem driver-files "in no modprobe.d: ${lacking#, }" \
			'copy bar_swap.conf to /etc/modprobe.d (make install put it into PREFIX/share/k80fs)' \
			'update-initramfs -u, reboot'
		return
	fi
	# modprobe forgets the install line of a module that has a softdep
	case $lines in
	*";softdep nvidia pre:;"*) ;;
	*";softdep nvidia "*)
		problem driver-files 'a softdep line undoes "install nvidia /bin/false"' \
			'copy bar_swap.conf of this version to /etc/modprobe.d, or remove the softdep' \
			'update-initramfs -u, reboot'
		return
		;;
	esac
	ok driver-files 'blacklist and install lines for nvidia, _drm, _modeset, _uvm'
}

check_initramfs()
{
	image=''
	for name in "initrd.img-$release" "initramfs-$release.img"; do
		[ ! -e "$root/boot/$name" ] || image=$name
	done
	if [ -z "$image" ]; then
		ok initramfs "none in /boot for $release"
		return
	fi
	newer=$(find "$root/etc/modprobe.d" -name '*.conf' \
		-newer "$root/boot/$image" 2>/dev/null | sort | head -n 1)
	if [ -n "$newer" ]; then
		problem initramfs "/boot/$image is older than ${newer#"$root"}" \
			'update-initramfs -u'
	else
		ok initramfs "/boot/$image is newer than /etc/modprobe.d"
	fi
}

check_bound()
{
	bound=''
	for die in $dies; do
		link=$root/sys/bus/pci/devices/$die/driver
		[ -L "$link" ] || continue
		driver=$(readlink "$link")
		bound="$bound, $die ${driver##*/}"
	done
	loaded=''
	for driver in $DRIVERS nouveau; do
		! is_loaded "$driver" || loaded="$loaded $driver"
	done
	if is_loaded bar_swap; then
		ok drivers "bar_swap is loaded; bound: ${bound:-none}"
	elif [ -n "$bound" ]; then
		problem drivers "bound: ${bound#, }" \
			'unload it (modprobe -r) or reboot with the driver kept away'
	elif [ -n "$loaded" ]; then
		problem drivers "loaded before bar_swap:$loaded" \
			'unload it (modprobe -r) or reboot with the driver kept away'
	else
		ok drivers 'none bound to a die, none loaded'
	fi
}

check_headers()
{
	if [ -z "$release" ]; then
		problem headers 'no /proc/sys/kernel/osrelease' 'is /proc mounted?'
	elif [ -e "$root/lib/modules/$release/build/Makefile" ]; then
		ok headers "/lib/modules/$release/build"
	else
		problem headers "none for the running kernel $release" \
			"apt-get install linux-headers-$release"
	fi
}

check_module()
{
	where=$(find "$root/lib/modules/$release" -name 'bar_swap.ko*' \
		2>/dev/null | head -n 1)
	if is_loaded bar_swap; then
		ok module 'bar_swap is loaded'
	elif [ -n "$where" ]; then
		ok module "${where#"$root"}, not loaded: modprobe bar_swap"
	else
		problem module "no bar_swap.ko for kernel $release" \
			'make -C kmod install && depmod, or through dkms (kmod/dkms.conf)'
	fi
}

# read_signature: of the module that was found, yes, no or unknown, to $signed
read_signature()
{
	case $where in
	*.ko.xz) unpack=xz ;;
	*.ko.gz) unpack=gzip ;;
	*.ko.zst) unpack=zstd ;;
	*) unpack='' ;;
	esac
	if [ -z "$where" ]; then
		signed=no
	elif [ -n "$unpack" ] && ! command -v $unpack >/dev/null; then
		signed=unknown
	elif ${unpack:-cat} ${unpack:+-dc} "$where" 2>/dev/null | tail -c 28 |
		grep -q 'Module signature appended'; then
		signed=yes
	else
		signed=no
	fi
}

check_lockdown()
{
	attribute "$root/sys/module/module/parameters" sig_enforce
	mode=$lockdown
	[ "$value" != Y ] || [ "$lockdown" != none ] || mode=sig_enforce
	if is_loaded bar_swap || [ "$mode" = none ]; then
		ok lockdown "$mode"
		return
	elif [ "$lockdown" != none ] && [ -n "$needs_override" ]; then
		problem lockdown "$mode: the kernel ignores a DSDT override, and refuses unsigned modules" \
			"$(unlock_step)"
		return
	fi
	read_signature
	if [ "$signed" = yes ]; then
		ok lockdown "$mode, and bar_swap.ko is signed: its key must be one that the kernel knows"
		return
	elif [ "$signed" = unknown ]; then
		unknown lockdown "$mode: no $unpack, to see whether ${where#"$root"} is signed"
		return
	fi
	set -- 'sign bar_swap.ko with a key the firmware knows: SECURE BOOT in k80-doctor(8) has the steps (mokutil --import)'
	case " $command_line " in
	*" module.sig_enforce"*) set -- "$@" 'or take module.sig_enforce off the kernel line' ;;
	*) set -- "$@" 'or turn Secure Boot off' ;;
	esac
	problem lockdown "$mode: the kernel refuses unsigned modules" "$@"
}

check_group()
{
	if grep -q '^k80:' "$root/etc/group" 2>/dev/null; then
		ok group "k80: $(sed -n 's/^k80:[^:]*:[^:]*://p' "$root/etc/group")"
	else
		problem group 'no group k80: only root may use the dies' \
			'groupadd --system k80; usermod -aG k80 USER'
	fi
}

check_node()
{
	rule=''
	for dir in etc run usr/lib lib; do
		[ ! -e "$root/$dir/udev/rules.d/60-bar-swap.rules" ] ||
			rule=/$dir/udev/rules.d/60-bar-swap.rules
	done
	if is_loaded bar_swap && [ ! -e "$root/dev/bar_swap" ]; then
		problem device-node 'bar_swap is loaded and /dev/bar_swap is not there' \
			'is udev or devtmpfs running? dmesg | grep bar_swap'
	elif [ -z "$rule" ]; then
		problem device-node 'no udev rule: /dev/bar_swap is for root only' \
			'copy 60-bar-swap.rules to /etc/udev/rules.d; udevadm control --reload'
	else
		ok device-node "$rule"
	fi
}

check_fuse()
{
	if [ ! -e "$root/dev/fuse" ] &&
		! grep -qw fuse "$root/proc/filesystems" 2>/dev/null; then
		problem fuse 'no /dev/fuse' 'modprobe fuse'
		return
	fi
	for dir in bin usr/bin usr/local/bin; do
		if [ -e "$root/$dir/fusermount3" ]; then
			ok fuse "/dev/fuse, /$dir/fusermount3"
			return
		fi
	done
	problem fuse 'no fusermount3: only root can mount' 'apt-get install fuse3'
}
