# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# What the chains had at load is kept for them while we are loaded, and only
# what nobody has is opened again.
# time: 90
disk=0000:00:1f.2
root=0000:00:04.0
snapshot before
own=$(config 256)
read -r start end < <(sed -n \
	"s/^ *\([0-9a-f]*\)-\([0-9a-f]*\) : PCI Bus 0000:01\$/\1 \2/p" /proc/iomem)
echo "# card 0 has $start-$end"

# the resources of the device that moves are not what is compared
others()
{
	grep -v " : .*${disk}\| : ahci" "$1"
}

# is a BAR of the disk controller in card 0's range
is_in_the_way()
{
	local bar

	bar=$(sed -n "s/^ *\([0-9a-f]*\)-[0-9a-f]* : $disk\$/\1/p" /proc/iomem |
		head -1)
	[ -n "$bar" ] && [ $((0x$bar >= 0x$start && 0x$bar <= 0x$end)) = 1 ]
}

check "loads" load
for die in none 3 0; do
	[ $die = none ] || check_is "die $die is in" "$(bs acquire $die)" ok
	echo 1 >"$SYS/$disk/remove"
	echo 1 >/sys/bus/pci/rescan
	check "die $die: the disk controller is back" [ -e "$SYS/$disk" ]
	check_like "die $die: it has a BAR" "$(cat /proc/iomem)" " : $disk\$"
	if is_in_the_way; then
		echo "not ok die $die: it was not given what is card 0's"
	else
		echo "ok die $die: it was not given what is card 0's"
	fi
done
check "all six work" six_work
echo "RIG: back" >/dev/kmsg
check "unloads" unload
check_is "nothing was lost" \
	"$(dmesg | sed '0,/RIG: back$/d' | grep -c 'taken by others\|cannot')" 0
check_is "config space is as before" "$(config 256)" "$own"
check "iomem is as before" diff <(others "$TMPDIR/before.iomem") \
	<(others /proc/iomem)

# somebody sits in it all the same: that card stays closed, the rest is back
check "loads" load
check_is "die 0 is in" "$(bs acquire 0)" ok
insmod "$BUILD/mod-$(uname -r)/rigspot.ko" start=0x"$start" len=0x1000
check_like "a region lies in what was card 0's" "$(cat /proc/iomem)" \
	"^ *$start-.* : rigspot"
echo "RIG: taken" >/dev/kmsg
check "unloads" unload
log=$(dmesg | sed '0,/RIG: taken$/d')
check_like "what is taken is named" "$log" "$root.*taken by others"
window=$("$G/pcicfg" $root 20 4)
base=$((0x$window << 16 & 0xfff00000))
limit=$((0x$window & 0xfff00000))
check_is "the root port's window is closed ($window)" $((base > limit)) 1
for die in 0 1; do
	check_is "die $die does not decode" \
		$(($(printf '%d' "0x$("$G/pcicfg" "${DIES[die]}" 4 2)") & 2)) 0
done
check_like "the region is still there" "$(cat /proc/iomem)" \
	"^ *$start-.* : rigspot"
check "another card is as before" diff \
	<(grep 0000:00:05.0 <<<"$own") <(config 256 | grep 0000:00:05.0)
rmmod rigspot
check "the module loads again" load
check "and all six work" six_work
check "unloads" unload
