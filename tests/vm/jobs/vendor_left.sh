# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# The stand-in of the vendor's driver was used and has left while its die was
# in: the memory can be mapped again, without an acquire and after one.
# time: 150
# alone: yes
top=$(cd "$VM/../.." && pwd)
check "a tree for modprobe" vendor_tree
check "loads" load

# a mapping of die $1 that stays, which tells what it sees at each line to &8
begin()
{
	rm -f "$TMPDIR/in" "$TMPDIR/out"
	mkfifo "$TMPDIR/in"
	"$G/intruder" "$1" hold <"$TMPDIR/in" >"$TMPDIR/out" &
	intruder=$!
	exec 8>"$TMPDIR/in"
	await 10 grep -qE '^(ready|error)' "$TMPDIR/out"
}

lines_are()
{
	[ "$(wc -l <"$TMPDIR/out")" -ge "$1" ]
}

round()
{
	local lines

	lines=$(wc -l <"$TMPDIR/out")
	echo go >&8
	await 20 lines_are $((lines + 1))
	tail -1 "$TMPDIR/out"
}

for die in 0 1; do
	only $die
	begin $die
	check_is "die $die: a mapping" "$(round)" "100 100 in 1 driver 0 mode 1"
	check "die $die: the driver binds" modprobe nvidia
	check_is "die $die: as info says" "$(bs info $die driver)" nvidia
	exec 3<>/dev/nvidia0
	check_is "die $die: a call" "$("$G/nv" call <&3)" ok
	exec 3>&-
	check_is "die $die: the mapping shows nothing" "$(round | cut -d' ' -f1-6)" \
		"0 0 in 1 driver 1"
	check "die $die: the driver is unbound while the die is in" \
		sh -c "echo ${DIES[$die]} >$SYS/${DIES[$die]}/driver/unbind"
	check_is "die $die: BAR1 is physical" "$(bs info $die bar1_mode)" physical
	check_is "die $die: the mapping works by itself" "$(round)" \
		"100 100 in 1 driver 0 mode 1"
	exec 8>&-
	wait $intruder
	check "die $die: the driver is unloaded" rmmod nvidia
	check_is "die $die: a word without an acquire" "$(bs put $die 40 d1e)" ok
	check_is "die $die: an acquire" "$(bs acquire $die)" ok
	check_is "die $die: the word" "$(bs get $die 40)" 0000000000000d1e
	check "die $die: vram_persist --reload" \
		env LD_LIBRARY_PATH="$BUILD/../cuda" \
		"$top/build/vram_persist" --reload $die
	check_is "die $die: an acquire after it" "$(bs acquire $die)" ok
	check_is "die $die: a word" \
		"$(bs put $die 40 d1e) $(bs get $die 40)" "ok 0000000000000d1e"
	check_is "die $die: no touch was told" "$(told)" 0
done
check "unloads" unload
