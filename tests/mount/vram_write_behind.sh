#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A client that writes to one die after the other does not swap once a block:
# the daemon writes behind. Every reader sees it, fsync and close wait for it,
# and what fails later is an error of the next call.
# timeout: 300
. "$(dirname "$0")/lib.sh"
need_slot "writes to dies that are out"
need_cmd python3
mount_sim sim_swap_us=1000
mib=$(bulk 16)

# one stream to all dies, in tee's small blocks
random_file "$W/in" $((mib << 20))
before=$(root_status swaps)
start=$(now_ms)
for ((d = 0; d < N; d++)); do
	dies[d]=$(die $d)/vram
done
tee "${dies[@]}" <"$W/in" >"$W/out"
for ((d = 0; d < N; d++)); do
	cmp -n $((mib << 20)) "$W/in" "${dies[d]}"
done
swaps=$(($(root_status swaps) - before))
took=$(($(now_ms) - start))
blocks=$((N * mib * 128))
echo "tee: $swaps swaps for $blocks blocks in $took ms"
# the dies take turns, the more often the longer it takes
[ "$swaps" -lt $((blocks / 20 + took / 10)) ] ||
	fail "$swaps swaps for $blocks blocks in $took ms"

# alternate FILE FILE [SYNC]: 40 blocks of 64 KiB to each, in turn; then wait
# for a line on stdin, fsync both and say what came of it
alternate() {
	python3 - "$@" <<'END'
import errno, os, sys
files = [os.open(f, os.O_RDWR | (os.O_SYNC if sys.argv[3:] else 0))
         for f in sys.argv[1:3]]
for i in range(40):
    for f in files:
        os.pwrite(f, bytes([i + 1]) * 65536, i * 65536)
print("written", flush=True)
os.read(os.open(os.environ["GO"], os.O_RDONLY), 1)
for f in files:
    try:
        os.fsync(f)
        print("fine", flush=True)
    except OSError as e:
        print(errno.errorcode[e.errno], flush=True)
END
}

# await_said FILE WORD
await_said() {
	until grep -q "$2" "$1"; do sleep 0.02; done
}

mkfifo "$W/go"
export GO=$W/go

# another process sees it, though nobody has synced
: >"$W/said"
alternate "$(die 0)/vram" "$(die 1)/vram" >"$W/said" &
await_said "$W/said" written
for d in 0 1; do
	t "$(die $d)/vram" r same,0,64K,1 "same,$((39 * 65536)),64K,40"
done
echo >"$W/go"
wait $!
expect_equal "$(tr '\n' ' ' <"$W/said")" "written fine fine "

# O_SYNC writes reach their die one by one
before=$(root_status swaps)
: >"$W/said"
alternate "$(die 0)/vram" "$(die 1)/vram" sync >"$W/said" &
await_said "$W/said" written
[ $(($(root_status swaps) - before)) -ge 79 ] ||
	fail "O_SYNC writes were gathered: $(($(root_status swaps) - before)) swaps"
echo >"$W/go"
wait $!

# what comes too late for its write is told by fsync, and not to others
[ "$K80FS_BACKEND" = sim ] || exit 0
cat >"$W/late.py" <<'END'
import errno, os, socket, sys
def tell(f):
    try:
        os.fsync(f)
        return "fine"
    except OSError as e:
        return errno.errorcode[e.errno]
a, b = [os.open(f, os.O_RDWR) for f in sys.argv[1:3]]
os.pread(a, 4096, 0)
os.pwrite(b, b"b" * 65536, 0)
# not by a child: its copies of the files, when closed, wait for the dies
with socket.socket(socket.AF_UNIX) as s:
    s.connect(sys.argv[3])
    s.sendall(sys.argv[4].encode() + b"\n")
    assert s.recv(100).startswith(b"ok")
print(tell(b), tell(b), tell(a))
END
for how in "fail 1 1 EIO" "dead 1"; do
	said=$(python3 "$W/late.py" "$(die 0)/vram" "$(die 1)/vram" "$SOCK" \
		"$how")
	# a sync that waited for the acquire that failed says that first
	[[ $said == "EIO "*" fine" ]] || fail "$how: fsync said $said"
	sim revive 1
	ctl 1 acquire
done

# another process at its acquire is waited for
expect_equal "$(python3 "$W/late.py" "$(die 0)/vram" "$(die 1)/vram" "$SOCK" \
	"fail 1 1 EBUSY")" "fine fine fine" "slot in use elsewhere"
t "$(die 1)/vram" r same,0,64K,98
# what is known to fail is not answered before
expect_equal "$(python3 "$W/late.py" "$(die 0)/vram" "$(die 1)/vram" "$SOCK" \
	"driver 1 nvidia")" "EBUSY EBUSY fine" "driver bound after the write"
sim driver 1 none
t "$(die 1)/vram" r same,0,64K,98
ctl 0 acquire
sim driver 0 nvidia
t "$(die 1)/vram" rw pwrite,0,64K,1:EBUSY fsync
sim driver 0 none

# whoever syncs waits for it: another open file, and the second of two
cat >"$W/slow.py" <<'END'
import os, sys, threading, time
a, b, c = [os.open(f, os.O_RDWR) for f in sys.argv[1:3] + sys.argv[2:3]]
swap = float(sys.argv[3])
def slow(what, *args):
    start = time.monotonic()
    what(*args)
    return time.monotonic() - start > swap / 2
def behind(n):
    os.pread(a, 4096, 0)
    if slow(os.pwrite, b, b"s" * 65536, n * 65536):
        sys.exit("a write waited for its die")
behind(0)
assert slow(os.fsync, c), "another file's fsync did not wait"
behind(1)
dup = os.dup(b)
t = threading.Thread(target=os.close, args=(dup,))
t.start()
time.sleep(0.02)
assert slow(os.fsync, b), "an fsync beside a close did not wait"
t.join()
END
# while a swap takes so many seconds
syncs_wait() {
	sim swap_us $(($1 * 1000000))
	python3 "$W/slow.py" "$(die 0)/vram" "$(die 1)/vram" "$1"
}
in_contrast syncs_wait
sim swap_us 1000

# the daemon ends in good order: what it answered gets to the dies, and who has
# a file open is served until he closes it
mkdir "$W/dies"
mount_sim "sim_dir=$W/dies" sim_swap_us=1000
: >"$W/said"
alternate "$(die 0)/vram" "$(die 1)/vram" >"$W/said" &
await_said "$W/said" written
kill "$(daemon_pid)"
until ! is_mounted "$M"; do sleep 0.02; done
daemon_pid >"$W/log"
echo >"$W/go"
wait $!
expect_equal "$(tr '\n' ' ' <"$W/said")" "written fine fine "
while [ -n "$(daemon_pids "$M")" ]; do sleep 0.02; done
for d in 0 1; do
	t "$W/dies/die$d" r same,0,64K,1 "same,$((39 * 65536)),64K,40"
done
