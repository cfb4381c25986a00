#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The Debian packages: built, looked at by lintian, and in fresh roots of Debian
# installed, used, upgraded during a dd, refused while in use, and purged.
#
#   deb.sh [RELEASE...]      (default: bookworm)
#
# Ends with: N passed, N failed, N skipped
set -u
top=$(cd "$(dirname "$0")/.." && pwd)
cd "$top" || exit 1
# shellcheck source=tests/rootlib.sh
. "$top/tests/rootlib.sh"
root_can_be_made || exit
[ $# -gt 0 ] || set -- bookworm
base=$(mktemp -d "${TMPDIR:-/var/tmp}/k80deb.XXXXXX")
trap 'rm -rf --one-file-system "$base"' EXIT
passed=0
failed=0

# tell NAME RC: one result; what was printed for it is in $base/log
tell() {
	if [ "$2" -eq 0 ]; then
		passed=$((passed + 1))
		echo "ok $1"
	else
		failed=$((failed + 1))
		echo "not ok $1"
		tail -n 30 "$base/log" | sed 's/^/    /'
	fi
}

# newer DEB DIR: the same package as of a later version
newer() {
	local tree=$2/tree version control
	dpkg-deb -R "$1" "$tree" || return
	version=$(dpkg-deb -f "$1" Version)
	control=$(<"$tree/DEBIAN/control")
	printf '%s\n' "${control//"$version"/$version+later}" \
		>"$tree/DEBIAN/control"
	dpkg-deb -b "$tree" "$2" && rm -rf "$tree"
}

make deb >"$base/log" 2>&1
tell "make deb" $?
lintian --fail-on error,warning build/deb/*.changes >"$base/log" 2>&1
tell "lintian" $?
mkdir "$base/debs" "$base/debs/later"
cp build/deb/*.deb "$base/debs/" || exit 1
rm -f "$base"/debs/*dbgsym*
for deb in "$base"/debs/*.deb; do
	newer "$deb" "$base/debs/later" >"$base/log" 2>&1 ||
		tell "a later version of ${deb##*/}" 1
done

# shellcheck disable=SC2016 # for the inner shell
inside='
set -eu
root=$1
mount --make-rprivate /
"$2" "$root"
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
exec chroot "$root" env -i HOME=/root TERM=dumb DEBIAN_FRONTEND=noninteractive \
	PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
	bash /root/deb-inside.sh'

for release; do
	root=$base/$release
	root_make "$root" "$release" >"$base/log"
	tell "$release: a root" $? || continue
	mkdir "$root/root/debs"
	cp -r "$base/debs/." "$root/root/debs/"
	cp tests/deb-inside.sh "$root/root/"
	while IFS= read -r line; do
		case $line in
		'ok '*)
			passed=$((passed + 1))
			echo "ok $release: ${line#ok }"
			;;
		'not ok '*)
			failed=$((failed + 1))
			echo "not ok $release: ${line#not ok }"
			;;
		*) echo "    $line" ;;
		esac
	done < <(unshare -mpf --kill-child bash -c "$inside" bash "$root" \
		"$top/tests/drop-mounts.sh" 2>&1 </dev/null ||
		echo "not ok all of it")
	rm -rf --one-file-system "$root"
done
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
