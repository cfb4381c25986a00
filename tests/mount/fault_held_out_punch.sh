#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What keeps a file locked in the kernel does not wait for a hold of another
# die: other writers of that file could not even be killed
. "$(dirname "$0")/lib.sh"
need_slot "holds"
mount_sim wait=60000
ctl 0 pin
within 2000 t "$(die 1)/vram" rw fallocate,punch,0,1M:EBUSY
within 2000 t "$(die 1)/vram" rw fallocate,zero,0,1M:EBUSY
within 2000 t "$(die 1)/ctl" w+append "puts,pin\n:EBUSY"
within 2000 t "$(die 1)/ctl" w+append "puts,acquire\n:EBUSY"
start=$(now_ms)
t "$(die 1)/ctl" w+append "puts,acquire wait=1500\n:ETIMEDOUT"
[ $(($(now_ms) - start)) -ge 1400 ] || fail "a wait that was named was not kept"
# a die that nobody keeps out
t "$(die 0)/vram" rw fallocate,punch,0,1M
t "$(die 0)/ctl" w+append "puts,acquire\n"
