#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# make demo: six simulated dies, one round trip across a swap, what to do next.
# usage: demo.sh start|stop DIR
#
# Writes to no mount but its own, and unmounts no other: build/demo/ has a file
# for each that it made.
set -eu

fail() {
	printf 'demo: %s\n' "$*" >&2
	exit 1
}

case $#:${1:-} in
2:start | 2:stop) ;;
*)
	echo "usage: demo.sh start|stop DIR" >&2
	exit 1
	;;
esac
# before the cd; findmnt and the hints need the name that the kernel has
dir=$(realpath -m -- "$2")
shown=$(printf %q "$dir")
cd "$(dirname "$0")/.."

# A stopped or hung daemon must not hang a look at the mount.
look() {
	timeout --foreground -s KILL 10 "$@"
}

mount_type() {
	look findmnt -n -r -o FSTYPE -M "$dir" 2>/dev/null | tail -n 1
}

# Its daemon is gone: nothing is there to lose.
is_dead() {
	LC_ALL=C look stat -f -- "$dir" 2>&1 |
		grep -q 'Transport endpoint is not connected'
}

# mark: a name that no other mount has had: device number, time of mounting
mark() {
	look stat -c 'build/demo/%d-%.9Y' -- "$dir" 2>/dev/null
}

is_ours() {
	[ "$(look sed -n 's/^backend //p' "$dir/status" 2>/dev/null)" = sim ] &&
		[ -e "$(mark)" ]
}

as_root() {
	if [ "$(id -u)" -eq 0 ]; then
		"$@"
	elif command -v sudo >/dev/null; then
		sudo "$@"
	else
		fail "this needs root: $*"
	fi
}

# what is there: nothing, dead, ours, or other with its type
there=$(mount_type)
case $there in
'') there=nothing ;;
fuse.k80fs)
	if is_dead; then
		there=dead
	elif is_ours; then
		there=ours
	fi
	;;
esac

if [ "$1" = stop ]; then
	case $there in
	nothing) echo "nothing is mounted at $dir" ;;
	ours | dead)
		[ "$there" = dead ] || file=$(mark)
		as_root mount-helpers/umount.k80fs "$dir"
		rm -f "${file:-}"
		echo "unmounted $dir"
		;;
	*) fail "$dir: this $there mount is not the demo's, it stays" \
		"(umount $shown unmounts it)" ;;
	esac
	exit 0
fi

case $there in
ours) ;;
nothing | dead)
	[ "$there" = dead ] || as_root mkdir -p -- "$dir"
	# it takes a dead mount away, and says so
	as_root env PATH="$PWD/build:$PATH" mount-helpers/mount.k80fs sim "$dir"
	mkdir -p build/demo
	: >"$(mark)"
	;;
*) fail "$dir: this $there mount is not the demo's, nothing was written" \
	"to it; take another folder: make demo DEMO_DIR=/mnt/demo" ;;
esac
echo "six simulated dies are mounted at $dir:"
as_root ls -l "$dir" "$dir/die0"

data=$(mktemp)
trap 'rm -f "$data"' EXIT
head -c 64M /dev/urandom >"$data"
run() {
	printf '\n# %s\n' "$*"
	as_root bash -c "$*"
}
run "dd if=$data of=$shown/die0/vram bs=1M status=none; cat $shown/status | grep active"
run "echo acquire > $shown/die3/ctl; cat $shown/status | grep active"
run "dd if=$shown/die0/vram bs=1M count=64 status=none | sha256sum; sha256sum < $data"
want=$(sha256sum <"$data")
got=$(as_root dd if="$dir/die0/vram" bs=1M count=64 status=none | sha256sum)
[ "$got" = "$want" ] ||
	fail "what came back from $dir/die0/vram is not what was written"
where=''
[ "$dir" = /mnt/k80 ] || where=" DEMO_DIR=$shown"
cat <<END

64 MiB went into die 0, die 3 took the slot, and die 0 gave them back unchanged.
Go on:   dd, cp, cat, python on $shown/dieN/vram;  cat $shown/die0/ctl;  man fusefs/k80fs.8
Stop:    make demo-stop$where
END
