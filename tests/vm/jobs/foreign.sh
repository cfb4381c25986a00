# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# A device that is none of ours sits behind one card's switch.
# rig: foreign
# time: 60
# Linux's bus numbers differ here
insmod /run/mod/rng-core.ko 2>/dev/null
insmod /run/mod/virtio-rng.ko
rng=0000:05:00.0
card0=(0000:00:04.0 0000:01:00.0 0000:02:08.0 0000:02:10.0 0000:02:11.0
	0000:03:00.0 0000:04:00.0 "$rng")

rng_works()
{
	[ "$(timeout 10 head -c 16 /dev/hwrng | wc -c)" -eq 16 ]
}

check_like "it is there" "$(cat "$SYS/$rng/vendor")" 0x1af4
check "it works" rng_works
"$G/pcicfg" dump 256 "${card0[@]}" >"$TMPDIR/card0.before"
check_is "k80-doctor sees a problem" "$(doctor_says ports state)" problem
verdict=$(doctor_field ports found)
quiet 1 1
check "loads" load
for die in 0 1; do
	check_is "die $die is unusable" "$(bs info $die state)" unusable
	check_is "acquire of die $die is EBUSY" "$(bs acquire $die)" EBUSY
	check_like "last_error names the stranger" \
		"$(bs info $die last_error)" "$rng"
	check_is "as k80-doctor did" \
		"$(bs info $die last_error | sed 's/^[^ ]*Z //')" "$verdict"
done
for die in 2 3 4 5; do
	check_is "die $die works" "$(bs acquire $die)" ok
	check_is "die $die has memory" "$(bs put $die 0 "d$die")" ok
	check "the stranger works with die $die in" rng_works
done
for die in 5 4 3 2; do
	bs acquire $die >/dev/null
	check_like "die $die kept its data" "$(bs get $die 0)" "d$die\$"
done
check "unloads" unload
loud 1
check "the stranger works" rng_works
"$G/pcicfg" dump 256 "${card0[@]}" >"$TMPDIR/card0.after"
check "its card was never touched" \
	diff "$TMPDIR/card0.before" "$TMPDIR/card0.after"

# it is away at load and comes and goes while we are there
port=0000:02:11.0
echo 1 >"$SYS/$port/remove"
check "loads without it" load
for die in 0 2; do
	check_is "die $die works" "$(bs acquire $die)" ok
	iomem[die]=$(cat /proc/iomem)
done
echo 1 >/sys/bus/pci/rescan
check "the stranger is there" [ -e "$SYS/$port" ]
check_is "its card's dies are unusable" "$(bs info 1 state)" unusable
check_is "acquire is EBUSY" "$(bs acquire 0)" EBUSY
check_is "a die of another card comes in" "$(bs acquire 4)" ok
echo 1 >"$SYS/$port/remove"
check_is "the stranger is gone: they are idle" "$(bs info 1 state)" idle
check_is "and die 0 comes in" "$(bs acquire 0)" ok
check_is "with nothing of the stranger in its windows" "$(cat /proc/iomem)" \
	"${iomem[0]}"
check "unloads" unload
