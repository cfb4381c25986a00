# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Nobody touches a die that a driver has: not through a mapping from before,
# not through one made afterwards, not root, unless the open file asked for it.
# time: 90
d0=${DIES[0]}
insmod /run/mod/pci-stub.ko 2>/dev/null
check "loads" load
chmod 666 "$DEV"
n=0

# begin WHO [HOW]: an intruder at die 0; user or root
begin()
{
	n=$((n + 1))
	rm -f "$TMPDIR/in" "$TMPDIR/out.$n"
	mkfifo "$TMPDIR/in"
	if [ "$1" = user ]; then
		as_group 65534 "$G/intruder" 0 "${2:-}"
	else
		"$G/intruder" 0 "${2:-}"
	fi <"$TMPDIR/in" >"$TMPDIR/out.$n" &
	intruder=$!
	exec 8>"$TMPDIR/in"
	await 10 grep -qE '^(ready|error)' "$TMPDIR/out.$n"
}

lines_are()
{
	[ "$(wc -l <"$TMPDIR/out.$n")" -ge "$1" ]
}

# a round of it: prints what it says
round()
{
	local lines

	lines=$(wc -l <"$TMPDIR/out.$n")
	echo go >&8
	await 20 lines_are $((lines + 1))
	tail -1 "$TMPDIR/out.$n"
}

end()
{
	exec 8>&-
	wait $intruder
}

for how in hold lease; do
	begin user $how
	check_is "$how: it has the memory" "$(round)" \
		"100 100 in 1 driver 0 mode 1"
	check "$how: root binds a driver" bind "$d0" pci-stub
	check_is "$how: it has no page left, and is told" "$(round)" \
		"0 0 in 1 driver 1 mode 1"
	check_is "$how: nor later" "$(round)" "0 0 in 1 driver 1 mode 1"
	check "$how: the driver leaves" unbind "$d0"
	check_is "$how: the same pointer works again" "$(round)" \
		"100 100 in 1 driver 0 mode 1"
	ctl 0 virtual >/dev/null
	check_like "$how: BAR1 turns virtual, which a check finds" \
		"$(bs check 0)" '^1 1 .* virtual$'
	check_is "$how: then nothing is to be had" "$(round)" \
		"0 0 in 1 driver 0 mode 2"
	ctl 0 physical >/dev/null
	check_like "$how: physical again" "$(bs check 0)" ' physical$'
	check_is "$how: all is to be had" "$(round)" \
		"100 100 in 1 driver 0 mode 1"
	end
done
begin user hold
check_is "another's mapping" "$(round)" "100 100 in 1 driver 0 mode 1"
ctl 0 virtual >/dev/null
ctl 0 stuckmode >/dev/null
check_is "a no-op acquire finds that BAR1 is virtual" "$(bs acquire 0)" ok
check_is "and zaps it" "$(bs info 0 bar1_mode) $(round | cut -d' ' -f1,2)" 	"virtual 0 0"
ctl 0 physical >/dev/null
check_is "and that it is physical again" "$(bs acquire 0)" ok
check_is "which brings it back" "$(round | cut -d' ' -f1,2)" "100 100"
end

check_is "die 0 is in" "$(bs acquire 0)" ok
check "a driver is bound before anybody opens" bind "$d0" pci-stub
for who in user root; do
	begin $who
	check_is "$who: has no page of it" "$(round)" "0 0 in 1 driver 1 mode 1"
	end
	begin $who hold
	check_is "$who: nor after an acquire" "$(round)" \
		"0 0 in 1 driver 1 mode 1"
	check_is "$who: nor after root forced it in" "$(bs acquire 0 force)" ok
	check_is "$who: still none" "$(round)" "0 0 in 1 driver 1 mode 1"
	end
done
begin user mem
check_is "asking for it needs CAP_SYS_RAWIO" "$(cat "$TMPDIR/out.$n")" \
	"error EPERM"
end
begin root mem
check_is "root that asks for it gets it" "$(round)" "100 100 in 1 driver 1 mode 1"
begin_other=$(bs get 0 0)
check_is "which gives it to no other open file" "$begin_other" BUS
ctl 0 virtual >/dev/null
check_is "it sees a virtual BAR1 too" "$(round)" "100 100 in 1 driver 1 mode 2"
ctl 0 physical >/dev/null
end
check "the driver leaves" unbind "$d0"
check_like "an ordinary user maps it" "$(as_group 65534 "$G/bs" get 0 0)" \
	'^[0-9a-f]{16}$'
check "unloads" unload
