#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Unknown and malformed commands are EINVAL and change nothing
. "$(dirname "$0")/lib.sh"
mount_sim
c=$(die 0)/ctl
acquires=$(status 0 acquires)

# refused OP...: by the write, or at the close
refused() {
	t "$c" w "$1:EINVAL" flush || t "$c" w "$1" flush:EINVAL
}
while read -r line; do
	t "$c" w "puts,$line\n:EINVAL"
	refused "puts,$line" 2>"$W/log"
done <<'T'
foo
acquire foo
acquire 0x
acquire 0
acquire wait=1x
acquire wait=
acquire wait
acquire wait=-1
acquire wait=0x10
acquire wait=99999999999999999999
acquire nowait wait=5
acquire nowait nowait
acquire sbr sbr
Acquire
acquire\0
acquire\0\n
\0
acquirenowait
acquire,nowait
release foo
release nowait
pin foo
pin sbr
pin wait=1x
lease foo
lease sbr
unpin foo
reset foo
reset nowait
flush 1
zero 1
zero 0
zero x y
zero 0 x
zero 0 1x
zero -1 5
zero 0 -1
zero 0 1 2
timeslice 5
help
T
t "$M/ctl" w "puts,acquire\n:EINVAL" "puts,pin\n:EINVAL" "puts,zero\n:EINVAL" \
	"puts,reset\n:EINVAL" "puts,release foo\n:EINVAL" \
	"puts,timeslice\n:EINVAL" "puts,timeslice x\n:EINVAL" \
	"puts,timeslice 5x\n:EINVAL" "puts,timeslice -5\n:EINVAL" \
	"puts,timeslice 5 6\n:EINVAL" "puts,timeslice Auto\n:EINVAL"
expect_status root active none
expect_status 0 acquires "$acquires"
expect_status 0 hold none
expect_error "Invalid argument" bash -c "echo bogus >'$c'"
expect_error "Invalid argument" tee "$c" <<<"acquire 7"
