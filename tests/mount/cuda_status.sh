#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# CUDA devices in status and ctl: always in, nothing to acquire or hold
. "$(dirname "$0")/lib.sh"
mount_cuda

expect_status root backend cuda
expect_status root copy cuda
expect_status root slots 0
expect_status root active none
expect_status 0 state active
expect_status 0 slot none
expect_status 0 driver nvidia
expect_status 0 alive 1
expect_status 0 last_error none
[[ $(status 0 bdf) =~ ^[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.0$ ]] ||
	fail "bdf is $(status 0 bdf)"
[ -n "$(status 0 name)" ] || fail "no name"
[[ $(status 0 driver_version) =~ ^[0-9]+\.[0-9]$ ]] ||
	fail "driver_version is $(status 0 driver_version)"
[ "$(number 0 memory_total)" -gt "$CAP" ] || fail "memory_total is too small"
[ "$(number 0 memory_free)" -le $(($(number 0 memory_total) - CAP)) ] ||
	fail "what is mounted is not taken from memory_free"
[ "$(tail -n 1 "$M/die0/status" | cut -d' ' -f1)" = last_error ] ||
	fail "last_error is not last"

ctl 0 acquire
ctl 0 release
ctl root release
ctl 0 flush
ctl 0 unpin
for command in pin lease reset "acquire sbr"; do
	ctl_errno 0 EOPNOTSUPP "$command"
done
expect_status 0 last_error none
