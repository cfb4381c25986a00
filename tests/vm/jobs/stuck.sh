# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# A die that never comes back from its reset: 70 s of the kernel's patience, in
# which nothing is to be done: check.sh runs it beside the other jobs.
# ci: no
# time: 150
# alone: yes
check "loads" load
ctl 3 stuck >/dev/null
start=$SECONDS
"$G/bs" acquire 3 sbr >"$TMPDIR/first" &
first=$!
sleep 2
check_is "nowait is EBUSY meanwhile" "$(bs acquire 0 nowait)" EBUSY
timeout -s INT 1 "$G/bs" acquire 0 >"$TMPDIR/second"
check_is "another acquire can be interrupted" $? 124
check_like "info does not wait" "$(timeout 40 "$G/bs" info 3 bdf)" "${DIES[3]}"
# not by SIGINT, which a shell's background processes ignore
kill -TERM $first
wait $first
check_is "the caller itself can be interrupted" "$((SECONDS - start < 50))" 1
check_is "the reset goes on" "$(bs acquire 0 nowait)" EBUSY
check_is "a waiting acquire of another die gets its turn" \
	"$(timeout $((90 * SLOW)) "$G/bs" acquire 0)" ok
check_is "within $((80 * SLOW)) s" "$((SECONDS - start < 80 * SLOW))" 1
check_is "and not before the reset was over" "$((SECONDS - start > 50))" 1
check_is "the die is dead" "$(bs info 3 state)" dead
check_like "last_error says so" "$(bs info 3 last_error)" "${DIES[3]}.*reset"
check_is "acquire of it is EIO" "$(bs acquire 3)" EIO
check_is "its sibling works" "$(bs acquire 2)" ok
ctl 3 heal >/dev/null
check_is "healed, it works" "$(bs acquire 3)" ok
check "all six work" six_work
check "unloads" unload
