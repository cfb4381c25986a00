# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# What things cost. Only the ratio of the copies is judged.
# ci: no
# time: 120
check "loads" load
writes()
{
	# shellcheck disable=SC2046 # words
	set -- $(ctl 3 stat)
	echo "$5"
}
"$G/timing" >"$TMPDIR/t"
sed 's/^/# /' "$TMPDIR/t"
us()
{
	awk -v k="$1" '$1 == k {print $2}' "$TMPDIR/t"
}
check_is "an acquire of the die that is in is cheaper than a swap" \
	"$(($(us no-op) < $(us swap)))" 1
before=$(writes)
bs acquire 3 >/dev/null
bs acquire 0 >/dev/null
echo "# config writes to a die, in and out: $(($(writes) - before))"
check_is "in and out is at most 40 writes to the die" \
	"$(($(writes) - before <= 40))" 1

# best_us FILE: of a few reads of 64 MiB
best_us()
{
	local best='' t

	for _ in 1 2 3 4 5; do
		t=$(dd if="$1" of=/dev/null bs=1M count=64 2>&1 |
			awk -F, '/copied/ {print int($(NF-1) * 1000000)}')
		[ -n "$best" ] && [ "$best" -le "$t" ] || best=$t
	done
	echo "$best"
}

# What FUSE itself costs under emulation, many times the copies, is seen on a
# simulated die: the same daemon on ordinary memory.
top=$(cd "$VM/../.." && pwd)
real=$TMPDIR/real sim=$TMPDIR/sim
mkdir -p "$real" "$sim"
check "k80fs mounts" "$top/build/k80fs" -o backend=bar_swap "$real"
check "and simulated dies" "$top/build/k80fs" \
	-o backend=sim,sim_vram=64M,sim_dies=1 "$sim"
dd if="$real/die0/vram" of="$sim/die0/vram" bs=1M count=64 conv=notrunc \
	2>/dev/null
cp "$sim/die0/vram" "$TMPDIR/copy"
k80fs=$(best_us "$real/die0/vram")
plain=$(best_us "$sim/die0/vram")
echo "# 64 MiB: k80fs $k80fs us, of a simulated die $plain us," \
	"of a tmpfs $(best_us "$TMPDIR/copy") us"
echo "# 1.3 x the copy from the BAR and the one in RAM:" \
	"$((($(us from-vram) + $(us ram-to-ram)) * 13 / 10)) us"
check_is "k80fs takes at most 1.3 times what it takes on ordinary memory" \
	"$((10 * k80fs <= 13 * plain))" 1
for m in "$real" "$sim"; do
	fusermount3 -u "$m"
done
check "both daemons end" await 5 sh -c "! pidof k80fs"
check "unloads" unload
