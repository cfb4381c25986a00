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

# k80fs needs two copies: BAR to bounce buffer, bounce buffer to user
top=$(cd "$VM/../.." && pwd)
m=$TMPDIR/k80
mkdir -p "$m"
if "$top/build/k80fs" -o backend=bar_swap "$m"; then
	dd if="$m/die0/vram" of=/dev/null bs=1M count=64 2>/dev/null
	best=
	for _ in 1 2 3; do
		t=$(dd if="$m/die0/vram" of=/dev/null bs=1M count=64 2>&1 |
			awk -F, '/copied/ {print int($(NF-1) * 1000000)}')
		[ -n "$best" ] && [ "$best" -le "$t" ] || best=$t
	done
	limit=$(((($(us from-vram) + $(us ram-to-ram)) * 13) / 10))
	echo "# k80fs $best us of 64 MiB, limit $limit us"
	check_is "k80fs takes at most 1.3 times the two copies" \
		"$((best <= limit))" 1
	fusermount3 -u "$m"
	await 5 sh -c "! pidof k80fs"
else
	echo "not ok k80fs mounts"
fi
check "unloads" unload
