#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# For a machine with cards: runs, step by step, what only cards can show (the
# list "Not verified on hardware" of the README), and writes a report that can be
# sent in. Asks before anything that resets a die, loads or unloads a driver, or
# loses what is in a die's memory. Root, on a machine whose screen does not
# hang on these cards.
#
#   run.sh [-y] [-l] [-d DIE] [-m MIB] [-s US] [-o FILE] [STEP...]
#
#	-y	do not ask
#	-l	list the steps
#	-d	the die that is tried, 0 by default
#	-m	how much "speed" writes, 4096 by default; it reads a quarter
#	-s	how long "compute" may wait for a kernel that has ended, 1000 by default
#	-o	the report, ./k80-report-DATE.txt by default
#
# Exit code: 0 all that was run passed; 1 a step failed; 2 bad arguments, or it
# cannot be run here.
set -u
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
build=${K80_BUILD:-$top/build}
export PATH=$build:$top/mount-helpers:$PATH:/sbin:/usr/sbin
die=0
mib=4096
sync_us=1000
is_sure=
had_driver=
report=
passed=0 failed=0 skipped=0
mnt=
work=

# after these every die is taken from the driver again
binding='persist probe compute reload six idle'

# STEP TITLE; "!": asks first, and what it says then
steps=(
	'doctor       what the machine lacks'
	'module       the module loads and lists the dies'
	'!acquire     each die once into the slot (first_sbr=auto: a reset only of one that does not do as told)'
	'state        every die that was in answers; BAR1 is physical'
	'!warm        memory for every die: loads and unloads the vendor driver'
	'!persist     memory of the die survives being out: writes into its memory'
	'!speed       copies to and from the card: overwrites 4 GiB (-m) of its memory'
	'!probe       the vendor driver takes one die at a time'
	'!compute     a kernel goes on while its die is out'
	'!reload      memory survives the coming and going of the driver'
	'!six         six dies compute in the time of one'
	'!idle        ten seconds with a driver bound and its die out, another die in: does the card survive the timer of the driver'
	'!reset       a bus reset takes the memory, and warm brings it back: what is in the die is lost'
	'!unload      config space after unloading equals that before loading'
)

usage()
{
	sed -n '4,22s/^# \{0,1\}//p' "$0" >&2
	exit 2
}

