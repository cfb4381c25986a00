#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# kill -9 of the daemon at any moment, over and over: what was synced is there
# in the next daemon, and nothing of the last one stays
# timeout: 3600
. "$(dirname "$0")/lib.sh"
need_sim "memory that outlives the daemon in a folder"
need_cmd python3
mkdir "$W/dies"
M=$W/m
times=$(often 1000 10)

# writes rising numbers to a die, and after each sync says which is safe
cat >"$W/writer.py" <<'END'
import os, sys
f = os.open(sys.argv[1], os.O_RDWR)
n = int(sys.argv[2])
while True:
    n += 1
    os.pwrite(f, n.to_bytes(8, "little") * 8192, 1 << 20)
    os.fsync(f)
    print(n, flush=True)
END

safe=(0 0)
for ((i = 0; i < times; i++)); do
	mount_at "$M" "backend=sim,sim_dies=2,sim_vram=64M,sim_dir=$W/dies"
	pids=()
	for d in 0 1; do
		read -r first last < <(od -An -tu8 -w65536 -j $((1 << 20)) \
			-N 65536 -v "$(die $d)/vram" |
			awk '{ print $1, $NF }')
		# a write that was not synced may be there, or a part of it
		((first >= safe[d] && last >= safe[d])) ||
			fail "round $i: die $d has $first and $last," \
				"synced was ${safe[d]}"
		python3 "$W/writer.py" "$(die $d)/vram" "$first" \
			>"$W/safe$d" 2>"$W/err$d" &
		pids+=($!)
	done
	await test -s "$W/safe0"
	sleep "0.0$((RANDOM % 100))"
	kill -9 "$(daemon_pid)"
	for d in 0 1; do
		if wait "${pids[d]}"; then
			fail "round $i: a writer of a dead daemon ended well"
		fi
		now=$(tail -n 1 "$W/safe$d")
		safe[d]=${now:-${safe[d]}}
	done
	umount "$M"
done
