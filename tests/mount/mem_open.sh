#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A file that is removed while somebody has it open is there until he closes it
. "$(dirname "$0")/lib.sh"
mount_mem
d=$(mem 0)
random_file "$W/in" 5000000
cp "$W/in" "$d/a"
exec 5<>"$d/a"
rm "$d/a"
[ ! -e "$d/a" ] || fail "the name is still there"
expect_equal "$(number 0 mem_files)" 0 "files"
expect_equal "$(number 0 mem_bytes)" $((6 << 20)) "bytes while it is open"
cmp "$W/in" <(cat <&5)
echo more >&5
cmp <(tail -c 5 "/proc/$$/fd/5") <(echo more)
# the name is free for another
echo second >"$d/a"
cmp -n 5000000 "$W/in" "/proc/$$/fd/5"
rm "$d/a"
exec 5<&-
freed 0

# a folder is walked through while it changes
for i in $(seq 300); do : >"$d/f$i"; done
python3 - "$d" <<'END'
import os, sys
d = sys.argv[1]
seen = []
with os.scandir(d) as walk:
    for i, e in enumerate(walk):
        seen.append(e.name)
        if i == 10:
            for k in range(2, 300, 2):
                os.unlink(f"{d}/f{k}")
            os.rename(f"{d}/f299", f"{d}/g299")
            open(f"{d}/new", "w").close()
odd = [f"f{k}" for k in range(1, 299, 2)]
assert len(set(seen)) == len(seen), "seen twice"
assert set(odd) <= set(seen), "not seen"
END
