#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# autofs(8) and x-systemd.automount: whoever waits for the mount gets it. autofs
# lets one process group past, and holds whoever else walks there until told
# that it is mounted
. "$(dirname "$0")/lib.sh"
need_root "to mount autofs"
need_sim "one mount after the other"
need_cmd unshare findmnt
grep -qw autofs /proc/filesystems || modprobe autofs4 2>"$W/err" ||
	skip "no autofs in this kernel"

cat >"$W/automount.py" <<'P'
import ctypes, fcntl, os, select, signal, struct, subprocess, sys

IOC_READY, IOC_CATATONIC = 0x9360, 0x9362
folder, asked_for, command = sys.argv[1], sys.argv[2], sys.argv[3:]
limit = 60 * int(os.environ.get("K80_TIME_SCALE", "1"))

out, into = os.pipe()
os.setpgid(0, 0)
options = "fd=%d,pgrp=%d,minproto=5,maxproto=5,direct" % (into, os.getpgrp())
libc = ctypes.CDLL(None, use_errno=True)
if libc.mount(b"automount", folder.encode(), b"autofs", 0, options.encode()):
    sys.exit("cannot mount autofs: " + os.strerror(ctypes.get_errno()))
ours = os.open(folder, os.O_RDONLY)
os.close(into)

reader = subprocess.Popen(["cat", asked_for], stdout=subprocess.PIPE,
                          start_new_session=True)


def give_up(why):
    reader.kill()
    # lets everybody who waits for autofs fail
    fcntl.ioctl(ours, IOC_CATATONIC)
    sys.exit(why)


if not select.select([out], [], [], limit)[0]:
    give_up("autofs was not asked for a mount")
packet = os.read(out, 512)
token, = struct.unpack_from("=I", packet, 8)

mounting = subprocess.Popen(command)
try:
    code = mounting.wait(limit)
except subprocess.TimeoutExpired:
    os.kill(mounting.pid, signal.SIGKILL)
    give_up("the mount waits for itself")
if code:
    give_up("exit code %d" % code)
fcntl.ioctl(ours, IOC_READY, token)
said = reader.communicate(timeout=limit)[0]
if not said.startswith(b"version "):
    sys.exit("the tree is not there: %r" % said)
# the daemon keeps this mount namespace: nothing goes away by itself
subprocess.run(["umount", folder], check=True)
P

mkdir "$W/bin"
ln -s "$K80FS" "$W/bin/k80fs"
# automounted COMMAND...: which mounts on $W/auto, in a mount namespace of its own
automounted() {
	# shellcheck disable=SC2016 # for the inner shell
	unshare -m --propagation private bash -eEuo pipefail -c '
		"$1" "$2"
		mkdir -p "$2/auto"
		shift 2
		PATH=$W/bin:$PATH exec python3 "$W/automount.py" "$W/auto" \
			"$W/auto/status" "$@"
	' bash "$repo/tests/drop-mounts.sh" "$W" "$@"
}
export W
automounted "$K80FS" -o backend=sim,sim_vram=64M,sim_dies=1 "$W/auto"
automounted "$repo/mount-helpers/mount.k80fs" sim "$W/auto" \
	-o sim_vram=64M,sim_dies=1,x-systemd.automount
gone() {
	[ -z "$(daemon_pids "$W/auto")" ]
}
await gone || fail "the daemon of a mount that is gone is still there"
