#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# swapon(8) of the memory is refused, with and without the page cache
. "$(dirname "$0")/lib.sh"
need_root "swapon"
need_cmd mkswap swapon
for opt in "" cache; do
	VRAM=64M mount_sim ${opt:+"$opt"}
	mkswap "$(die 0)/vram" >"$W/log" 2>&1
	expect_error "swapon failed: Invalid argument" swapon "$(die 0)/vram"
done
