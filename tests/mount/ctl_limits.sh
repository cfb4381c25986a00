#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# More than 4096 bytes in one write: E2BIG; 4096 are parsed
. "$(dirname "$0")/lib.sh"
mount_sim
c=$(die 0)/ctl

blank() {
	printf '%*s' "$1" '' | tr ' ' '\n' >"$W/text"
	dd if="$W/text" of="$2" bs=8192 status=none
}
blank 4096 "$c"
blank 4096 "$M/ctl"
expect_error "Argument list too long" blank 4097 "$c"
expect_error "Argument list too long" blank 8192 "$M/ctl"
t "$c" w write,4096,10 write,4097,10:E2BIG write,1M,10:E2BIG write,1,10
# a long write is refused as a whole: the command at its start is not run
{
	echo acquire
	printf '%*s' 4089 '' | tr ' ' '\n'
} >"$W/text"
expect_error "Argument list too long" dd if="$W/text" of="$c" bs=8192
expect_status root active none
