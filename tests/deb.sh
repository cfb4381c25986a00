#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The Debian packages: built, looked at by lintian, and in fresh roots of Debian
# installed, used, upgraded during a dd, refused while in use, and purged. In a
# root of another release than this machine's, which has other libraries, they are
# built anew.
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
	return "$2"
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
# later_too DIR: beside the packages there, later ones in DIR/later
later_too() {
	mkdir "$1/later"
	rm -f "$1"/*dbgsym*
	for deb in "$1"/*.deb; do
		newer "$deb" "$1/later" >"$base/log" 2>&1 ||
			tell "a later version of ${deb##*/}" 1
	done
}

mkdir "$base/debs"
cp build/deb/*.deb "$base/debs/" || exit 1
later_too "$base/debs"

# shellcheck disable=SC2016 # for the inner shell
inside='
set -eu
root=$1
mount --make-rprivate /
"$2" "$root"
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
shift 2
exec chroot "$root" env -i HOME=/root TERM=dumb DEBIAN_FRONTEND=noninteractive \
	PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"'

# inside ROOT COMMAND...: in that root, with namespaces of its own
inside() {
	local root=$1
	shift
	unshare -mpf --kill-child bash -c "$inside" bash "$root" \
		"$top/tests/drop-mounts.sh" "$@" 2>&1 </dev/null
}

# built_there ROOT: the packages as ROOT's release makes them, to ROOT/root/debs
built_there() {
	mkdir "$1/root/src" "$1/root/debs" &&
		git ls-files -z --cached --others --exclude-standard |
		tar -c --null -T - | tar -x -C "$1/root/src" &&
		inside "$1" bash -euc 'cd /root/src
			apt-get -qq update
			apt-get -qq -y install --no-install-recommends make
			make deb' &&
		cp "$1"/root/src/build/deb/*.deb "$1/root/debs/" &&
		rm -rf "$1/root/src"
}

own=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)

for release; do
	root=$base/$release
	root_make "$root" "$release" >"$base/log"
	tell "$release: a root" $? || continue
	if [ "$release" = "$own" ]; then
		cp -r "$base/debs" "$root/root/"
	else
		built_there "$root" >"$base/log"
		tell "$release: make deb" $? || continue
		later_too "$root/root/debs"
	fi
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
	done < <(inside "$root" bash /root/deb-inside.sh ||
		echo "not ok all of it")
	rm -rf --one-file-system "$root"
done
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
