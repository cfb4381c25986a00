#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# k80-top -b has the figures right, keeps nobody from unmounting, puts no die
# into the slot, and ends with one line when the mount goes
. "$(dirname "$0")/lib.sh"
need_slot "its shares"
TOP=${K80FS%/*}/k80-top
[ -x "$TOP" ] || skip "k80-top is not built"
mount_sim

# top_starts DIR ARG...: in the folder DIR; it has looked once
top_starts() {
	local from=$1
	shift
	(cd "$from" && exec "$TOP" -b "$@") >"$W/out" 2>"$W/err" &
	top=$!
	await grep -q ^mount "$W/out" || fail "not started: $(cat "$W/err")"
}

blocks() {
	grep -c interval "$W/out" || :
}

has_blocks() {
	[ "$(blocks)" -ge "$1" ]
}

# more N: until so many intervals have begun and ended
more() {
	await has_blocks $(($(blocks) + $1 + 1)) || fail "not one more"
}

# sum DIE COLUMN: of all intervals, each times its length
sum() {
	awk -v die="$1" -v column="$2" '$2 == "interval" { seconds = $3 }
		$1 == die { sum += $column * seconds } END { print sum }' \
		"$W/out"
}

# last DIE COLUMN: of the last interval that is whole
last() {
	awk -v die="$1" -v column="$2" '$1 == "" { value = next_ }
		$1 == die { next_ = $column } END { print value }' "$W/out"
}

# near GOT WANTED WHAT: as far as rounding goes
near() {
	awk -v got="$1" -v wanted="$2" \
		'BEGIN { d = got - wanted; if (d < 0) d = -d
		exit !(d <= 0.005 * wanted + 0.01) }' ||
		fail "$3: got $1, wanted $2: $(cat "$W/out")"
}

ctl root release
top_starts "$M/die0" -d 0.3 "$M"
expect_equal "$(head -n 1 "$W/out")" \
	"mount $M  backend $(root_status backend)  dies $N" "the first line"

# nothing is swapped for it
swaps=$(root_status swaps)
more 2
expect_status root active none
expect_equal "$(root_status swaps)" "$swaps" "swaps for a look"

# bytes, swaps
n=$(bulk 8)
for ((i = 0; i < 3; i++)); do
	ctl 0 acquire
	dd if="$(die 0)/vram" of=/dev/null bs=1M count="$n" iflag=direct status=none
	ctl 1 acquire
	dd if=/dev/zero of="$(die 1)/vram" bs=1M count=1 oflag=direct \
		conv=notrunc status=none
done
more 1
near "$(sum 0 4)" $((3 * n * 1048576)) "bytes read from die 0"
near "$(sum 1 4)" 0 "bytes read from die 1"
near "$(sum 0 5)" 0 "bytes written to die 0"
near "$(sum 1 5)" $((3 * 1048576)) "bytes written to die 1"
near "$(sum 0 6)" 3 "times that die 0 came in"
near "$(sum 1 6)" 3 "times that die 1 came in"

# the slot, a hold, one who waits
ctl 0 pin wait=60000
dd if="$(die 1)/vram" of="$W/read" bs=4K count=1 status=none &
reader=$!
wait_waiters 1 1
more 2
near "$(last 0 3)" 100 "share of a die that is pinned"
near "$(last 1 3)" 0 "share of another"
expect_equal "$(last 0 2) $(last 0 9)" "active pin" "state and hold of die 0"
expect_equal "$(last 1 7)" 1 "requests that wait for die 1"
ctl 0 unpin
wait $reader

# nobody is kept from unmounting
unmount
wait $top && fail "exit status 0 with the mount gone"
expect_equal "$(cat "$W/err")" "k80-top: $M: unmounted" "the last line"

mount_sim
top_starts / -d 0.1 "$M"
kill -9 "$(daemon_pid)"
wait $top && fail "exit status 0 with the daemon gone"
expect_equal "$(cat "$W/err")" "k80-top: $M: its daemon is gone" "the last line"
umount -l "$M"

# refused CODE TEXT COMMAND...: one line, and that exit status
refused() {
	local code=$1 text=$2 rc=0
	shift 2
	"$@" >"$W/out" 2>"$W/err" || rc=$?
	expect_equal "$rc" "$code" "exit status of $*"
	grep -qF -- "$text" "$W/err" || fail "$*: $(cat "$W/err")"
}

mount_sim
refused 1 'no k80fs is mounted there' "$TOP" -b -n 1 "$W"
refused 2 '0.1 to 3600' "$TOP" -b -d 0.01 "$M"
refused 2 'from 1' "$TOP" -b -n 0 "$M"
refused 2 usage: "$TOP" -b "$M" "$M"
refused 2 usage: "$TOP" -x
# shellcheck disable=SC2016 # expanded by the inner shell
refused 1 'No space left' bash -c '"$0" -b -d 0.1 -n 1 "$1" >/dev/full' "$TOP" "$M"
"$TOP" -b -d 0.1 -n 2 "$M" >"$W/out"
expect_equal "$(blocks)" 2 "intervals"
"$TOP" --version | grep -q '^k80-top [0-9]'

# without a name it is the only one
[ "$(id -u)" = 0 ] || exit 0
# shellcheck disable=SC2016 # expanded by the inner shell
alone() {
	unshare -m bash -c 'awk "\$3 == \"fuse.k80fs\" { print \$2 }" /proc/mounts |
		while read -r dir; do
			[ "$dir" = "$1" ] || umount -l "$dir"
		done
		[ -z "$2" ] || eval "$2"
		exec "$0" -b -d 0.1 -n 1' "$TOP" "$@"
}
alone "$M" '' >"$W/out"
grep -q "^mount $M " "$W/out" || fail "not the only one: $(cat "$W/out")"
refused 1 'no k80fs is mounted' alone none ''
mkdir "$W/other"
refused 2 "k80-top: $W/other: a mount of k80fs" \
	alone "$M" "mount --bind '$M' '$W/other'"
grep -qF "k80-top: $M: a mount of k80fs" "$W/err" || fail "not both"
