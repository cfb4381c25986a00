#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Extended attributes: ENOTSUP, for files and directories
. "$(dirname "$0")/lib.sh"
mount_sim

for f in . die0 die0/vram die0/ctl status; do
	t "$M/$f" path getxattr,user.a:EOPNOTSUPP setxattr,user.a,b:EOPNOTSUPP \
		removexattr,user.a:EOPNOTSUPP
	if [ "$(id -u)" = 0 ]; then
		t "$M/$f" path setxattr,security.a,b:EOPNOTSUPP \
			getxattr,security.a:EOPNOTSUPP
	fi
done
t "$(die 0)/vram" path listxattr:EOPNOTSUPP
# and cp -a, which tries to copy them, is content
cp -a "$M/die0/status" "$W/status"
