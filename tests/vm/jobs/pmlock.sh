# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# A suspend beside a probe on hot-plug that registers a PM notifier.
# time: 90
# alone: yes
echo 0 >/sys/module/suspend/parameters/pm_test_delay
echo freezer >/sys/power/pm_test
check "loads" load
check_is "die 0 is in" "$(bs acquire 0)" ok
insmod "$BUILD/mod-$(uname -r)/rigpm.ko" &
probe=$!
has_lock()
{
	klog | grep -q 'rigpm: has the rescan lock'
}

ended()
{
	! kill -0 "$1" 2>/dev/null
}

await 20 has_lock
(echo freeze >/sys/power/state) 2>"$TMPDIR/said" &
suspend=$!
check "the suspend ends while the probe goes on" await 60 ended $suspend
check_like "refused" "$(cat "$TMPDIR/said")" 'busy'
check_like "by us" "$(klog)" 'bar_swap: no suspend'
echo 0 >/sys/module/rigpm/parameters/hold
check "so does the probe" await 60 ended $probe
check_is "a die comes in" "$(timeout 30 "$G/bs" acquire 3)" ok
check "then a suspend works" sh -c 'echo freeze >/sys/power/state'
check_is "and vacates the slot" "$(bs query)" none
check_is "a die comes in afterwards" "$(timeout 30 "$G/bs" acquire 1)" ok
check "unloads" unload
