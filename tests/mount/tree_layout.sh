#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The tree holds exactly its files, dies numbered by PCI address
. "$(dirname "$0")/lib.sh"
mount_sim

wanted() {
	local d
	printf '%s\n' "$M" "$M/by-bdf" "$M/ctl" "$M/metrics" "$M/status" \
		"$M/trace"
	for ((d = 0; d < N; d++)); do
		printf '%s\n' "$M/die$d" "$M/die$d/ctl" "$M/die$d/status" \
			"$M/die$d/vram" "$M/by-bdf/$(status "$d" bdf)"
	done
}
expect_equal "$(find "$M" | sort)" "$(wanted | sort)" "find"
expect_equal "$(busybox find "$M" | sort)" "$(wanted | sort)" "busybox find"
expect_equal "$(find "$M" -name vram -type f -size +0 | wc -l)" "$N"

last=
for ((d = 0; d < N; d++)); do
	bdf=$(status "$d" bdf)
	[[ $bdf =~ ^[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$ ]] ||
		fail "die $d: bdf '$bdf'"
	[[ $bdf > $last ]] || fail "die $d at $bdf comes after $last"
	last=$bdf
	expect_equal "$(readlink "$M/by-bdf/$bdf")" "../die$d" "link of $bdf"
	[ "$M/by-bdf/$bdf/vram" -ef "$M/die$d/vram" ] ||
		fail "by-bdf/$bdf is not die$d"
done
[ ! -e "$M/die$N" ] || fail "there is a die $N"
[ ! -e "$M/die0/nothing" ] || fail "there is a die0/nothing"
