#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A stranger who opens status again and again is told to stop at some time, and
# root still looks
. "$(dirname "$0")/lib.sh"
need_root "to be a stranger"
need_sim "the daemon's memory"
need_cmd python3 setpriv
mount_sim
chmod 755 "$W"
cat >"$W/open.py" <<'END'
import errno, os, resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
files = []
try:
    while len(files) < 4000:
        files.append(os.open(sys.argv[1], os.O_RDONLY))
except OSError as e:
    assert e.errno == errno.ENFILE, e
print(len(files), flush=True)
sys.stdin.readline()
END
mkfifo "$W/go"
python3 "$W/open.py" "$(die 0)/status" <"$W/go" >"$W/n" &
client=$!
exec 4>"$W/go"
until [ -s "$W/n" ]; do sleep 0.1; done
echo "opened: $(cat "$W/n")"
[ "$(cat "$W/n")" -lt 2000 ] || fail "nobody stopped it"
[ "$(cat "$W/n")" -gt 200 ] || fail "stopped too early"
expect_status 0 alive 1
echo >&4
wait "$client"
setpriv --reuid=65534 --regid=65534 --clear-groups cat "$(die 0)/status" >"$W/log"
