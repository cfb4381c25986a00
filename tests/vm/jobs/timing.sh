# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# What things cost. Only the ratio of the copies is judged.
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

# best of a few reads of 64 MiB
read_us()
{
	local best='' t

	for _ in 1 2 3 4 5; do
		t=$(dd if="$1" of=/dev/null bs=1M count=64 2>&1 |
			awk -F, '/copied/ {print int($(NF-1) * 1000000)}')
		[ -n "$best" ] && [ "$best" -le "$t" ] || best=$t
	done
	echo "$best"
}

# k80fs needs two copies: BAR to bounce buffer, bounce buffer to user. The
# second is the kernel's, which under emulation is several times as slow as a
# memcpy: the read of a tmpfs is the measure of it.
top=$(cd "$VM/../.." && pwd)
m=$TMPDIR/k80
mkdir -p "$m"
if "$top/build/k80fs" -o backend=bar_swap "$m"; then
	dd if="$m/die0/vram" of="$TMPDIR/copy" bs=1M count=64 2>/dev/null
	k80fs=$(read_us "$m/die0/vram")
	kernel=$(read_us "$TMPDIR/copy")
	echo "# 64 MiB: k80fs $k80fs us, the same read of a tmpfs $kernel us"
	echo "# 1.3 x the two plain copies:" \
		"$((($(us from-vram) + $(us ram-to-ram)) * 13 / 10)) us"
	check_is "k80fs takes at most 3 times its two copies" \
		"$((k80fs <= 3 * ($(us from-vram) + kernel)))" 1
	fusermount3 -u "$m"
	await 5 sh -c "! pidof k80fs"
else
	echo "not ok k80fs mounts"
fi
check "unloads" unload
