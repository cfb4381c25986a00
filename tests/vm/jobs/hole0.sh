# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Firmware without a 64-bit window: refused, with the way out.
# rig: hole0
# time: 40
snapshot before
quiet 1
if insmod "$KO/bar_swap.ko" 2>/dev/null; then
	echo "not ok refuses to load"
	rmmod bar_swap
else
	echo "ok refuses to load"
fi
loud 1
check_like "names the missing window and the DSDT override" "$(klog)" \
	'no host bridge window contains .*; is the DSDT override loaded\?'
doctor_agrees window slot-bar1
check_is "k80-doctor wants an override" "$(doctor_field dsdt-override state)" problem
check_like "around the slot" "$(cat "$TMPDIR/doctor")" \
	'window around 0xc00000000-0xfffffffff'
snapshot after
check "everything is as before" same before after
