#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Opening status for writing is EACCES, for root too
. "$(dirname "$0")/lib.sh"
mount_sim

for f in "$(die 0)/status" "$M/status"; do
	t "$f" w:EACCES close:EBADF
	t "$f" rw:EACCES close:EBADF
	t "$f" w+append:EACCES close:EBADF
	t "$f" w+trunc:EACCES close:EBADF
	expect_error "Permission denied" bash -c "echo x >'$f'"
	expect_error "Permission denied" bash -c "echo x >>'$f'"
	[ -s "$f" ] || fail "$f is empty now"
	chmod a+w "$f"
	t "$f" w:EACCES close:EBADF
done
