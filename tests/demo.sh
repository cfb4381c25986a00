#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# make demo: six simulated dies, one round trip across a swap, what to do next.
# usage: demo.sh start|stop DIR
set -eu
cd "$(dirname "$0")/.."
dir=$2

is_mounted() {
	grep -q " $dir fuse.k80fs " /proc/self/mounts
}

as_root() {
	if [ "$(id -u)" -eq 0 ]; then
		"$@"
	elif command -v sudo >/dev/null; then
		sudo "$@"
	else
		echo "demo: this needs root: $*" >&2
		exit 1
	fi
}

if [ "$1" = stop ]; then
	if is_mounted; then
		as_root fusermount3 -u "$dir"
		echo "unmounted $dir"
	else
		echo "nothing is mounted at $dir"
	fi
	exit 0
fi

if ! is_mounted; then
	as_root mkdir -p "$dir"
	as_root build/k80fs -o backend=sim "$dir"
fi
echo "six simulated dies are mounted at $dir:"
as_root ls -l "$dir" "$dir/die0"

data=$(mktemp)
trap 'rm -f "$data"' EXIT
head -c 64M /dev/urandom >"$data"
run() {
	printf '\n# %s\n' "$*"
	as_root bash -c "$*"
}
run "dd if=$data of=$dir/die0/vram bs=1M status=none; cat $dir/status | grep active"
run "echo acquire > $dir/die3/ctl; cat $dir/status | grep active"
run "dd if=$dir/die0/vram bs=1M count=64 status=none | sha256sum; sha256sum < $data"
want=$(sha256sum <"$data")
got=$(as_root dd if="$dir/die0/vram" bs=1M count=64 status=none | sha256sum)
if [ "$got" != "$want" ]; then
	echo "demo: what came back from $dir/die0/vram is not what was written" >&2
	exit 1
fi
cat <<END

64 MiB went into die 0, die 3 took the slot, and die 0 gave them back unchanged.
Go on:   dd, cp, cat, python on $dir/dieN/vram;  cat $dir/die0/ctl;  man fusefs/k80fs.8
Stop:    make demo-stop
END
