# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Dies that do not do as told: the right error, an empty slot, no harm.
# time: 150
# check: yes
snapshot before
check "loads" load

# after a failed acquire of die $1: slot empty, another die and then this work
recovers()
{
	check_is "$2: the slot is empty" "$(bs query)" none
	check_is "$2: a die of another card works" "$(bs acquire 0)" ok
	bs release 0 >/dev/null
}

healed()
{
	[ "${1:-}" = reg ] || ctl 3 heal >/dev/null
	[ "${1:-}" != reg ] || rmmod rigcfg
	check_is "$2: healed, it works again" "$(bs acquire 3)" ok
	bs release 3 >/dev/null
}

ctl 3 gone >/dev/null
check_is "gone: acquire is EIO" "$(bs acquire 3)" EIO
check_like "gone: last_error names it" "$(bs info 3 last_error)" "${DIES[3]}"
check_is "gone: not alive" "$(bs info 3 alive)" 0
check_is "gone: dead" "$(bs info 3 state)" dead
recovers 3 gone
healed "" gone

bs acquire 3 >/dev/null
ctl 3 gone >/dev/null
check_like "gone while in: check says so" "$(bs check 3)" '^1 0 '
check_is "gone while in: acquire is EIO" "$(bs acquire 3)" EIO
recovers 3 "gone while in"
healed "" "gone while in"

"$G/copyloop" 3 >"$TMPDIR/copy" &
await 10 grep -q copying "$TMPDIR/copy"
ctl 3 gone 5 >/dev/null
wait $!
check_is "gone in a copy: the check after a chunk finds it" \
	"$(tail -1 "$TMPDIR/copy")" dead
check_is "gone in a copy: another die comes in" "$(bs acquire 0)" ok
healed "" "gone in a copy"

ctl 3 ignore 4 >/dev/null
check_is "COMMAND ignored: acquire is EIO" "$(bs acquire 3)" EIO
check_like "COMMAND ignored: last_error has register and values" \
	"$(bs info 3 last_error)" \
	"${DIES[3]}.*0x0?4.*wanted 0x[0-9a-f]+.*got 0x[0-9a-f]+"
recovers 3 "COMMAND ignored"
healed "" "COMMAND ignored"

# WHERE BUS DEVFN REGISTER BDF
while read -r what bus devfn reg bdf; do
	insmod "$BUILD/mod-$(uname -r)/rigcfg.ko" bus=$((bus)) \
		devfn=$((devfn)) reg=$((reg))
	check_is "$what: acquire is EIO" "$(bs acquire 3)" EIO
	check_like "$what: last_error has place, register and values" \
		"$(bs info 3 last_error)" \
		"$bdf.*$reg.*wanted 0x[0-9a-f]+.*got 0x[0-9a-f]+"
	check_like "$what: so has the kernel log" "$(klog)" \
		"$bdf.*$reg.*wanted 0x[0-9a-f]+.*got 0x[0-9a-f]+"
	recovers 3 "$what"
	healed reg "$what"
done <<'E'
BAR0-ignored 0x8 0 0x10 0000:08:00.0
BAR1-ignored 0x8 0 0x18 0000:08:00.0
BAR3-ignored 0x8 0 0x1c 0000:08:00.0
downstream-window-ignored 0x6 0x80 0x24 0000:06:10.0
downstream-limit-ignored 0x6 0x80 0x2c 0000:06:10.0
upstream-window-ignored 0x5 0 0x20 0000:05:00.0
root-window-ignored 0 0x28 0x24 0000:00:05.0
E

# the same over and over is another thing
ctl 3 gone >/dev/null
echo "RIG: gone again" >/dev/kmsg
start=$SECONDS
for _ in {1..40}; do
	bs acquire 3 >/dev/null
done
took=$((SECONDS - start))
n=$(dmesg | sed '0,/RIG: gone again$/d' | grep -c "die 3: ")
most=$(((took / 5 + 2) * 10 + 1))
[ $most -lt 40 ] || most=40
check_is "gone again and again: logged ($n in $took s), not each time" \
	$((n > 0 && n <= most)) 1
ctl 3 heal >/dev/null

ctl 3 virtual >/dev/null
ctl 3 stuckmode >/dev/null
check_is "virtual BAR1: acquire succeeds" "$(bs acquire 3)" ok
check_is "virtual BAR1: info says so" "$(bs info 3 bar1_mode)" virtual
ctl 3 heal >/dev/null
bs release 3 >/dev/null
check_is "physical again: acquire" "$(bs acquire 3)" ok
check_is "physical again: info says so" "$(bs info 3 bar1_mode)" physical
check_like "physical again: memory is there" "$(bs get 3 0)" '^[0-9a-f]{16}$'
bs release 3 >/dev/null

ctl 3 uninit >/dev/null
check_is "not initialised: acquire succeeds" "$(bs acquire 3)" ok
check_is "not initialised: state" "$(bs info 3 state)" no_vram
check_like "not initialised: no memory to touch" "$(bs get 3 0)" 'BUS|EIO'
check_like "not initialised: last_error says why" \
	"$(bs info 3 last_error)" 'PRAMIN|initiali'
bs release 3 >/dev/null
healed "" "not initialised"

ctl 3 slow 20000 >/dev/null
check_is "slow registers: acquire succeeds" "$(bs acquire 3)" ok
bs release 3 >/dev/null
healed "" "slow registers"

gen=$(bs info 3 generation)
ctl 3 late 1500 >/dev/null
check_is "late from reset: acquire succeeds" "$(bs acquire 3 sbr)" ok
check_is "late from reset: generation is raised" \
	"$(bs info 3 generation)" $((gen + 1))
healed "" "late from reset"

bs acquire 3 >/dev/null
bs put 3 0 1234 >/dev/null
ctl 3 forget >/dev/null
check_is "reset: acquire" "$(bs acquire 3 sbr)" ok
check_is "reset: reached the die" "$(bs get 3 0)" 0000000000000000
healed "" reset

bs acquire 3 >/dev/null
"$G/pcicfg" "${DIES[3]}" 18 4 8
check_is "BAR1 moved by others: a dry run finds it" "$(bs acquire 3 dry)" EIO
check_is "BAR1 moved by others: and changes nothing" "$(bs query)" 3
check_is "BAR1 moved by others: noticed at the next acquire" \
	"$(bs acquire 3)" EIO
check_like "BAR1 moved by others: last_error has the register" \
	"$(bs info 3 last_error)" "${DIES[3]}.*0x18 wanted 0x0*c got 0x0*8"
recovers 3 "BAR1 moved by others"
check_is "BAR1 moved by others: the next acquire works" "$(bs acquire 3)" ok

check "all six work" six_work
check "unloads" unload
snapshot after
check "everything is as before" same before after

# the memory window of a port, before anything of ours is in it
insmod "$BUILD/mod-$(uname -r)/rigcfg.ko" bus=6 devfn=$((0x80)) reg=$((0x20))
check "loads with a port that does not close" load
check_is "stuck port: its die is unusable" "$(bs info 3 state)" unusable
check_is "stuck port: no other chain is opened" "$(bs acquire 0)" EIO
rmmod rigcfg
check_is "stuck port: once it closes another works" "$(bs acquire 0)" ok
check "unloads" unload
snapshot after
check "everything is as before" same before after
