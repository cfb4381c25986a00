#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# When it cannot mount: exit code not 0 and one clear line on stderr
. "$(dirname "$0")/lib.sh"
need_sim "only mounts that fail"
mkdir "$W/a"
: >"$W/file"

refused() {
	local text=$1
	shift
	if "$K80FS" "$@" >"$W/out" 2>"$W/err"; then
		umount "$W/a"
		fail "mounted: $*"
	fi
	grep -qF -- "$text" "$W/err" ||
		fail "wanted '$text' from: k80fs $*; got: $(cat "$W/err")"
	expect_equal "$(wc -l <"$W/err")" 1 "lines on stderr of: $*"
	expect_equal "$(cat "$W/out")" "" "stdout of: $*"
	if is_mounted "$W/a"; then
		fail "it is mounted all the same"
	fi
	expect_equal "$(daemon_pids "$W/a")" "" "daemons left"
}
refused "backend=sim" -o "device=$W/nothing" "$W/a"
refused "bar_swap" -o "backend=bar_swap,device=$W/nothing" "$W/a"
refused nonsense -o backend=nonsense "$W/a"
refused "$W/missing" -o backend=sim "$W/missing"
refused "$W/file" -o backend=sim "$W/file"
refused sim_dies -o backend=sim,sim_dies=0 "$W/a"
refused sim_dies -o backend=sim,sim_dies=17 "$W/a"
refused sim_dies -o backend=sim,sim_dies=2x "$W/a"
refused sim_vram -o backend=sim,sim_vram=0 "$W/a"
refused sim_vram -o backend=sim,sim_vram=4097 "$W/a"
refused sim_vram -o backend=sim,sim_vram=12Q "$W/a"
refused sim_swap_us -o backend=sim,sim_swap_us=-1 "$W/a"
refused "$W/missing" -o "backend=sim,sim_dir=$W/missing" "$W/a"
# the name of a socket may have 107 bytes
refused ": File name too long" \
	-o "backend=sim,sim_ctl=$W/$(printf 'x%.0s' {1..108})" "$W/a"
# the signal that comes with it says nothing
(
	ulimit -f 1
	refused "File too large: a die's file is as long" \
		-o backend=sim,sim_vram=16M "$W/a"
)
few_files() {
	bash -c 'ulimit -n 10; exec "$@"' bash "$daemon" "$@"
}
daemon=$K80FS
K80FS=few_files
refused "Too many open files: each die takes" -o backend=sim "$W/a"
K80FS=$daemon
if [ "$(id -u)" = 0 ]; then
	mkdir "$W/dev"
	no_dev() {
		# shellcheck disable=SC2016 # the inner shell's
		unshare -m sh -c 'mount --bind "$0/dev" /dev && exec "$@"' \
			"$W" "$daemon" "$@"
	}
	K80FS=no_dev
	refused "k80fs: /dev/null: No such file" -o backend=sim "$W/a"
	K80FS=$daemon
fi
refused wait -o backend=sim,wait=x "$W/a"
refused wait -o backend=sim,wait= "$W/a"
refused timeslice -o backend=sim,timeslice=-5 "$W/a"
refused uid -o backend=sim,uid=root7 "$W/a"
refused umask -o backend=sim,umask=9 "$W/a"
refused nonsense -o backend=sim,nonsense "$W/a"
refused nonsense -o backend=sim,nonsense=5 "$W/a"
if "$K80FS" -o backend=sim 2>"$W/err"; then
	fail "mounted nowhere"
fi
[ -s "$W/err" ] || fail "without a mount point it says nothing"
if "$K80FS" -x "$W/a" 2>"$W/err"; then
	fail "took -x"
fi
[ -s "$W/err" ] || fail "of -x it says nothing"
