#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The tests that become other users or look at the machine, once more where a
# tree may well be: below a folder that only root enters (/root, where root
# clones by default), and in a container that has neither a list of mounts in
# /etc nor FUSE's folder in /sys.
# Ends with: N passed, N failed, N skipped
set -u
top=$(cd "$(dirname "$0")/.." && pwd)

[ "$(id -u)" -eq 0 ] || {
	echo 'other users and namespaces need root'
	exit 77
}
place=$(mktemp -d "${TMPDIR:-/var/tmp}/k80places.XXXXXX")
trap 'rm -rf --one-file-system "$place"' EXIT
passed=0
failed=0
skipped=0

# in_place NAME COMMAND...: adds up what it counted
in_place() {
	local name=$1 rc p f s

	shift
	"$@" 2>&1 | tee "$place/log" | sed -uE "s/^(ok|not ok|skip) /&$name: /"
	rc=${PIPESTATUS[0]}
	read -r p _ f _ s _ < <(tail -n 1 "$place/log")
	if [[ $p$f$s =~ ^[0-9]+$ ]]; then
		passed=$((passed + p))
		failed=$((failed + f))
		skipped=$((skipped + s))
	fi
	if [ "$rc" -ne 0 ] && [ "${f:-0}" = 0 ]; then
		echo "not ok $name: $* broke off"
		failed=$((failed + 1))
	fi
}

# what is run and built, without its history and its other builds
mkdir -m 700 "$place/private"
tar -C "$top" -cf - --exclude=./.git --exclude='./build-*' \
	--exclude=./build/vm --exclude='*.o' . | tar -C "$place/private" -xf - ||
	exit 1
chmod 700 "$place/private"
cd "$place/private" || exit 1
in_place private tests/mount/run.sh mount_user tree_fixed tree_permissions
in_place private tests/helpers/run.sh check_mount.sh check_umount.sh

# shellcheck disable=SC2016 # for the inner shell
container='
tests/drop-mounts.sh "$1"
mount -t tmpfs tmpfs /sys/fs
mkdir "$1/etc" && cp -a /etc/. "$1/etc/" && rm -f "$1/etc/mtab" "$1/etc/fuse.conf" &&
	mount --bind "$1/etc" /etc || exit 1
shift
exec "$@"'
for run in "tests/mount/run.sh mount_" "tests/helpers/run.sh check_umount.sh"; do
	# shellcheck disable=SC2086 # words
	in_place container unshare -m bash -c "$container" bash "$place" \
		$run
	rm -rf "${place:?}/etc"
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
