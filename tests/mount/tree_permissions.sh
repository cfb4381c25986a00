#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A root mount is open to others as far as the modes say (allow_other)
. "$(dirname "$0")/lib.sh"
need_root "to become another user"
mount_sim
chmod 755 "$W"

as_nobody() {
	setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
}
expect_equal "$(as_nobody cat "$M/die0/status" | head -1)" "die 0"
expect_equal "$(as_nobody find "$M" | wc -l)" "$(find "$M" | wc -l)"
expect_error "Permission denied" as_nobody head -c 1 "$M/die0/vram"
expect_error "Permission denied" as_nobody dd if=/dev/zero "of=$M/die0/vram" \
	count=1
expect_error "Permission denied" as_nobody tee "$M/die0/ctl" <<<acquire
expect_error "Permission denied" as_nobody cat "$M/ctl"
chmod o+rw "$M/die0/vram"
expect_equal "$(as_nobody head -c 5 "$M/die0/vram" | wc -c)" 5
