# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# A device is plugged in below a card whose die is in.
# rig: hotslot
# time: 120
# Linux's bus numbers differ here; card 0's are the first ones all the same
insmod /run/mod/rng-core.ko 2>/dev/null
insmod /run/mod/virtio-rng.ko 2>/dev/null
port=0000:02:11.0
mine=(0000:00:04.0 0000:01:00.0 0000:02:08.0 0000:02:10.0 "$port"
	0000:03:00.0 0000:04:00.0)

below()
{
	find "$SYS/$port/" -maxdepth 1 -name '0000:??:??.?' | grep -q .
}

gone()
{
	! below
}

# vectors=0: its BARs are prefetchable, so that only that window goes
plug()
{
	"$G/rigmon" "device_add virtio-rng-pci,id=guest,bus=dnx,vectors=$1,disable-legacy=on"
	await 20 below
}

unplug()
{
	"$G/rigmon" "device_del guest"
	await 20 gone
}

check "there is an empty hot-plug port" [ -e "/sys/bus/pci_express/drivers/pciehp/$port:pcie204" ]
"$G/pcicfg" dump 256 "${mine[@]}" >"$TMPDIR/before"
cat /proc/iomem >"$TMPDIR/before.iomem"
check "loads" load
for vectors in 0 2; do
	check_is "$vectors vectors: die 0 is in" "$(bs acquire 0 lease)" ok
	check_is "$vectors vectors: with its memory" "$(bs put 0 0 600d)" ok
	"$G/copyloop" 0 >"$TMPDIR/copy" &
	copy=$!
	await 10 grep -q copying "$TMPDIR/copy"
	check "$vectors vectors: a device is plugged in" plug $vectors
	await 10 sh -c "! kill -0 $copy 2>/dev/null" || kill $copy
	wait $copy
	# in the copy, or in the check after a chunk
	check_like "$vectors vectors: a copy under way ends" \
		"$(tail -1 "$TMPDIR/copy")" '^(BUS|out)$'
	check_is "$vectors vectors: the slot is empty" "$(bs query)" none
	check_like "$vectors vectors: a check says so" "$(bs check 0)" '^0 0 '
	check_is "$vectors vectors: die 0 is not to be touched" \
		"$(bs get 0 0)" BUS
	check_is "$vectors vectors: it is unusable" "$(bs info 0 state)" unusable
	check_like "$vectors vectors: last_error names the newcomer" \
		"$(bs info 0 last_error)" '1af4:1044'
	check_is "$vectors vectors: acquire is EBUSY" "$(bs acquire 0)" EBUSY
	check_is "$vectors vectors: so is its sibling's" "$(bs acquire 1)" EBUSY
	check_is "$vectors vectors: another card works" "$(bs acquire 4)" ok
	check "$vectors vectors: it is unplugged" unplug
	check_is "$vectors vectors: die 0 is idle" "$(bs info 0 state)" idle
	check_is "$vectors vectors: and comes in again" "$(bs acquire 0)" ok
	check_like "$vectors vectors: with its memory" "$(bs get 0 0)" '600d$'
done
check "all six work" six_work
check_is "another card's die is in" "$(bs acquire 4 lease)" ok
check "a device is plugged in below an idle card" plug 0
check_is "the die that is in stays" "$(bs query)" 4
check_like "and works" "$(bs get 4 40)" 'd1e4$'
check_is "no-op acquire" "$(bs acquire 4)" ok
check "unloads" unload
check "and loads beside it" load
check_is "that card is unusable" "$(bs acquire 1)" EBUSY
check_is "another works" "$(bs acquire 2)" ok
check "unloads" unload
check "it is unplugged" unplug
"$G/pcicfg" dump 256 "${mine[@]}" >"$TMPDIR/after"
check "config space is as before" diff "$TMPDIR/before" "$TMPDIR/after"
check "iomem is as before" diff "$TMPDIR/before.iomem" /proc/iomem
