# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# A kernel driver is bound to a die.
# time: 60
# check: yes
d0=${DIES[0]}
mods=$BUILD/mod-$(uname -r)

# everything but sleep itself
suspend()
{
	echo freezer >/sys/power/pm_test && echo freeze >/sys/power/state
}

echo 1 >/sys/module/suspend/parameters/pm_test_delay
snapshot before
[ -e /sys/bus/pci/drivers/pci-stub ] ||
	check "pci-stub is to be had" insmod /run/mod/pci-stub.ko
insmod "$mods/rigdrv.ko"
check "loads" load

check "pci-stub binds to an idle die" bind "$d0" pci-stub
check_is "info names the driver" "$(bs info 0 driver)" pci-stub
check_like "no suspend with a driver that may find its die out" \
	"$(suspend 2>&1)" 'busy'
check_is "acquire of it is EBUSY" "$(bs acquire 0)" EBUSY
check_is "other dies can be acquired" "$(bs acquire 3)" ok
check_is "with FORCE it can" "$(bs acquire 0 force)" ok
check_is "it is in" "$(bs query)" 0
check_is "swapping it out is EBUSY" "$(bs acquire 3)" EBUSY
check_is "release is EBUSY" "$(bs release 0)" EBUSY
chmod 666 "$DEV"
check_is "FORCE needs CAP_SYS_RAWIO" \
	"$(as_group 65534 "$G/bs" acquire 3 force)" EPERM
check_is "to release as well" \
	"$(as_group 65534 "$G/bs" release 0 force)" EPERM
check_is "which changes nothing" "$(bs query)" 0
check_is "release with FORCE takes it out" "$(bs release 0 force)" ok
check_is "the slot is empty" "$(bs query)" none
check_is "out already: ok" "$(bs release 0 force)" ok
check_is "another die comes in" "$(bs acquire 3)" ok
check_is "without a driver FORCE means nothing, not even a right" \
	"$(as_group 65534 "$G/bs" release 3 force)" ok
check_is "that die is out" "$(bs query)" none
check_is "FORCE puts the driver's die in again" "$(bs acquire 0 force)" ok
check_is "nobody touches its memory" \
	"$(as_group 65534 "$G/bs" get 0 0)" BUS
check_is "nor does root" "$(bs get 0 0)" BUS
check_is "a reset is refused" "$(bs acquire 0 sbr force)" EBUSY
if rmmod bar_swap 2>"$TMPDIR/rmmod"; then
	echo "not ok rmmod says in use"
else
	check_like "rmmod says in use" "$(cat "$TMPDIR/rmmod")" \
		'in use|Resource temporarily unavailable|busy'
fi
check "the driver leaves while its die is in" unbind "$d0"
check_is "info has no driver" "$(bs info 0 driver)" ""

check "a driver that claims BAR1 binds" bind "$d0" rigdrv
check_like "its region lies below the BAR" "$(cat /proc/iomem)" \
	'c00000000-fffffffff : rigdrv'
check_is "FORCE takes the die out" "$(bs acquire 3 force)" ok
check_is "die 3 is in" "$(bs query)" 3
check_is "and has its memory" "$(bs put 3 0 33)" ok
if grep -q rigdrv /proc/iomem; then
	echo "not ok the driver's region went with it"
else
	echo "ok the driver's region went with it"
fi
check_is "FORCE brings it back" "$(bs acquire 0 force)" ok
check_like "with its region" "$(cat /proc/iomem)" \
	'c00000000-fffffffff : rigdrv'
master()
{
	echo $((0x$("$G/pcicfg" "$d0" 4 2) & 4))
}
"$G/pcicfg" "$d0" 4 2 6
check_is "release with FORCE while it works" "$(bs release 0 force)" ok
check_is "takes the region out, too" "$(grep -c rigdrv /proc/iomem)" 0
check_is "its work can complete: it is bus master" "$(master)" 4
check_is "acquire brings both back" "$(bs acquire 0 force)" ok
check_like "the region is there" "$(cat /proc/iomem)" \
	'c00000000-fffffffff : rigdrv'
check_is "it still is bus master" "$(master)" 4
"$G/pcicfg" "$d0" 4 2 2
check "the driver leaves" unbind "$d0"
if grep -q rigdrv /proc/iomem; then
	echo "not ok its region is given back"
else
	echo "ok its region is given back"
fi

check "another binds to the active die" bind "$d0" pci-stub
ctl 0 virtual >/dev/null
# a mode that the module can change is bar1mode.sh's
ctl 0 stuckmode >/dev/null
check_is "BAR1 was physical" "$(bs info 0 bar1_mode)" physical
check "it leaves BAR1 virtual" unbind "$d0"
check_is "as info says" "$(bs info 0 bar1_mode)" virtual
check_is "an ordinary user may not touch it" \
	"$(as_group 65534 "$G/bs" get 0 0)" BUS
check "another binds to the active die" bind "$d0" pci-stub
ctl 0 heal >/dev/null
ctl 0 uninit >/dev/null
check "it leaves without memory" unbind "$d0"
check_is "as info says" "$(bs info 0 state)" no_vram
check_is "BAR1 is physical again" "$(bs info 0 bar1_mode)" physical
check_is "what is not there cannot be mapped" "$(bs get 0 0)" EIO
ctl 0 heal >/dev/null
gen=$(bs info 0 generation)
check "suspend without a driver" suspend
check_is "vacates the slot" "$(bs query)" none
check_is "and loses the memory" "$(bs info 0 generation)" $((gen + 1))

check "unloads" unload
rmmod rigdrv
snapshot after
check "everything is as before" same before after

# Last, for Linux makes the ports above an enabled device bus masters for good
check "loads" load
check "enable of an idle die works" sh -c "echo 1 >$SYS/$d0/enable"
check_is "and does not make it decode" \
	"$(($(printf '%d' "0x$("$G/pcicfg" "$d0" 4 2)") & 2))" 0
echo 0 >"$SYS/$d0/enable"
bs acquire 0 >/dev/null
check "enable of the active die works" sh -c "echo 1 >$SYS/$d0/enable"
echo 0 >"$SYS/$d0/enable"
check "it still works" six_work
check "unloads" unload

# an enabled device with a driver is in use by the kernel; decode goes off
# again, for BAR1 at 0 reaches over the slot
echo 1 >"$SYS/$d0/enable"
"$G/pcicfg" "$d0" 4 2 0
check "a driver binds to an enabled die" bind "$d0" pci-stub
check "loads" load
check_is "the die is unusable" "$(bs info 0 state)" unusable
check_like "last_error names the driver" "$(bs info 0 last_error)" pci-stub
check_is "another card works" "$(bs acquire 3)" ok
check "the driver leaves" unbind "$d0"
check "unloads" unload
echo 0 >"$SYS/$d0/enable"
