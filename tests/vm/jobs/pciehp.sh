# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# With the hot-plug driver on every port.
# rig: pciehp
# time: 90
check_is "pciehp has all 9 ports" \
	"$(find /sys/bus/pci_express/drivers/pciehp/ -name '0000:*' | wc -l)" 9
snapshot before
check "loads, with resets" load first_sbr=1
for die in 0 3; do
	check_is "a first acquire resets die $die" "$(bs acquire $die)" ok
	check_is "once" "$(bs info $die resets)" 1
done
check "unloads" unload
check "loads" load
"$G/swaps" 100 2 7
check "all six work" six_work
check "unloads" unload
snapshot after
check "everything is as before" same before after
check_is "pciehp still has them" \
	"$(find /sys/bus/pci_express/drivers/pciehp/ -name '0000:*' | wc -l)" 9
