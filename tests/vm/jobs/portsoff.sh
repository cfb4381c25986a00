# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Firmware left the ports above a die switched off.
# time: 60
path=(0000:00:05.0 0000:05:00.0 0000:06:10.0)

command()
{
	echo $((0x$("$G/pcicfg" "$1" 4 2) & $2))
}

for port in "${path[@]}"; do
	was[${#was[@]}]=$("$G/pcicfg" "$port" 4 2)
	"$G/pcicfg" "$port" 4 2 "$(printf '%x' $((0x${was[-1]} & ~6)))"
done
snapshot before
check "loads" load verbose=1
for port in "${path[@]}"; do
	check_is "$port is left as it is" "$(command "$port" 6)" 0
done
check_is "a dry acquire" "$(bs acquire 3 dry)" ok
for port in "${path[@]}"; do
	check_like "says that it would switch $port on" "$(klog)" \
		"$port: dry run: COMMAND 0x04 <- 0x[0-9a-f]*[67]\$"
	check_is "and does not" "$(command "$port" 6)" 0
done
check_is "an acquire" "$(bs acquire 3)" ok
for port in "${path[@]}"; do
	check_is "switches $port on" "$(command "$port" 6)" 6
done
check_is "the die answers" "$(bs check 3 | cut -d' ' -f1-2)" "1 1"
check_is "and has memory" "$(bs put 3 0 d3)" ok
bs acquire 0 >/dev/null
check_is "it keeps its data" "$(bs acquire 3 >/dev/null; bs get 3 0)" \
	00000000000000d3
check "unloads" unload
snapshot after
check "everything is as before" same before after
i=0
for port in "${path[@]}"; do
	"$G/pcicfg" "$port" 4 2 "${was[i]}"
	i=$((i + 1))
done

# a port that does not take it is named, and the die is not blamed
"$G/pcicfg" 0000:06:10.0 4 2 0
insmod "$BUILD/mod-$(uname -r)/rigcfg.ko" bus=6 devfn=$((0x80)) reg=4
check "loads" load first_sbr=auto
check_is "a port that stays off: EIO" "$(bs acquire 3)" EIO
check_like "last_error names it" "$(bs info 3 last_error)" \
	'0000:06:10.0: COMMAND 0x04 wanted'
check_is "the die is alive" "$(bs info 3 alive)" 1
check_is "and was not reset" "$(bs info 3 resets)" 0
rmmod rigcfg
check_is "when it can be switched on the die works" "$(bs acquire 3)" ok
check "unloads" unload
"$G/pcicfg" 0000:06:10.0 4 2 "${was[2]}"
