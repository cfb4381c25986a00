# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# bar_swap.conf keeps the vendor's driver away from the real modprobe, whatever
# its files are called; who asks for it by --ignore-install gets it.
# time: 60
top=$(cd "$VM/../.." && pwd)
check "loads" load
modalias=$(cat "$SYS/${DIES[0]}/modalias")

# nothing of the vendor's after modprobe $*
loads_nothing()
{
	modprobe "$@" 2>/dev/null
	check_is "$name: modprobe $* loads nothing" \
		"$(ls -d /sys/module/nvidia* 2>/dev/null)" ""
}

for name in nvidia nvidia-tesla-470; do
	check "a tree with $name" vendor_tree $name
	# the driver would take all dies
	only
	check "$name: without the file modprobe loads it" modprobe $name
	rmmod nvidia
	cp "$top/mount-helpers/bar_swap.conf" /etc/modprobe.d/
	loads_nothing nvidia
	loads_nothing nvidia-uvm
	loads_nothing -b "$modalias"
	echo "softdep nvidia post: $name-uvm" >/etc/modprobe.d/nvidia.conf
	loads_nothing nvidia
	check "$name: asked for it comes" modprobe --ignore-install $name
	check "$name: so does its second module" \
		modprobe --ignore-install $name-uvm
	check "$name: both are called as the vendor's" \
		test -e /sys/module/nvidia -a -e /sys/module/nvidia_uvm
	vendor_gone
done
check "unloads" unload
