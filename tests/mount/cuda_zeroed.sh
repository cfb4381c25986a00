#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Nobody reads what another process left in the memory of a device
. "$(dirname "$0")/lib.sh"
VRAM=64M mount_cuda
for ((d = 0; d < N; d++)); do
	cmp -n "$CAP" "$(die $d)/vram" /dev/zero
done
random_file "$W/in" "$CAP"
cat "$W/in" >"$(die 0)/vram"
cmp "$W/in" "$(die 0)/vram"
unmount
VRAM=64M mount_cuda
cmp -n "$CAP" "$(die 0)/vram" /dev/zero
