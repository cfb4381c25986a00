# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# What was found at load is back after unload, always.
# time: 150
# check: yes
# 50 reloads with swaps, then 3 with the resets of a first acquire
reloads=$(often 50 10)
config 4096 >"$TMPDIR/full.before"
snapshot before
bad=0
for i in $(seq "$reloads"); do
	load || bad=$((bad + 1))
	bs acquire $((i % 6)) >/dev/null || bad=$((bad + 1))
	bs acquire $(((i + 3) % 6)) >/dev/null || bad=$((bad + 1))
	[ $((i % 3)) -ne 0 ] || bs release $(((i + 3) % 6)) >/dev/null
	unload || bad=$((bad + 1))
	snapshot after
	same before after >"$TMPDIR/diff" || {
		bad=$((bad + 1))
		[ -n "${shown:-}" ] || sed 's/^/#   /' "$TMPDIR/diff"
		shown=1
	}
done
check_is "$reloads reloads with swaps change nothing" $bad 0
# Not after resets: they clear 0x488, which a quirk of Linux sets once at boot
config 4096 >"$TMPDIR/full.after"
check "nor any of the 4096 bytes" \
	diff "$TMPDIR/full.before" "$TMPDIR/full.after"

bad=0
for i in 1 2 3; do
	load first_sbr=1 || bad=$((bad + 1))
	bs acquire $((2 * i - 1)) >/dev/null || bad=$((bad + 1))
	check_is "a first acquire resets ($i)" \
		"$(bs info $((2 * i - 1)) resets)" 1
	check_is "which does not raise the generation ($i)" \
		"$(bs info $((2 * i - 1)) generation)" \
		"$(bs info $((2 * i - 2)) generation)"
	unload || bad=$((bad + 1))
	snapshot after
	same before after || bad=$((bad + 1))
done
check_is "3 reloads with resets change nothing" $bad 0
