# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Write-combining, and few faults.
# time: 60
mount -t debugfs debugfs /sys/kernel/debug 2>/dev/null
insmod "$BUILD/mod-$(uname -r)/rigpte.ko"
check "loads" load
"$G/touch"
check_like "the PAT list has the range as write-combining" \
	"$(cat /sys/kernel/debug/x86/pat_memtype_list)" \
	'0x0*c00000000-0x0*1000000000.*write-combining'
bs release 0 >/dev/null
if grep -qE '0x0*c00000000-' /sys/kernel/debug/x86/pat_memtype_list; then
	echo "not ok a vacant slot has no entry there"
else
	echo "ok a vacant slot has no entry there"
fi
check "unloads" unload
