#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# uid= and gid= set the owner; umask= clears bits and never adds any
. "$(dirname "$0")/lib.sh"
need_root "to be seen through a mount owned by somebody else"
mount_sim uid=65534,gid=123,umask=027

for f in . die0 die0/vram die0/status die0/ctl ctl status metrics trace by-bdf; do
	expect_equal "$(stat -c %u:%g "$M/$f")" 65534:123 "$f"
done
expect_equal "$(stat -c %a "$M/die0")" 750
expect_equal "$(stat -c %a "$M/status")" 440
expect_equal "$(stat -c %a "$M/die0/vram")" 640
expect_equal "$(stat -c %a "$M/die0/ctl")" 640
unmount

mount_sim umask=0
expect_equal "$(stat -c %a "$M/die0")" 755 "umask=0: directory"
expect_equal "$(stat -c %a "$M/die0/status")" 444 "umask=0: status"
expect_equal "$(stat -c %a "$M/die0/vram")" 660 "umask=0: vram"
