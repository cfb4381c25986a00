#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A connection that ends while requests are on their way, by its last user's
# leaving or by an abort right after SIGTERM, is no failure: exit status 0
# timeout: 300
. "$(dirname "$0")/lib.sh"
need_sim "many daemons with dies of their own"
need_root "to abort a connection"
need_cmd python3 unshare

# what a thread is told that takes a request at that moment
M=$W/mnt
mkdir "$M"
mounts+=("$M")
LD_PRELOAD=$BIN/cut_read.so "$K80FS" -f -o backend=sim,sim_vram=16M "$M" \
	2>"$W/daemon" &
daemon=$!
await test -e "$M/status"
umount "$M"
wait $daemon || fail "exit status $?: $(cat "$W/daemon")"
! grep -v ' transport /dev/fuse$' "$W/daemon" || fail "it complains of its end"

# in a mount namespace of its own, where the list of connections is mounted
cat >"$W/inside" <<'END2'
"$1" "$2" || exit
mount -t fusectl none /sys/fs/fuse/connections || exit
shift 2
exec python3 "$@"
END2
cat >"$W/cut.py" <<'END2'
import os, random, subprocess, sys, threading, time
k80fs, mnt, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
seed = random.randrange(1 << 30)
random.seed(seed)
def work(die):
    name = "%s/die%d/vram" % (mnt, die)
    try:
        while True:
            with open(name, "r+b", buffering=0) as f:
                for i in range(random.randrange(8)):
                    f.seek(random.randrange(1 << 20))
                    f.write(b"x" * random.randrange(1, 65536))
                    f.read(4096)
    except OSError:
        pass
def clear_dead_mount(is_cut):
    # of a connection that was cut before the daemon heard of its end
    if " %s " % mnt in open("/proc/self/mountinfo").read():
        assert is_cut, "still mounted"
        subprocess.run(["umount", "-l", mnt], check=True)
def wait_until_mounted(daemon):
    while not os.path.exists(mnt + "/status"):
        assert daemon.poll() is None, daemon.communicate()[1].decode()
        time.sleep(0.005)
for i in range(rounds):
    daemon = subprocess.Popen([k80fs, "-f", "-o", "backend=sim,sim_dies=3,"
                               "sim_vram=16M", mnt], stderr=subprocess.PIPE)
    wait_until_mounted(daemon)
    minor = os.minor(os.stat(mnt + "/status").st_dev)
    fd = os.open("/sys/fs/fuse/connections/%d/abort" % minor, os.O_WRONLY)
    threads = [threading.Thread(target=work, args=(n % 3,)) for n in range(6)]
    for t in threads: t.start()
    time.sleep(random.random() * 0.05)
    daemon.terminate()
    if i % 2:
        time.sleep(random.random() * 0.01)
        os.write(fd, b"1")
    os.close(fd)
    for t in threads: t.join()
    said = daemon.communicate(timeout=100)[1].decode()
    assert daemon.returncode == 0, (seed, i, daemon.returncode, said)
    assert "lost" not in said and "bort" not in said, (seed, i, said)
    clear_dead_mount(i % 2)
END2
unshare -m sh "$W/inside" "$repo/tests/drop-mounts.sh" "$W" "$W/cut.py" \
	"$K80FS" "$M" "$(often 500 30)"
