# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# The same firmware with a DSDT override: the window is there.
# rig: dsdt
# time: 60
check_like "the kernel took the override" "$(dmesg)" 'DSDT.*override|override.*DSDT|Table Upgrade'
check_like "the host bridge has the window" "$(cat /proc/iomem)" \
	'bc0000000-fffffffff : PCI Bus 0000:00'
check_is "k80-doctor finds the slot in it" "$(doctor_says slot-bar1)" ok
snapshot before
check "loads" load
check "all six work" six_work
check "unloads" unload
snapshot after
check "everything is as before" same before after
