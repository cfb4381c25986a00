#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# kill -9 of the daemon under load: clients get an error at once; what was
# written and fsynced is in sim_dir for the next daemon
# timeout: 300
. "$(dirname "$0")/lib.sh"
need_sim "memory that outlives the daemon in a folder"
mkdir "$W/dies"
VRAM=1G mount_sim "sim_dir=$W/dies"
random_file "$W/in" $((32 << 20))

for d in 0 1 2; do
	dd if="$W/in" of="$(die $d)/vram" bs=1M seek=$((d * 100)) \
		conv=notrunc,fsync status=none
done
pids=()
for d in 3 4 5; do
	dd if=/dev/zero of="$(die $d)/vram" bs=1M status=none 2>>"$W/err" &
	pids+=($!)
	(
		while head -c 64M "$(die $d)/vram" | sha256sum >"$W/log$d"; do
			:
		done
		exit 1
	) 2>>"$W/err" &
	pids+=($!)
done
ctl 0 pin wait=60000
"$BIN/tool" "$(die 1)/vram" r pread,0,4096 2>>"$W/err" &
pids+=($!)
sleep 0.5
kill -9 "$(daemon_pid)"
start=$(now_ms)
for p in "${pids[@]}"; do
	if wait "$p"; then
		fail "a client of a killed daemon ended well"
	fi
done
soon_after "$start" "the clients' end"
grep -qE "not connected|connection abort|ENOTCONN|ECONNABORTED" "$W/err" ||
	fail "clients said: $(cat "$W/err")"
expect_error "not connected" stat "$(die 0)/vram"

helper=$repo/mount-helpers/mount.k80fs
if [ -x "$helper" ] && [ "$(id -u)" = 0 ]; then
	PATH=$(dirname "$K80FS"):$PATH "$helper" none "$M" \
		-o "backend=sim,sim_dies=6,sim_vram=1G,sim_dir=$W/dies"
else
	umount "$M"
	mount_at "$M" "backend=sim,sim_dies=6,sim_vram=1G,sim_dir=$W/dies"
fi
for d in 0 1 2; do
	dd if="$(die $d)/vram" bs=1M skip=$((d * 100)) count=32 status=none |
		cmp - "$W/in"
done
