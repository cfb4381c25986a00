#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# trace is what Perfetto opens: JSON, events in the order of time, each beginning
# with its end, one die in the slot at a time; it tells of swaps, waits, copies
# and holds, and an open file shows one moment
. "$(dirname "$0")/lib.sh"
need_cmd python3
mount_sim

cat >"$W/check.py" <<'END'
import json, sys
want = sys.argv[2:]
with open(sys.argv[1]) as f:
    events = json.load(f)["traceEvents"]
spans, began, last, names = [], {}, 0, set()
for e in events:
    if e["ph"] == "M":
        continue
    assert e["ph"] in "Xbe" and e["pid"] == 1, e
    assert e["ts"] >= last, ("not in order", e)
    last = e["ts"]
    names.add(e["name"])
    if e["ph"] == "X":
        assert e["dur"] >= 0, e
        if e["name"] == "in the slot":
            spans.append((e["ts"], e["ts"] + e["dur"], e["tid"]))
    elif e["ph"] == "b":
        assert e["id"] not in began, e
        began[e["id"]] = e
    else:
        b = began.pop(e["id"])
        assert b["name"] == e["name"] and b["tid"] == e["tid"], (b, e)
assert not began, began
for a, b in zip(spans, spans[1:]):
    assert a[1] <= b[0] + 0.002, ("two dies in the slot", a, b)
for name in want:
    assert name in names, (name, names)
print(len(events))
END
is_waited_for() {
	[ "$(status "$1" waiters)" -gt 0 ]
}

check() {
	python3 "$W/check.py" "$@" >"$W/count" 2>"$W/error" ||
		fail "$1: $(tail -n 3 "$W/error")"
}

check "$M/trace"
dd if=/dev/zero of="$(die 0)/vram" bs=64K count=3 conv=notrunc,fsync status=none
dd if="$(die 0)/vram" of=/dev/null bs=64K count=3 status=none
cat "$M/trace" >"$W/first"
check "$W/first" read write
exec 3<"$M/trace"
if [ "$K80FS_BACKEND" != cuda ]; then
	ctl 0 pin
	dd if="$(die 1)/vram" of="$W/out" bs=4K count=1 status=none &
	reader=$!
	await is_waited_for 1 || fail "nobody waits"
	ctl 0 unpin
	wait $reader
	ctl 1 zero 0 64K
	cat "$M/trace" >"$W/second"
	check "$W/second" read write wait hold swap zero 'in the slot'
fi
# more than is kept, by several at once
for _ in 1 2; do
	dd if="$(die 0)/vram" of=/dev/null bs=512 count=3000 iflag=direct status=none &
done
wait
cat "$M/trace" >"$W/third"
check "$W/third" read
[ "$(<"$W/count")" -gt 2000 ] || fail "only $(<"$W/count") events"
cat <&3 >"$W/kept"
exec 3<&-
check "$W/kept" read write
[ "$(stat -c %s "$W/kept")" -lt "$(stat -c %s "$W/third")" ] ||
	fail "an open file shows what came later"

# copied by those who ask for its size first, too: by sendfile, and archived
expect_equal "$(stat -c %s "$M/trace")" "$(wc -c <"$M/trace")" "its size"
python3 -c 'import shutil, sys; shutil.copyfile(*sys.argv[1:])' \
	"$M/trace" "$W/copy"
check "$W/copy" read
rm "$W/copy"
tar -cf "$W/tar" -C "$M" trace
tar -xOf "$W/tar" >"$W/copy"
check "$W/copy" read
if command -v rsync >/dev/null; then
	rsync "$M/trace" "$W/rsynced"
	check "$W/rsynced" read
fi
