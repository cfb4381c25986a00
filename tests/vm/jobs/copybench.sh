# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Every copy routine on the memory of an emulated die, and what it holds is put
# back. The figures are those of an emulated CPU: no measure of hardware.
# `tests/bench/run.sh copy` on the host builds the program.
# ci: no
# time: 120
check "loads" load
bs acquire 2 >/dev/null
bs put 2 1000 c0b1 >/dev/null
if "$(cd "$VM/../.." && pwd)/build/bench/k80-copybench" -r 1 -t 5 -s 1 -d 2 \
	"$DEV" >"$TMPDIR/table"; then
	sed 's/^/# /' "$TMPDIR/table"
	check_like "the table has all three directions" \
		"$(grep -cE '^(read|write|zero) ' "$TMPDIR/table")" '^3$'
else
	echo "not ok k80-copybench runs on a die"
fi
bs acquire 2 >/dev/null
check_is "what the die held is back" "$(bs get 2 1000)" 000000000000c0b1
check "unloads" unload
