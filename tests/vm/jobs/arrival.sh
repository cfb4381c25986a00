# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# A device is plugged in below a card whose die is in.
# rig: hotslot
# time: 120
# Linux's bus numbers differ here; card 0's are the first ones all the same
# the newcomer is to have no driver, which might find no registers
echo 0 >/sys/bus/pci/drivers_autoprobe
port=0000:02:11.0
# not that port: pciehp changes its slot's registers
mine=(0000:00:04.0 0000:01:00.0 0000:02:08.0 0000:02:10.0 0000:03:00.0
	0000:04:00.0)

below()
{
	find "$SYS/$port/" -mindepth 1 -maxdepth 1 -name '0000:??:??.?' | grep -q .
}

gone()
{
	! below
}

# really plugged in at first, found again by a rescan later. vectors=0: all its
# BARs are prefetchable, so that room is made in that window alone
plug()
{
	if [ "$1" = "a hot-plug" ]; then
		"$G/rigmon" "device_add virtio-rng-pci,id=guest,bus=dnx,vectors=0,disable-legacy=on"
	else
		echo 1 >"$SYS/$port/rescan"
	fi
	await 20 below
}

leave()
{
	echo 1 >"$(find "$SYS/$port/" -mindepth 1 -maxdepth 1 -name '0000:??:??.?')/remove"
	await 20 gone
}

check "there is an empty hot-plug port" [ -e "/sys/bus/pci_express/drivers/pciehp/$port:pcie204" ]
"$G/pcicfg" dump 256 "${mine[@]}" >"$TMPDIR/before"
cat /proc/iomem >"$TMPDIR/before.iomem"
check "loads" load
for how in "a hot-plug" "a rescan"; do
	check_is "$how: die 0 is in" "$(bs acquire 0 lease)" ok
	check_is "$how: with its memory" "$(bs put 0 0 600d)" ok
	"$G/copyloop" 0 >"$TMPDIR/copy" &
	copy=$!
	await 10 grep -q copying "$TMPDIR/copy"
	check "$how: a device arrives" plug "$how"
	await 10 sh -c "! kill -0 $copy 2>/dev/null" || kill $copy
	wait $copy
	# in the copy, or in the check after a chunk
	check_like "$how: a copy under way ends" \
		"$(tail -1 "$TMPDIR/copy")" '^(BUS|out)$'
	check_is "$how: the slot is empty" "$(bs query)" none
	check_like "$how: a check says so" "$(bs check 0)" '^0 0 '
	check_is "$how: die 0 is not to be touched" \
		"$(bs get 0 0)" BUS
	check_is "$how: it is unusable" "$(bs info 0 state)" unusable
	check_like "$how: last_error names the newcomer" \
		"$(bs info 0 last_error)" '1af4:1044'
	check_is "$how: acquire is EBUSY" "$(bs acquire 0)" EBUSY
	check_is "$how: so is its sibling's" "$(bs acquire 1)" EBUSY
	check "$how: it leaves" leave
	check_is "$how: another card works" "$(bs acquire 4)" ok
	check_is "$how: die 0 is idle" "$(bs info 0 state)" idle
	check_is "$how: and comes in again" "$(bs acquire 0)" ok
	check_like "$how: with its memory" "$(bs get 0 0)" '600d$'
done
check "all six work" six_work
check_is "another card's die is in" "$(bs acquire 4 lease)" ok
check "a device arrives below an idle card" plug "a rescan"
check_is "the die that is in stays" "$(bs query)" 4
check_like "and works" "$(bs get 4 40)" 'd1e4$'
check_is "no-op acquire" "$(bs acquire 4)" ok
check "it leaves" leave
check "unloads" unload
"$G/pcicfg" dump 256 "${mine[@]}" >"$TMPDIR/after"
check "config space is as before" diff "$TMPDIR/before" "$TMPDIR/after"
check "iomem is as before" diff "$TMPDIR/before.iomem" /proc/iomem
echo 1 >/sys/bus/pci/drivers_autoprobe
