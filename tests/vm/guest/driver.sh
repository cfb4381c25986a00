#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs in the guest as root: every job of the plan, one after the other.
#
#   driver.sh BUILD CACHE
#
# /run/out is the host's folder: plan in; JOB.log, JOB.done, config out.
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export HOME=/run LC_ALL=C
export BUILD=$1 CACHE=$2
VM=$(cd "$(dirname "$0")/.." && pwd)
export VM G=$BUILD/guest OUT=/run/out
export TMPDIR=/run/tmp
# libcheck's: /tmp is not writable when the tree under test is there
export TEMP=$TMPDIR

mkdir -p $TMPDIR
# shellcheck source=tests/vm/guest/lib.sh
. "$VM/guest/lib.sh"
# messages that a correct module never causes
BAD='WARNING:|BUG:|Oops|Call Trace|KASAN|refcount_t|general protection'
BAD+='|hung_task|blocked for more|nonexistent resource|stack guard|lockdep'

# after a job the machine must be as before it
after()
{
	local strays expected m die

	vendor_gone
	if [ -e /sys/module/bar_swap ] && ! rmmod bar_swap; then
		echo "not ok module is left loaded and cannot be removed"
	fi
	for m in rigpte rigcfg rigdrv rigspot rigpm riguc rignobr pci_stub; do
		[ ! -e /sys/module/$m ] || rmmod $m
	done
	for die in 0 1 2 3 4 5; do
		"$G/rigctl" $die heal >/dev/null
	done
	expected=$(cat "$TMPDIR/touches" 2>/dev/null || echo 0)
	rm -f "$TMPDIR/touches"
	if [ "$(JOB=$1 told)" != "$expected" ]; then
		echo "not ok the driver missed its die $expected times"
		JOB=$1 klog | grep 'nvidia: ' | tail -20
	elif [ "$expected" != 0 ] || JOB=$1 klog | grep -q 'nvidia: '; then
		echo "ok the driver missed its die $expected times"
	fi
	if dmesg | sed "0,/RIG: job $1/d" | grep -E "$BAD"; then
		echo "not ok nothing bad in the kernel log"
	else
		echo "ok nothing bad in the kernel log"
	fi
	# a job that makes some on purpose says how many
	expected=$((stray_writes + $(cat "$TMPDIR/strays" 2>/dev/null || echo 0)))
	rm -f "$TMPDIR/strays"
	strays=$("$G/rigctl" bg strays)
	stray_writes=${strays##* }
	if [ "$stray_writes" != "$expected" ]; then
		echo "not ok no stray write ($stray_writes, expected $expected)"
	else
		echo "ok no stray write"
	fi
}

"$G/rigbg" setup
# for the variant with an override of it
[ -s "$OUT/plan" ] || cp /sys/firmware/acpi/tables/DSDT "$OUT/DSDT"
stray_writes=0
while read -r n job limit SLOW SCOPE; do
	export SLOW SCOPE
	echo "RIG: job $job" >/dev/kmsg
	"$G/rigctl" log "job $job" >/dev/null
	"$G/rigbg" mark $((0x01000000 | n))
	start=$(cut -d' ' -f1 /proc/uptime)
	{
		JOB=$job timeout -k 5 "$limit" \
			bash "$VM/guest/job.sh" "$VM/jobs/$job.sh" </dev/null 2>&1
		rc=$?
		[ $rc -eq 0 ] || echo "not ok runs to its end (status $rc)"
		after "$job" 2>&1
		echo "# from $start to $(cut -d' ' -f1 /proc/uptime) s"
	} >"$OUT/$job.log"
	dmesg -c | sed "0,/RIG: job $job/d" >"$OUT/$job.dmesg"
	touch "$OUT/$job.done"
	echo "RIG: job $job done"
	# nothing that follows would mean anything
	[ ! -e /sys/module/bar_swap ] || break
done <"$OUT/plan"
# for the checker: its model must have ended in the same state
for f in /sys/bus/pci/devices/*/config; do
	echo "$(basename "$(dirname "$f")") $(xxd -p -l 64 -c 64 "$f")"
done >"$OUT/config"
