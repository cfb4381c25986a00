# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# A driver that leaves while its die is out: an error, and no harm. Nothing of
# it stays: neither its regions, whose names went with its module, nor a die
# that it left decoding.
# time: 120
# alone: yes
d0=${DIES[0]}
mods=$BUILD/mod-$(uname -r)

# every region has a name that can be read, and none is $1's
none_of()
{
	cat /proc/iomem >"$TMPDIR/iomem" && ! grep -q "$1" "$TMPDIR/iomem"
}

command()
{
	echo $((0x$("$G/pcicfg" "$d0" 4 2) & 7))
}

# Linux turns it on above a device that a driver enables, and leaves it so; newer
# port drivers do not at boot
for port in "${PORTS[@]}"; do
	"$G/pcicfg" "$port" 4 2 \
		"$(printf %x $((0x$("$G/pcicfg" "$port" 4 2) | 4)))"
done
snapshot before
insmod "$mods/rigdrv.ko"
check "loads" load
check_is "die 0 is in" "$(bs acquire 0)" ok
check "a driver that claims BAR1 binds" bind "$d0" rigdrv
check_is "FORCE takes the die out" "$(bs acquire 3 force)" ok
unbind "$d0"
check_like "the kernel log has an error that says what to do" "$(klog)" \
	'bar_swap.*rigdrv.*die is out.*acquire'
check_like "and what was dropped" "$(klog)" \
	'bar_swap.*0xc00000000-0xfffffffff.*dropped'
check_like "so does last_error" "$(bs info 0 last_error)" dropped
check "the driver is unloaded" rmmod rigdrv
check "the regions can be read" none_of rigdrv
check_is "other dies work" "$(bs acquire 4)" ok
check_is "die 0 works" "$(bs acquire 0)" ok
check "nothing of the driver came back with it" none_of rigdrv
check "all work" six_work
insmod "$mods/rigdrv.ko"
check_is "die 0 is in" "$(bs acquire 0)" ok
check "the driver binds anew" bind "$d0" rigdrv
check_like "and has its region" "$(cat /proc/iomem)" ': rigdrv$'
check_is "die 0 goes out again" "$(bs acquire 3 force)" ok
unbind "$d0"
check "the driver is unloaded" rmmod rigdrv
check "unloads without an acquire" unload
check "the regions can be read" none_of rigdrv
snapshot after
check "everything is as before" same before after

check "loads" load
insmod "$mods/rigdrv.ko" decode=1
check_is "die 1 is in" "$(bs acquire 1)" ok
excuse 0
check "a driver binds to die 0 and lets it decode" bind "$d0" rigdrv
check_is "it does not decode" "$(command)" 0
unbind "$d0"

# a die that is removed while it is out takes its driver along
echo 0 >/sys/module/rigdrv/parameters/decode
check_is "die 0 is in" "$(bs acquire 0)" ok
check "a driver that claims BAR1 binds" bind "$d0" rigdrv
check_is "die 0 goes out" "$(bs acquire 1 force)" ok
dropped=$(klog | grep -c dropped)
echo 1 >"$SYS/$d0/remove"
check_is "the region of a removed die is dropped" \
	"$(klog | grep -c dropped)" $((dropped + 1))
rmmod rigdrv
echo 1 >/sys/bus/pci/rescan
check_is "the die is back and works" "$(bs acquire 0)" ok
check "no region is left" none_of rigdrv
check "unloads" unload

# the vendor's leaves decode on when it goes
check "a tree for modprobe" vendor_tree
check "loads" load
only 0
for again in "" " again"; do
	check_is "die 0 is in$again" "$(bs acquire 0)" ok
	check "the stand-in binds$again" modprobe nvidia
	(exec 3<>/dev/nvidia0)
	check_is "FORCE takes the die out$again" "$(bs acquire 1 force)" ok
	check_is "it does not decode$again" "$(($(command) & 3))" 0
	excuse 0
	check "the driver leaves$again" rmmod nvidia
	check_is "the die does not decode$again" "$(command)" 0
	check "no region is left$again" none_of nvidia
done
# the driver looks at its die when it leaves
echo 2 >"$TMPDIR/touches"
check_is "the other die works" "$(bs put 1 40 1)" ok
check "unloads without an acquire" unload
check "no region is left" none_of nvidia
check "loads" load
check "all work" six_work
check "unloads" unload
snapshot after
check "everything is as before" same before after
