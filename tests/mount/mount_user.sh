#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A normal user mounts for himself: owner, modes, data, unmount by fusermount3
. "$(dirname "$0")/lib.sh"
need_root "to make a fuse node that anyone may open, in a mount namespace"
need_sim "a device that anyone may open"
need_cmd unshare setpriv fusermount3
chmod 755 "$W"
mknod -m 666 "$W/fuse" c 10 229
mkdir -m 777 "$W/mnt"
cat >"$W/as_user" <<'U'
set -eEuo pipefail
trap 'echo "as user, line $LINENO: $BASH_COMMAND" >&2' ERR
m=$1
mkdir "$m"
"$K80FS" -o backend=sim,sim_vram=64M "$m"
trap 'fusermount3 -u "$m"' EXIT
[ "$(stat -c %u:%g:%a "$m/die0/vram")" = "$(id -u):$(id -g):660" ]
[ "$(stat -c %u:%g:%a "$m")" = "$(id -u):$(id -g):755" ]
head -c 3M /dev/urandom >"$2"
cat "$2" >"$m/die0/vram"
echo acquire >"$m/die1/ctl"
cmp -n 3145728 "$2" "$m/die0/vram"
grep -qx "state active" "$m/die0/status"
"$3" "$m/new" path mkdir:EPERM
"$3" "$m/die0/vram" path unlink:EPERM
echo inside >"$4"
until [ -e "$4.seen" ]; do sleep 0.05; done
U
own_etc
# nobody else, not even root, sees into it
# shellcheck disable=SC2016 # for the inner shell
unshare -m --propagation private bash -eEuo pipefail -c '
	"$4" "$1"
	mount --bind "$1/fuse" /dev/fuse
	mount --bind "$1/etc" /etc
	setpriv --reuid=65534 --regid=65534 --clear-groups --reset-env \
		env K80FS="$3" TMPDIR="$1/mnt" \
		K80_TEST_WORK="$K80_TEST_WORK" \
		bash "$1/as_user" "$1/mnt/m" "$1/mnt/data" "$2" "$1/mnt/in" &
	user=$!
	while [ ! -e "$1/mnt/in" ] && kill -0 $user 2>"$1/kill.err"; do
		sleep 0.05
	done
	if ls "$1/mnt/m" 2>"$1/ls.err"; then
		echo "root sees a tree mounted without allow_other" >&2
		exit 1
	fi
	grep -q "Permission denied" "$1/ls.err"
	: >"$1/mnt/in.seen"
	wait $user
	if grep -q " $1/mnt/m fuse" /proc/self/mountinfo; then
		echo "still mounted" >&2
		exit 1
	fi
' bash "$W" "$(for_anyone "$BIN/tool")" "$(for_anyone "$K80FS")" \
	"$repo/tests/drop-mounts.sh"