name_of()
{
	local s=${1#!}

	echo "${s%% *}"
}

title_of()
{
	local s=${1#* }

	echo "${s#"${s%%[! ]*}"}"
}

# say TEXT: to the terminal and the report
say()
{
	printf '%s\n' "$*" | tee -a "$report"
}

# run COMMAND...: both go into the report; status: the command's
run()
{
	printf '$ %s\n' "$*" >>"$report"
	"$@" >>"$report" 2>&1
}

# sh TEXT: the same for a line of shell
sh_line()
{
	printf '$ %s\n' "$1" >>"$report"
	bash -c "$1" >>"$report" 2>&1
}

dies()
{
	grep -lx 0x102d /sys/bus/pci/devices/*/device 2>/dev/null |
		xargs -r -n 1 dirname | xargs -r -n 1 basename | sort
}

# the dies and every bridge above one
chain()
{
	local d path

	for d in $(dies); do
		path=$(readlink -f "/sys/bus/pci/devices/$d")
		while [[ ${path##*/} =~ ^[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$ ]]; do
			echo "${path##*/}"
			path=${path%/*}
		done
	done | sort -u
}

# Config space of all that the module may write, without the status registers, a
# bridge's second one too. Linux makes a bridge above a die that a driver enables
# bus master, and leaves it so: that is taken for on.
config()
{
	local d

	for d in $(chain); do
		lspci -s "$d" -xxx
	done | awk '
		$1 == "00:" { is_bridge = $16 ~ /1$/; $8 = $9 = "--" }
		$1 == "00:" && is_bridge {
			low = index("0123456789abcdef", substr($6, 2)) - 1
			low += int(low / 4) % 2 ? 0 : 4
			$6 = substr($6, 1, 1) substr("0123456789abcdef", low + 1, 1)
		}
		$1 == "10:" && is_bridge { $16 = $17 = "--" }
		{ print }'
}

mounted()
{
	[ -z "$mnt" ] || return 0
	mkdir -p "$work/k80" && run k80fs "$work/k80" || return 1
	mnt=$work/k80
}

unmounted()
{
	local rc=0

	[ -n "$mnt" ] || return 0
	run umount "$mnt" || rc=1
	mnt=
	return $rc
}

end()
{
	unmounted
	[ -z "$work" ] || rm -rf --one-file-system "$work"
}
trap end EXIT

# owner COMMAND...: one session. Each step of it is in the report, on the disk,
# before it is done: a machine that hangs says where.
owner()
{
	printf '%s\n' "$@" | run k80-owner --log="$report"
}

n_dies()
{
	dies | wc -l
}

# The driver lets go of every die while that is in, and is unloaded if it was not
# there before: what follows needs dies without a driver.
let_go()
{
	local d m lines=()

	for d in $(seq 0 $(($(n_dies) - 1))); do
		lines+=("offline $d")
	done
	owner "${lines[@]}" || return 1
	[ -z "$had_driver" ] || return 0
	for m in nvidia_drm nvidia_modeset nvidia_uvm nvidia; do
		[ ! -e "/sys/module/$m" ] || run rmmod "$m" || return 1
	done
}

step_doctor()
{
	run k80-doctor
}

step_module()
{
	if [ ! -e /dev/bar_swap ]; then
		config >"$work/before"
		run modprobe bar_swap || return 1
	fi
	sh_line 'dmesg | grep bar_swap | tail -n 40'
	[ -e /dev/bar_swap ]
}

step_acquire()
{
	local d

	mounted || return 1
	for d in "$mnt"/die*; do
		sh_line "time echo acquire > $d/ctl" || return 1
	done
}

step_state()
{
	mounted || return 1
	run grep -HE '^(state|alive|bar1_mode|bar1_cache|last_error) ' \
		"$mnt"/die*/status
	! grep -qE '^(alive 0|bar1_mode virtual|state (dead|unusable))' \
		"$mnt"/die*/status
}

step_warm()
{
	unmounted
	owner 'warm all' && mounted &&
		run grep -H '^state ' "$mnt"/die*/status &&
		! grep -q '^state no_vram' "$mnt"/die*/status
}

step_persist()
{
	unmounted
	run vram_persist "$die"
}

step_speed()
{
	mounted || return 1
	run dd if=/dev/zero of="$mnt/die$die/vram" bs=1M \
		count="$mib" conv=fsync,notrunc &&
		run dd if="$mnt/die$die/vram" of=/dev/null bs=1M \
			count=$(((mib + 3) / 4))
}

step_probe()
{
	local d lines=()

	unmounted
	for d in $(seq 0 $(($(n_dies) - 1))); do
		lines+=("probe $d")
	done
	owner "${lines[@]}"
}

step_compute()
{
	unmounted
	run compute_persist -s "$sync_us" "$die"
}

step_reload()
{
	unmounted
	run vram_persist --reload "$die"
}

# log_seconds LOG FROM TO: from the first line with FROM to the last with TO
log_seconds()
{
	local from to

	from=$(grep -m 1 " $2" "$1" | cut -d' ' -f1)
	to=$(grep " $3" "$1" | tail -n 1 | cut -d' ' -f1)
	[ -n "$from" ] && [ -n "$to" ] || return 1
	awk "BEGIN { print $(date -d "$to" +%s.%N) - $(date -d "$from" +%s.%N) }"
}

# a kernel alone, then one on each die at once
step_six()
{
	local d n one six at lines=()

	unmounted
	n=$(n_dies)
	for d in $(seq 0 $((n - 1))); do
		lines+=("online $d")
	done
	lines+=('work 0 1 1000 100000000' 'read 0' status)
	for d in $(seq 0 $((n - 1))); do
		lines+=("work $d $((d + 1)) 1000 100000000")
	done
	for d in $(seq 0 $((n - 1))); do
		lines+=("read $d")
	done
	lines+=(shutdown)
	at=$(wc -l <"$report")
	owner "${lines[@]}" || return 1
	tail -n "+$((at + 1))" "$report" >"$work/log"
	at=$(grep -n -m 1 ' status: ' "$work/log" | cut -d: -f1)
	one=$(head -n "$at" "$work/log" >"$work/one" &&
		log_seconds "$work/one" 'work 0: cuLaunch' 'read 0: PASS') &&
		six=$(tail -n "+$at" "$work/log" >"$work/six" &&
			log_seconds "$work/six" 'work 0: cuLaunch' 'read .: PASS') ||
		return 1
	say "   one die $one s, $n dies $six s"
	awk "BEGIN { exit !($six < 3 * $one) }"
}

step_idle()
{
	local other=$(((die + 1) % $(n_dies)))

	unmounted
	sh_line "{ printf 'online $die\nwork $die 1 1\nswap $other\n'; sleep 10
		printf 'read $die\nshutdown\n'; } | k80-owner --log='$report'" || return 1
	sh_line 'dmesg | tail -n 20'
	! dmesg | tail -n 50 | grep -q 'Xid'
}

