#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# last_error holds what errno cannot: time, die, what was tried and what came
. "$(dirname "$0")/lib.sh"
need_slot "dies that take turns, or are held"
mount_sim wait=100

before=$(status 2 last_error)
ctl 0 pin
t "$(die 1)/vram" r pread,0,1:ETIMEDOUT
e=$(status 1 last_error)
[ ${#e} -gt 20 ] || fail "last_error is '$e'"
grep -q '[0-9][0-9]:[0-9][0-9]' <<<"$e" || fail "no time in '$e'"
expect_equal "$(wc -l <<<"$e")" 1 "lines"
ctl 0 unpin
[ "$(root_status last_error)" != none ] || fail "the root's tells nothing"
expect_status 2 last_error "$before"
