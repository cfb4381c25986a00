#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# In the foreground the daemon tells its service manager when the tree is there,
# what its dies are like, that it ends and what it still waits for; never of a
# mount that failed, nor from the background, and no child of it can tell
# anything
. "$(dirname "$0")/lib.sh"
need_cmd python3
need_sim "dies that die"

# told/N holds the Nth message, when it was read; one with READY=1 has, first,
# what a look at the tree gave then
cat >"$W/manager.py" <<'END'
import os, socket, sys
name, told, mount = sys.argv[1:]
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(name.replace("@", "\0", 1))
print("listens", flush=True)
n = 0
while True:
    text = s.recv(4096).decode()
    if "READY=1" in text.split("\n"):
        there = os.path.exists(mount + "/die0/vram")
        text = ("VISIBLE\n" if there else "NOT VISIBLE\n") + text
    with open("%s/.new" % told, "w") as f:
        f.write(text + "\n")
    os.rename("%s/.new" % told, "%s/%d" % (told, n))
    n += 1
END

# manager NAME: listens there; what it is told about $M goes to $TOLD/0, 1, ...
manager() {
	TOLD=$W/told${1##*/}
	mkdir "$TOLD"
	python3 "$W/manager.py" "$1" "$TOLD" "$M" >"$TOLD.log" &
	manager=$!
	await grep -q listens "$TOLD.log"
	export NOTIFY_SOCKET=$1
}

# start OPTION...: a daemon in the foreground at $M, $daemon
start() {
	mkdir -p "$M"
	mounts+=("$M")
	"$K80FS" -f -o "backend=sim,sim_vram=16M$(printf ',%s' "$@")" "$M" \
		2>"$M.log" &
	daemon=$!
}

# is_told TEXT: it is a line of some message
is_told() {
	cat "$TOLD"/* 2>/dev/null >"$W/all" && grep -qFx -- "$1" "$W/all"
}

told() {
	await is_told "$1" || fail "not told '$1' but: $(cat "$W/all" "$M.log")"
}

# by path: the whole life
M=$W/a
manager "$W/socket"
start "sim_ctl=$W/orders"
told READY=1
expect_equal "$(head -n 1 "$TOLD/0")" VISIBLE "the tree when it was told"
told 'STATUS=6 dies of sim'
expect_equal "$(ls "$TOLD")" 0 "messages for a start"
ctl 0 pin
told "STATUS=6 dies of sim, pin of die 0 by $$ $(cat "/proc/$$/comm")"
ctl 0 unpin
SOCK=$W/orders sim dead 3
! head -c 1 "$(die 3)/vram" >"$W/byte" 2>&1 || fail "a dead die was read"
told 'STATUS=6 dies of sim, 1 dead'
exec 3<>"$M/die1/vram"
! is_told STOPPING=1 || fail "ends early"
kill $daemon
told STOPPING=1
told 'STATUS=let go, and served until no file is open: 1 are'
echo x >&3
exec 3>&-
wait $daemon
told 'STATUS=ended: all that was written has reached its die'
expect_equal "$(grep -cFx READY=1 "$W/all")" 1 "times that it was ready"
kill $manager

# by an abstract name; unmounted by somebody
M=$W/b
manager "@k80-notify-$$"
start
told READY=1
umount "$M"
wait $daemon
told STOPPING=1
kill $manager

# of no use: nothing to tell, and none of what is no name
M=$W/c
manager "$W/quiet"
mkdir -p "$M"
"$K80FS" -f -o backend=bar_swap,device=/nonexistent "$M" 2>"$W/log" &&
	fail "mounted"
if [ "$(id -u)" = 0 ]; then
	# shellcheck disable=SC2016 # expanded by the inner shell
	K80FS=$K80FS unshare -m bash -c 'mount --bind /dev/null /dev/fuse &&
		"$K80FS" -f -o backend=sim,sim_vram=16M "$0"' "$M" 2>"$W/log" &&
		fail "mounted without /dev/fuse"
fi
mount_at "$M" backend=sim,sim_vram=16M
unmount "$M"
expect_equal "$(ls "$TOLD")" "" "messages of mounts that failed, and background"
kill $manager
M=$W/d
export NOTIFY_SOCKET=none
start
await test -e "$M/status"
umount "$M"
wait $daemon
grep -q NOTIFY_SOCKET "$M.log" || fail "nothing said of a name that is none"

# a worker has the environment, but for that
use_standin
M=$W/e
manager "$W/workers"
start compute
told READY=1
compute 0 online
worker=$(pgrep -P $daemon -f '^k80-worker')
tr '\0' '\n' <"/proc/${worker%%$'\n'*}/environ" >"$W/environment"
grep -q ^STANDIN_\\\|^LD_LIBRARY_PATH= "$W/environment" ||
	fail "no environment: $(cat "$W/environment")"
! grep NOTIFY_SOCKET "$W/environment" || fail "a worker could speak"
umount "$M"
wait $daemon
kill $manager
