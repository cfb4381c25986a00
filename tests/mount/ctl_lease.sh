#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# lease lasts until the last descriptor of its open file is closed
. "$(dirname "$0")/lib.sh"
need_slot "dies that take turns, or are held"
mount_sim wait=200
other=$(die 1)/vram

exec 3>"$(die 0)/ctl"
echo lease >&3
expect_status 0 hold lease
expect_status 0 state active
[[ $(status 0 holder) =~ ^[0-9]+\ .+ ]] || fail "holder is '$(status 0 holder)'"
# each echo closes a duplicate: a FLUSH, which must not end it
exec 4>&3
exec 3>&-
sleep 0.2
expect_status 0 hold lease
t "$other" r+nonblock pread,0,1:EBUSY
t "$(die 0)/vram" rw pwrite,0,10,1
exec 4>&-
wait_status 0 hold none
t "$other" r pread,0,1

# unpin ends it too, and the file may take it again
exec 3>"$(die 0)/ctl"
echo lease >&3
echo unpin >&3
expect_status 0 hold none
t "$other" r pread,0,1
echo "lease nowait" >&3
expect_status 0 hold lease
exec 3>&-
wait_status 0 hold none
# taken and given back at once
echo lease >"$(die 0)/ctl"
wait_status 0 hold none
t "$other" r pread,0,1
