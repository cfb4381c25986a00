# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# A dry run says every write of an acquire and makes none.
# time: 60
check "loads" load
check_is "die 0 is in" "$(bs acquire 0)" ok
echo "RIG: dry" >/dev/kmsg
quiet 1
check_is "a dry acquire of die 3 succeeds" "$(bs acquire 3 dry)" ok
loud 1
check_is "die 0 is still in" "$(bs query)" 0
log=$(dmesg | sed '0,/RIG: dry$/d')
check_like "the log has the die's BAR1" "$log" "${DIES[3]}.*dry run.*0x18 <- 0x0*c"
check_like "the window of its port" "$log" '0000:06:10.0.*dry run.*0x24 <- 0x'
check_like "the window of the root port" "$log" \
	'0000:00:05.0.*dry run.*0x24 <- 0x'
check_like "and the decode bit" "$log" "${DIES[3]}.*dry run.*COMMAND"
# what it said is what it does
grep -oE '0000:[0-9a-f:.]+: dry run: .*<- 0x[0-9a-f]+' <<<"$log" >"$TMPDIR/said"
echo "# $(wc -l <"$TMPDIR/said") writes"
# the ports they share stay open, which must not be forgotten
quiet 3
check_is "a dry acquire of die 0's sibling succeeds" "$(bs acquire 1 dry)" ok
loud 3
echo 1 >"$SYS/${DIES[0]}/remove"
check_is "die 0 is removed" "$(bs query)" none
check_is "a die of another card comes in" "$(bs acquire 4)" ok
echo 1 >/sys/bus/pci/rescan
check_is "die 0 is back" "$(bs acquire 0)" ok
echo "RIG: dry runs" >/dev/kmsg
start=$SECONDS
for _ in {1..30}; do
	bs acquire 5 dry >/dev/null
done
took=$((SECONDS - start))
n=$(dmesg | sed '0,/RIG: dry runs$/d' | grep -c "${DIES[5]}.*dry run: BAR3 ")
# ten in five seconds are: what came slower than that may all be there
most=$(((took / 5 + 2) * 10))
[ $most -gt 30 ] || most=29
check_is "of 30 at once some are logged ($n in $took s), not all" \
	$((n > 0 && n <= most)) 1
check "unloads" unload

echo "RIG: dry load" >/dev/kmsg
check "loads with dry_run=1" load dry_run=1
quiet 2
check_is "an acquire then succeeds" "$(bs acquire 3)" ok
loud 2
check_is "with nothing in the slot" "$(bs query)" none
check_like "and its writes in the log" \
	"$(dmesg | sed '0,/RIG: dry load$/d')" "${DIES[3]}.*dry run"
check "unloads" unload
