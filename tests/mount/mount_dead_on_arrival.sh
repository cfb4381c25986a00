#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A mount that does not work, as its owner may not look into it, always ends
# with an exit status and a line
. "$(dirname "$0")/lib.sh"
need_root "to make a fuse node that anyone may open, in a mount namespace"
need_sim "a device that anyone may open"
need_cmd unshare setpriv fusermount3
chmod 755 "$W"
mknod -m 666 "$W/fuse" c 10 229
mkdir -m 777 "$W/mnt"
own_etc
cat >"$W/as_user" <<'U'
mkdir "$1"
for i in {1..40}; do
	rc=0
	timeout -k 1 200 "$K80FS" -o backend=sim,sim_vram=1M,umask=0777 "$1" \
		2>"$2" || rc=$?
	if [ $rc != 1 ] || ! grep -q "does not work" "$2"; then
		echo "round $i: exit status $rc: $(cat "$2")" >&2
		exit 1
	fi
done
U
# shellcheck disable=SC2016 # for the inner shell
unshare -m --propagation private bash -eEuo pipefail -c '
	"$3" "$1"
	mount --bind "$1/fuse" /dev/fuse
	mount --bind "$1/etc" /etc
	setpriv --reuid=65534 --regid=65534 --clear-groups --reset-env \
		env K80FS="$2" TMPDIR="$1/mnt" \
		bash "$1/as_user" "$1/mnt/m" "$1/mnt/err"
' bash "$W" "$(for_anyone "$K80FS")" "$repo/tests/drop-mounts.sh"
