#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# --help and --version, short and long, on stdout, exit code 0
. "$(dirname "$0")/lib.sh"

full() {
	"$K80FS" "$1" >/dev/full
}

for h in -h --help; do
	"$K80FS" $h >"$W/help" 2>"$W/err"
	expect_equal "$(cat "$W/err")" "" "stderr of $h"
	[ ! -c /dev/full ] ||
		expect_error "standard output: No space left" full $h
	for word in backend= device= wait= timeslice= uid= gid= umask= ro cache \
		allow_other io_uring io_uring_q_depth= sim_dies= sim_vram= \
		sim_swap_us= sim_dir= -f -d; do
		grep -qF -- "$word" "$W/help" || fail "$h does not tell of $word"
	done
done
for v in -V --version; do
	"$K80FS" $v >"$W/version" 2>"$W/err"
	[ ! -c /dev/full ] ||
		expect_error "standard output: No space left" full $v
	grep -qE '^k80fs (version )?[0-9]+\.[0-9]+' "$W/version" ||
		fail "$v: $(cat "$W/version")"
done
