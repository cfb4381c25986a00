#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# PTX that does not compile: the close fails, the log has the compiler's words,
# the module before it stays
. "$(dirname "$0")/lib.sh"
mount_compute
c=$(die 0)/compute
printf '.version 4.1\n.target sm_37\n.address_size 64\n' >"$W/empty.ptx"
# offline
expect_error "No such device or address" cp "$W/empty.ptx" "$c/module"
compute 0 online
cp "$W/empty.ptx" "$c/module"
for f in "garbage" ".version 4.1 {" "}" ".version 4.1 .target sm_37 .entry f( {"; do
	echo "$f" >"$W/bad.ptx"
	expect_error "Invalid argument" cp "$W/bad.ptx" "$c/module"
	expect_error "Invalid argument" bash -c "cat '$W/bad.ptx' >'$c/module'"
	expect_error "Invalid argument" dd if="$W/bad.ptx" of="$c/module" bs=1 \
		status=none
done
logged 0 "ptxas"
logged 0 "CUDA_ERROR_INVALID_PTX"
expect_compute 0 module user
expect_compute 0 state idle
cmp "$W/empty.ptx" "$c/module"
printf 'a\0b' >"$W/bad.ptx"
expect_error "Invalid argument" cp "$W/bad.ptx" "$c/module"
# from its start, in order, and not for ever
t "$c/module" w pwrite,1,1,65:EINVAL "puts,.version 4.1\n" \
	"pputs,13,.target sm_37\n" "pputs,27,.address_size 64\n" pwrite,100,1,65:EINVAL fsync
head -c 5M /dev/zero >"$W/bad.ptx"
expect_error "File too large" dd if="$W/bad.ptx" of="$c/module" bs=1M
# nothing written, nothing loaded
t "$c/module" w close
: >"$c/module"
compute 0 work 1 2
compute 0 verify
expect_compute 0 verified PASS
