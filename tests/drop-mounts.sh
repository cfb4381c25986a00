#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# drop-mounts.sh KEEP: in a mount namespace of one's own, take away the copies
# of what other tests have mounted, all but below the folder KEEP. As long as a
# namespace has such a copy, its daemon does not end and its device is busy.
awk -v keep="$1/" '$5 ~ /\/k80(mount|-helpers|test|places|slurm|container)\.[A-Za-z0-9]+\// &&
	index($5 "/", keep) != 1 { print $5 }' /proc/self/mountinfo | sort -r |
	while read -r dir; do
		umount -l "$dir" 2>/dev/null
	done
exit 0
