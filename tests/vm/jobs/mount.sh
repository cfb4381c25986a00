# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# A part of the mounted-tree tests, with the module under k80fs; mount-all runs
# every one.
# time: 420
# check: yes
# Dies of 256 MiB: emulated copies are slow. One touch above 8 GiB, at full
# size, is done first.
top=$(cd "$VM/../.." && pwd)
m=$TMPDIR/k80
check "loads" load
mkdir -p "$m"
if check "k80fs mounts" "$top/build/k80fs" -o backend=bar_swap "$m"; then
	check_is "a die is 12 GiB long" "$(stat -c %s "$m/die2/vram")" \
		$((12 << 30))
	printf 'over-8-GiB' | dd of="$m/die2/vram" bs=10 seek=$((900 << 20)) \
		conv=notrunc 2>/dev/null
	check_is "a write above 8 GiB is where the host sees it" \
		"$(ctl 2 peek "$(printf '%x' $((9000 << 20)))" 10)" \
		"ok $(printf 'over-8-GiB' | xxd -p)"
	check "unmounts" fusermount3 -u "$m"
fi
await 5 unload
check "loads, with smaller dies" load vram_bytes=0x10000000
export K80FS_BACKEND=bar_swap K80_TIME_SCALE=$((3 * SLOW))
scripts="vram_read_past_end vram_write_end vram_append vram_read_swaps_in
	ctl_lease.sh errno_table"
[ "$SCOPE" = check ] ||
	scripts+=" vram_open_trunc vram_truncate vram_seek ctl_pin ctl_lease
		ctl_release ctl_lines ctl_limits status_keys status_snapshot
		tree_layout tree_stat"
# shellcheck disable=SC2086 # words
"$top/tests/mount/run.sh" $scripts >"$TMPDIR/mount" 2>&1
rc=$?
# its verdicts are ours
cat "$TMPDIR/mount"
[ $rc -eq 0 ] || grep -q '^not ok' "$TMPDIR/mount" ||
	echo "not ok tests/mount/run.sh: status $rc"
check "unloads" await 5 unload