step_reset()
{
	mounted || return 1
	sh_line "echo reset > $mnt/die$die/ctl" || return 1
	run grep -E '^(state|last_error) ' "$mnt/die$die/status"
	unmounted
	owner "warm $die" && mounted &&
		run grep '^state ' "$mnt/die$die/status" &&
		! grep -q '^state no_vram' "$mnt/die$die/status"
}

step_unload()
{
	unmounted
	# it was there before we were: once more
	if [ ! -s "$work/before" ]; then
		run rmmod bar_swap || return 1
		config >"$work/before"
		run modprobe bar_swap && mounted &&
			sh_line "echo acquire > $mnt/die$die/ctl" && unmounted ||
			return 1
	fi
	run rmmod bar_swap || return 1
	config >"$work/after"
	run diff "$work/before" "$work/after"
}

# may STEP: whether whoever asks for it agrees
may()
{
	local answer

	[ -z "$is_sure" ] || return 0
	read -r -p "    run it? [y/N] " answer </dev/tty || return 1
	[[ $answer == [yY]* ]]
}

# try STEP: what it has bound is let go of, whatever came of it
try()
{
	local rc=0

	"step_$1" || rc=1
	[[ " $binding " != *" $1 "* ]] || let_go || rc=1
	return $rc
}

run_step()
{
	local name

	name=$(name_of "$1")
	say "== $name: $(title_of "$1")"
	if [ "${1:0:1}" = ! ] && ! may; then
		say "-- $name: not run"
		skipped=$((skipped + 1))
	elif try "$name"; then
		say "-- $name: PASS"
		passed=$((passed + 1))
	else
		say "-- $name: FAIL, see $report"
		failed=$((failed + 1))
	fi
}

while getopts yld:m:s:o: opt; do
	case $opt in
	y)	is_sure=1 ;;
	l)	for s in "${steps[@]}"; do
			printf '%-9s %s\n' "$(name_of "$s")" "$(title_of "$s")"
		done
		exit 0 ;;
	d)	die=$OPTARG ;;
	m)	mib=$OPTARG ;;
	s)	sync_us=$OPTARG ;;
	o)	report=$OPTARG ;;
	*)	usage ;;
	esac
done
shift $((OPTIND - 1))
[[ $die =~ ^[0-9]+$ && $mib =~ ^[1-9][0-9]*$ && $sync_us =~ ^[0-9]+$ ]] || usage
for name; do
	declare -F "step_$name" >/dev/null || {
		echo "run.sh: no step '$name'; -l lists them" >&2
		exit 2
	}
done
[ "$(id -u)" -eq 0 ] || {
	echo "run.sh: this needs root" >&2
	exit 2
}
[ -n "$(dies)" ] || {
	echo "run.sh: no die (PCI device 10de:102d) in this machine" >&2
	exit 2
}
report=$(realpath -m "${report:-k80-report-$(date +%F-%H%M).txt}")
: >"$report" || exit 2
work=$(mktemp -d) || exit 2
[ ! -e /sys/module/nvidia ] || had_driver=1
say "k80fs on hardware, $(date -u +%FT%TZ)"
for line in 'uname -a' 'cat /proc/cmdline' 'k80fs --version' \
	'modinfo bar_swap' 'modinfo -F version nvidia' 'lspci -nn' \
	'grep -E "PCI Bus|bar_swap|System RAM" /proc/iomem' \
	'cat /sys/class/dmi/id/board_vendor /sys/class/dmi/id/board_name'; do
	sh_line "$line"
done
for s in "${steps[@]}"; do
	if [ $# -eq 0 ] || [[ " $* " == *" $(name_of "$s") "* ]]; then
		run_step "$s"
	fi
done
sh_line 'dmesg | grep -E "bar_swap|NVRM|Xid|pcieport|AER" | tail -n 200'
for d in $(chain); do
	run lspci -vvv -nn -s "$d"
done
say "$passed passed, $failed failed, $skipped not run; the report: $report"
[ "$failed" -eq 0 ]
