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
check_is "info says so" "$(bs info 0 bar1_cache)" wc
insmod "$BUILD/mod-$(uname -r)/rigdrv.ko"
check "a driver binds" bind "${DIES[0]}" rigdrv
if grep -qE '0x0*c00000000-' /sys/kernel/debug/x86/pat_memtype_list; then
	echo "not ok how it maps BAR1 is for it to say"
else
	echo "ok how it maps BAR1 is for it to say"
fi
check_is "info says that, too" "$(bs info 0 bar1_cache)" uc
check "it leaves" unbind "${DIES[0]}"
check_is "BAR1 is write-combining again" "$(bs info 0 bar1_cache)" wc
bs release 0 >/dev/null
check_is "none when the die is out" "$(bs info 0 bar1_cache)" none
if grep -qE '0x0*c00000000-' /sys/kernel/debug/x86/pat_memtype_list; then
	echo "not ok a vacant slot has no entry there"
else
	echo "ok a vacant slot has no entry there"
fi

insmod "$BUILD/mod-$(uname -r)/riguc.ko" addr=0xd00000000
check_is "with an uncached mapping in it: acquire" "$(bs acquire 3)" ok
check_is "info says what came of it" "$(bs info 3 bar1_cache)" uc
check_like "last_error, too" "$(bs info 3 last_error)" \
	'not write-combining.*c00000000-0xfffffffff'
check_like "and the kernel log" "$(klog)" 'die 3: .*not write-combining'
check_is "the die works" "$(bs put 3 0 3; bs get 3 0)" \
	"$(printf 'ok\n0000000000000003')"
bs release 3 >/dev/null
rmmod riguc
bs acquire 3 >/dev/null
check_is "gone: write-combining" "$(bs info 3 bar1_cache)" wc
check "unloads" unload
