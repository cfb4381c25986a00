#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A large real file into several dies at once and back, by dd, cp, cat,
# python and a loop device, bit for bit
# timeout: 600
. "$(dirname "$0")/lib.sh"
VRAM=12G mount_sim
mib=$(bulk "${K80_ROUND_TRIP_MIB:-$(often 2048 256)}")

random_file "$W/in" $((mib << 20))
want=$(sum <"$W/in")
pids=()
dd if="$W/in" of="$(die 0)/vram" bs=1M conv=notrunc,fsync status=none &
pids+=($!)
cp "$W/in" "$(die 1)/vram" &
pids+=($!)
cat "$W/in" >"$(die 2)/vram" &
pids+=($!)
/usr/bin/python3 -c 'import shutil, sys
with open(sys.argv[1], "rb") as f, open(sys.argv[2], "r+b") as g:
    shutil.copyfileobj(f, g, 1 << 20)' "$W/in" "$(die 3)/vram" &
pids+=($!)
if [ "$(id -u)" = 0 ] && [ "$N" -gt 4 ] &&
	loop=$(losetup -f --show --direct-io=on "$(die 4)/vram"); then
	dd if="$W/in" of="$loop" bs=1M conv=fsync status=none &
	pids+=($!)
fi
for p in "${pids[@]}"; do
	wait "$p"
done
[ -z "${loop:-}" ] || losetup -d "$loop"

# read back in other ways than it was written, all at once again
readers=("cat" "dd bs=1M status=none" "dd bs=16M iflag=direct status=none" \
	"busybox cat" "cat")
pids=()
for ((d = 0; d < 4 + (${loop:+1} + 0); d++)); do
	(
		got=$(${readers[d]} <"$(die $d)/vram" | head -c $((mib << 20)) | sum) ||
			[ -n "$got" ] # head ends the pipe early
		expect_equal "$got" "$want" "die $d, ${readers[d]}"
	) &
	pids+=($!)
done
for p in "${pids[@]}"; do
	wait "$p"
done
