#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `make check` as a newcomer starts it on another system: in fresh roots of
# Debian, made with debootstrap from the archive that this machine's apt uses.
#
#   roots.sh [-k] [NAME...]      (default: all)
#
# NAME: debian12 debian13      a root with this machine's /dev and /sys
#       container12 container13  as a container has it: a small /dev, /sys and
#                              /proc/sys read-only, no FUSE folder in /sys
# Each is a minimal root, so what is missing is installed as on any machine. The
# tree lies in /root, which only root enters. -k keeps the roots; the packages
# of the VM are shared with this machine's cache.
# Ends with: N passed, N failed, N skipped
set -u
top=$(cd "$(dirname "$0")/.." && pwd)
keep=
cache=${K80_CACHE:-$HOME/.cache/k80fs-vm}

[ "${1:-}" != -k ] || {
	keep=1
	shift
}
[ $# -gt 0 ] || set -- debian12 debian13 container12 container13
# shellcheck source=tests/rootlib.sh
. "$top/tests/rootlib.sh"
root_can_be_made || exit
base=$(mktemp -d "${TMPDIR:-/var/tmp}/k80roots.XXXXXX")
trap '[ -n "$keep" ] || rm -rf --one-file-system "$base"' EXIT

# What runs in the namespaces of a root: mounts, then the test run in it.
# ROOT KIND CACHE DROP-MOUNTS
# shellcheck disable=SC2016 # for the inner shell
inside='
set -eu
root=$1 kind=$2
mount --make-rprivate /
"$4" "$root"
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
case $kind in
debian)
	mount --rbind /dev "$root/dev"
	mount --rbind /sys "$root/sys"
	;;
container)
	mount -t tmpfs tmpfs "$root/dev"
	for n in null zero full random urandom tty fuse loop-control; do
		[ ! -e "/dev/$n" ] || cp -a "/dev/$n" "$root/dev/"
	done
	ln -s /proc/self/fd "$root/dev/fd"
	mkdir "$root/dev/pts" "$root/dev/shm"
	mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
	ln -s pts/ptmx "$root/dev/ptmx"
	mount -t tmpfs tmpfs "$root/dev/shm"
	mount -t sysfs -o ro sysfs "$root/sys"
	mount -t tmpfs -o ro tmpfs "$root/sys/fs"
	mount --bind "$root/proc/sys" "$root/proc/sys"
	mount -o remount,bind,ro "$root/proc/sys"
	;;
esac
if [ -d "$3" ]; then
	mkdir -p "$root/root/.cache/k80fs-vm"
	mount --bind "$3" "$root/root/.cache/k80fs-vm"
fi
exec chroot "$root" env -i HOME=/root TERM=dumb CI="${CI:-}" \
	PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
	sh -c "apt-get -qq update && apt-get -qq -y install \
		--no-install-recommends make >/dev/null 2>&1 &&
		make -C /root/k80fs check"
'

# with_tree DIR: this tree lies in it, where only root enters
with_tree() {
	mkdir "$1/root/k80fs"
	tar -C "$top" -cf - --exclude=./build --exclude='./build-*' \
		--exclude=./.git . | tar -C "$1/root/k80fs" -xf -
}

passed=0
failed=0
skipped=0
for name; do
	root=$base/$name
	case $name in
	*12) release=bookworm ;;
	*) release=trixie ;;
	esac
	echo "# $name: $release, in $root"
	if ! root_make "$root" "$release" || ! with_tree "$root"; then
		echo "not ok $name: the root cannot be made"
		failed=$((failed + 1))
		continue
	fi
	unshare -mpf --kill-child bash -c "$inside" bash "$root" "${name%1?}" \
		"$cache" "$top/tests/drop-mounts.sh" 2>&1 </dev/null | tee "$base/log" | sed -u "s/^/$name | /"
	read -r p _ f _ s _ < <(grep -E '^[0-9]+ passed, ' "$base/log" |
		tail -n 1)
	[[ ${p:-} =~ ^[0-9]+$ ]] || {
		echo "not ok $name: make check broke off"
		p=0 f=1 s=0
	}
	passed=$((passed + p))
	failed=$((failed + f))
	skipped=$((skipped + s))
	[ -n "$keep" ] || rm -rf --one-file-system "$root"
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
