#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What is to be run can be pasted, and no name drives the terminal
. "$(dirname "$0")/lib.sh"
need_root "to unmount by what was printed"
need_sim "a daemon is killed"
is_gone() {
	[ -z "$(daemon_pids "$M")" ]
}
# pasted: run what the last line of the messages says after "run"
pasted() {
	if LC_ALL=C grep -q '[[:cntrl:]]' "$W/err"; then
		fail "control characters: $(cat -v "$W/err")"
	fi
	local command
	command=$(sed -n 's/.*run[a-z ]*: //p' "$W/err")
	[ -n "$command" ] || fail "said: $(cat "$W/err")"
	bash -c "$command"
}
# shellcheck disable=SC2016 # a name like any other
for name in "my dies" "it's" 'a$HOME;b' $'bell\a'; do
	M=$W/$name
	mount_at "$M" backend=sim,sim_vram=64M
	if "$K80FS" -o backend=sim "$M" 2>"$W/err"; then
		fail "mounted twice"
	fi
	pasted
	await is_gone || fail "the daemon of $name goes on"
	mount_at "$M" backend=sim,sim_vram=64M
	kill -9 "$(daemon_pid)"
	await is_gone
	if "$K80FS" -o backend=sim "$M" 2>"$W/err"; then
		fail "mounted over a dead one"
	fi
	pasted
	"$K80FS" -o backend=sim,sim_vram=64M "$M"
	unmount
done
if "$K80FS" -o $'a\eb' "$W" 2>"$W/err"; then
	fail "took an unknown option"
fi
if LC_ALL=C grep -q '[[:cntrl:]]' "$W/err"; then
	fail "control characters: $(cat -v "$W/err")"
fi
