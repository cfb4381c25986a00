#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A user's allow_other without user_allow_other in /etc/fuse.conf: refused, and
# fusermount3's message is passed on; allow_root lets root in and nobody else
. "$(dirname "$0")/lib.sh"
need_root "to make a fuse node that anyone may open, in a mount namespace"
need_sim "a device that anyone may open"
need_cmd unshare setpriv fusermount3
chmod 755 "$W"
mknod -m 666 "$W/fuse" c 10 229
mkdir -m 777 "$W/mnt"
own_etc
# shellcheck disable=SC2016 # for the inner shell
unshare -m --propagation private bash -euo pipefail -c '
	"$3" "$1"
	mount --bind "$1/fuse" /dev/fuse
	mount --bind "$1/etc" /etc
	user() {
		setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
	}
	export TMPDIR=$1/mnt
	if user "$2" -o backend=sim,sim_vram=64M,allow_other "$1/mnt" \
		2>"$1/err"; then
		echo "mounted with allow_other" >&2
		exit 1
	fi
	grep -q user_allow_other "$1/err" || { cat "$1/err" >&2; exit 1; }
	echo user_allow_other >"$1/etc/fuse.conf"
	user "$2" -o backend=sim,sim_vram=64M,allow_other "$1/mnt"
	# root sees into it now
	head -c 1 "$1/mnt/die0/vram" >"$1/byte"
	user fusermount3 -u "$1/mnt"
	# and root alone, with allow_root
	user "$2" -o backend=sim,sim_vram=64M,allow_root "$1/mnt"
	head -c 1 "$1/mnt/die0/vram" >"$1/byte"
	user head -n 1 "$1/mnt/status" >"$1/line"
	if setpriv --reuid=65533 --regid=65533 --clear-groups \
		head -n 1 "$1/mnt/status" >"$1/line" 2>&1; then
		echo "allow_root lets others in" >&2
		exit 1
	fi
	user fusermount3 -u "$1/mnt"
' bash "$W" "$(for_anyone "$K80FS")" "$repo/tests/drop-mounts.sh"
