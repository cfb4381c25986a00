#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Modes and owner by default: 0755, 0444, 0660; root and group k80 if it exists
. "$(dirname "$0")/lib.sh"
mount_sim

group=$(id -g)
if [ "$(id -u)" = 0 ] && getent group k80 >"$W/group"; then
	group=$(cut -d: -f3 "$W/group")
fi
owner="$(id -u):$group"
for f in . by-bdf die0; do
	expect_equal "$(stat -c '%a %u:%g' "$M/$f")" "755 $owner" "$f"
done
for f in status metrics trace die0/status; do
	expect_equal "$(stat -c '%a %u:%g' "$M/$f")" "444 $owner" "$f"
done
for f in ctl die0/ctl die0/vram; do
	expect_equal "$(stat -c '%a %u:%g' "$M/$f")" "660 $owner" "$f"
done
