# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# A carve-out at the end of the memory: a file of its own, behind the users'.
top=$(cd "$VM/../.." && pwd)
m=$TMPDIR/k80
# 1.25 GiB less 128 MiB, rounded down to a block of 512 MiB: 1 GiB for users
check "loads with a carve-out" load vram_bytes=0x50000000 resmem_bytes=0x8000000
mkdir -p "$m"
check "k80fs mounts" "$top/build/k80fs" -o backend=bar_swap "$m"
check_is "vram ends before it" "$(stat -c %s "$m/die2/vram")" $((1 << 30))
check_is "resmem is the rest" "$(stat -c %s "$m/die2/resmem")" $((256 << 20))
printf 'last-of-vram' | dd of="$m/die2/vram" bs=1 seek=$(((1 << 30) - 12)) \
	conv=notrunc 2>/dev/null
printf 'first-of-resmem' | dd of="$m/die2/resmem" conv=notrunc 2>/dev/null
check_is "they meet in the die's memory" "$(ctl 2 peek 3ffffff4 27)" \
	"ok $(printf 'last-of-vramfirst-of-resmem' | xxd -p)"
printf 'end' | dd of="$m/die2/resmem" bs=1 seek=$(((256 << 20) - 3)) \
	conv=notrunc 2>/dev/null
check_is "the last bytes are where the host sees them" \
	"$(ctl 2 peek 4ffffffd 3)" "ok $(printf end | xxd -p)"
check_is "a read of them" "$(tail -c 3 "$m/die2/resmem")" end
check "unmounts" fusermount3 -u "$m"
bs release "$(bs query)" >/dev/null
"$G/stale" resmem
await 5 unload
if load vram_bytes=0x500000000 resmem_bytes=0x180000000; then
	echo "not ok a memory larger than BAR1 is refused"
	unload
else
	check_like "a memory larger than BAR1 is refused" "$(klog)" \
		'vram_bytes=.* do not fit BAR1'
fi
