#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# chmod and chown work and last as long as the mount; utimens succeeds
. "$(dirname "$0")/lib.sh"
mount_sim

chmod 600 "$(die 0)/vram"
expect_equal "$(stat -c %a "$(die 0)/vram")" 600
expect_equal "$(stat -c %a "$(die 1)/vram")" 660 "the other die's"
chmod 700 "$(die 0)"
chmod 640 "$(die 0)/ctl" "$M/ctl"
expect_equal "$(stat -c %a "$(die 0)" "$(die 0)/ctl" "$M/ctl" | xargs)" \
	"700 640 640"
if [ "$(id -u)" = 0 ]; then
	chown 65534:12 "$(die 0)/vram"
	expect_equal "$(stat -c %u:%g "$(die 0)/vram")" 65534:12
	chown 7 "$(die 0)/vram"
	expect_equal "$(stat -c %u:%g "$(die 0)/vram")" 7:12
	drop_caches 2
fi
head -c 1 "$(die 1)/vram" >"$W/byte"
expect_equal "$(stat -c %a "$(die 0)/vram")" 600 "later"
touch "$(die 0)/vram"
touch -d 2001-01-01 "$(die 0)/vram"
busybox touch "$(die 0)/vram"
expect_equal "$(stat -c %s "$(die 0)/vram")" "$CAP" "size after touch"
unmount
mount_sim
expect_equal "$(stat -c %a "$(die 0)/vram")" 660 "the next mount"
