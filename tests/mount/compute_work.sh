#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# online, work, sync, verify and offline; what they are refused for; several lines in one
# write; status and log tell
. "$(dirname "$0")/lib.sh"
mount_compute
expect_compute 2 state offline
for c in sync verify "work 1 2" "launch k80_fill 1 1 out u32:1 f32:1"; do
	compute_errno 2 ENXIO "$c"
done
for c in onlin "online 1" "offline 1" "work 1" "work 1 15728641" "launch x" quit; do
	compute_errno 2 EINVAL "$c"
done
compute 2 ""
compute 2 online
compute 2 online
expect_compute 2 state idle
expect_compute 2 module builtin
compute 2 sync
compute_errno 2 ENODATA verify
compute 2 work 7 1000
compute 2 sync
expect_compute 2 state idle
compute 2 verify
compute 2 verify
expect_compute 2 verified PASS
expect_compute 2 kernel k80_add
expect_compute 2 launches 1
logged 2 "verify: PASS, 1048576 of 1048576 right, seed 7, iters 1000"
grep -qvE '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}\.[0-9]{6}Z .' \
	"$(die 2)/compute/log" && fail "a line of the log has no time"

# the most that stays exact, and a result that is spoilt
printf 'work 4294967295 15728640\nverify\n' | cat >"$(die 2)/compute/ctl"
expect_compute 2 verified PASS
t "$(die 2)/compute/out" rw pwrite,400000,4,9
compute_errno 2 EIO verify
expect_compute 2 verified FAIL
logged 2 "1 of 1048576 results wrong, the first at 100000"
logged 2 "verify: FAIL"

# lines before the first failure count; the rest is not run
printf 'work 1 1\nverify\nfoo\nwork 2 2\n' >"$W/lines"
expect_error "Invalid argument" dd if="$W/lines" of="$(die 2)/compute/ctl" \
	bs=4k
expect_compute 2 launches 3
t "$(die 2)/compute/ctl" w "puts,sync\nbar\n:5"
head -c 5000 /dev/zero | tr '\0' '\n' >"$W/lines"
expect_error "Argument list too long" dd if="$W/lines" \
	of="$(die 2)/compute/ctl" bs=8k
# offline ends what runs, for good
compute 2 work 7 1000 100000000000
compute 2 offline
expect_compute 2 state offline
compute_errno 2 ENXIO sync
compute 2 offline
compute 2 online
t "$(die 2)/compute/out" r same,0,4M,0
compute_errno 2 ENODATA verify
# other dies know nothing of it
expect_compute 1 state offline
expect_equal "$(cat "$(die 1)/compute/log")" ""
# the log has each step before it was done
logged 2 " cuCtxCreate"
logged 2 " cuLaunchKernel k80_add"
