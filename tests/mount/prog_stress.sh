#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Random operations beside faults of dies, drivers, other programs' leases,
# SIGTERM and kill -9 of the daemon: no byte is anything but what it may be
# timeout: 1500
. "$(dirname "$0")/lib.sh"
[ "$K80FS_BACKEND" != cuda ] || skip "needs memory that outlives the daemon"
need_root "kill -9 leaves a mount"
seed=${K80_SEED:-$((RANDOM * 32768 + RANDOM))}
seconds=${K80_STRESS_SECONDS:-$(often 600 10)}
M=$W/mnt
mkdir "$M" "$W/dies"
mounts+=("$M")

# stress SEED SECONDS [OPTION]...: no die holds what it may not
stress() {
	local opts=backend=$K80FS_BACKEND,wait=60000
	if [ "$K80FS_BACKEND" = sim ]; then
		opts+=,sim_dies=4,sim_vram=32M,sim_dir=$W/dies,sim_ctl=$W/sock
	fi
	"$BIN/randops" "${@:3}" \
		-d "exec '$K80FS' -f -o $opts '$M' 2>>'$W/log'" \
		"$M" "$1" "$2" 4 4 || return
}

faults=(-k pci-stub)
[ "$K80FS_BACKEND" != sim ] || faults=(-s "$W/sock")
stress "$seed" "$seconds" "${faults[@]}" || {
	tail -n 20 "$W/log" >&2
	fail "seed $seed"
}
[ "$K80FS_BACKEND" = sim ] || exit 0
# the test of the test: a byte that changes behind the daemon's back is told
if stress "$seed" 1 -f "$W/dies/die0" 2>"$W/told"; then
	fail "a wrong byte is not seen"
fi
grep -q "seed $seed .*die 0 byte 1048476 is 0x.., wanted 0x.. for sure" \
	"$W/told" || fail "the wrong byte was told so: $(cat "$W/told")"
