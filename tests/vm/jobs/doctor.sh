# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# k80-doctor and the module say the same of the same machine, and what the
# doctor advises is a slot that works.
# time: 120
# ci: 6.1

doctor
check_is "the default slot: k80-doctor" \
	"$(doctor_field slot-bar1 code) $(doctor_field slot-bar0-bar3 code) $(doctor_field ports state)" \
	"ok ok ok"
check "the default slot: the module" load
check "unloads" unload

nic=$(grep -E '^ *[0-9a-f]{8}-.* : 0000:00:0[12]\.0' /proc/iomem |
	sed 's/^ *//' | head -1)
dev=0x${nic%%-*}
doctor_agrees geometry slot-bar1 bar1=0xC10000000
doctor_agrees ram slot-bar1 bar1=0 bar1_size=0x20000000 vram_bytes=0x10000000
doctor_agrees overlap slot-bar1 bar1=0xf0000000 bar1_size=0x8000000 \
	vram_bytes=0x8000000
doctor_agrees stranger slot-bar1 bar1=0xbc0000000 bar1_size=0x40000000 \
	vram_bytes=0x20000000
doctor_agrees stranger slot-bar0-bar3 \
	"bar0=$(printf '0x%x' $((dev & ~0xffffff)))" \
	"bar3=$(printf '0x%x' $(((dev & ~0x1ffffff) + 0x2000000)))"
read -r -a advice <<<"$(doctor_advises slot-bar0-bar3)"
check_is "advice for the last" "${#advice[@]}" 2
check "it is a slot" load "${advice[@]}"
check_is "a die works there" "$(bs acquire 3)" ok
check_is "k80-doctor knows the slot of a loaded module" \
	"$(doctor_says slot-bar0-bar3)" ok
check_like "by its place" "$(doctor_field slot-bar0-bar3 found)" \
	"^${advice[0]#bar0=}-"
check "unloads" unload
doctor_agrees window slot-bar1 bar1=0x400000000
read -r -a advice <<<"$(doctor_advises slot-bar1)"
check_is "advice for the last" "${advice[*]}" bar1=0xc00000000
