#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# In a user namespace the tree is for who mounts it, whatever groups the machine
# has
. "$(dirname "$0")/lib.sh"
need_root "to make a group and a fuse node in a mount namespace"
need_sim "a device that anyone may open"
need_cmd unshare setpriv
own_etc
echo 'k80:x:12399:' >>"$W/etc/group"
mknod -m 666 "$W/fuse" c 10 229
mkdir "$W/mnt" "$W/over"
chown 65534:65534 "$W/mnt" "$W/over"
chmod 755 "$W"
cat >"$W/as_root_there" <<'U'
set -eEuo pipefail
trap 'echo "in the namespace, line $LINENO: $BASH_COMMAND" >&2' ERR
"$K80FS" -o backend=sim,sim_vram=64M "$1"
trap 'umount "$1"' EXIT
[ "$(stat -c %u:%g:%a "$1/die0/vram")" = 0:0:660 ]
printf hello >"$1/die0/vram"
[ "$(head -c 5 "$1/die0/vram")" = hello ]
for owner in uid=1 gid=12399 gid=k80; do
	if "$K80FS" -o "backend=sim,$owner" "$2" 2>"$3"; then
		echo "took $owner" >&2
		exit 1
	fi
	grep -q "bad value in -o $owner: .*namespace" "$3"
done
U
mkdir "$W/other"
# shellcheck disable=SC2016 # for the inner shell
unshare -m --propagation private bash -eEuo pipefail -c '
	"$3" "$1"
	mount --bind "$1/fuse" /dev/fuse
	mount --bind "$1/etc" /etc
	exec setpriv --reuid=65534 --regid=65534 --clear-groups --reset-env \
		env K80FS="$2" TMPDIR="$1/mnt" K80_TEST_WORK="$K80_TEST_WORK" \
		unshare -rmpf --mount-proc --kill-child \
		bash "$1/as_root_there" "$1/over" "$1/other" "$1/mnt/err"
' bash "$W" "$(for_anyone "$K80FS")" "$repo/tests/drop-mounts.sh" >"$W/out" 2>&1 || {
	grep -q "unshare failed: Operation not permitted" "$W/out" &&
		skip "no user namespaces for users"
	fail "$(cat "$W/out")"
}
