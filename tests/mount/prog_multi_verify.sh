#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# fio --verify=crc32c with six jobs on six dies at once
# timeout: 300
. "$(dirname "$0")/lib.sh"
need_cmd fio
VRAM=1G mount_sim sim_swap_us=200
mib=$(bulk 128)

args=()
for ((d = 0; d < N; d++)); do
	args+=(--name="die$d" --filename="$(die "$d")/vram")
done
fio --rw=randwrite --bs=128k --size="${mib}m" --ioengine=psync --direct=1 \
	--verify=crc32c --verify_fatal=1 --do_verify=1 --allow_file_create=0 \
	--fallocate=none --randseed=1 --output="$W/fio" "${args[@]}" ||
	fail "$(cat "$W/fio")"
grep -q "err= 0" "$W/fio"
for ((d = 0; d < N; d++)); do
	[ $((10#$(status "$d" written_bytes))) -ge $((mib << 20)) ] ||
		fail "die $d: fio wrote only $(status "$d" written_bytes)"
done
# once more, the verification alone, after all those swaps
fio --rw=randwrite --bs=128k --size="${mib}m" --ioengine=psync --direct=1 \
	--verify=crc32c --verify_fatal=1 --verify_only --allow_file_create=0 \
	--fallocate=none --randseed=1 --output="$W/fio" "${args[@]}" ||
	fail "$(cat "$W/fio")"
