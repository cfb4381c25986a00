#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Build bar_swap for kernels that this release does not carry, each in a
# chroot of its own: the headers' own tools need their release's libraries.
#
#   check-kernels.sh [-d DIR] [SUITE...]
#
# SUITE is one of bullseye (5.10), trixie (6.12), trixie-backports (7.x);
# default all. Chroots are kept in DIR (default /var/tmp/bar_swap-kernels).
# Needs root and mmdebstrap; the archive comes from apt's own configuration.
# Prints "ok KERNEL" or "not ok KERNEL" a kernel; a warning is a failure.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
dir=/var/tmp/bar_swap-kernels
failed=0

while getopts d: opt; do
	case $opt in
	d)	dir=$OPTARG ;;
	*)	sed -n '6,11s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
	esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || set -- bullseye trixie trixie-backports

# shellcheck disable=SC2016 # apt's variables
uris=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE)' \
	'Created-By: Packages')
main=$(awk '$2 ~ /^[a-z]+$/ {print $1; exit}' <<<"$uris")
[ -n "$main" ] || { echo "no Debian archive in apt's configuration" >&2; exit 1; }

# make_root SUITE: a chroot with the headers of that suite's kernel
make_root()
{
	local suite=$1 release=${1%%-*} root=$dir/$1 tmp=$dir/$1.tmp
	local -a lines=("deb $main $release main")

	[ ! -e "$root/ok" ] || return 0
	[ "$suite" = "$release" ] || lines+=("deb $main $suite main")
	rm -rf "$root" "$tmp"
	mkdir -p "$dir"
	# shellcheck disable=SC2016 # the hook's $1
	mmdebstrap --quiet --variant=apt \
		--aptopt='Acquire::Check-Valid-Until "false"' \
		--aptopt='APT::Install-Recommends "false"' \
		--customize-hook="chroot \"\$1\" apt-get -qq -y -o Dpkg::Use-Pty=0 -t $suite \
			install linux-headers-amd64 make binutils perl" \
		"$release" "$tmp" "${lines[@]}"
	touch "$tmp/ok"
	mv "$tmp" "$root"
}

# build SUITE: the module against every kernel of the chroot; objtool of 7.x
# wants /proc
build()
{
	local root=$dir/$1 said rel

	for rel in "$root"/lib/modules/*/; do
		rel=$(basename "$rel")
		rm -rf "$root/kmod"
		mkdir "$root/kmod"
		cp -R "$here"/{Kbuild,uapi} "$here"/*.[ch] "$root/kmod/"
		rm -f "$root"/kmod/*.mod.c
		# shellcheck disable=SC2016 # the inner shell expands
		if said=$(unshare --mount --pid --fork sh -c \
			'mount -t proc proc "$1/proc" && exec chroot "$1" \
			make -s -C "/lib/modules/$2/build" M=/kmod W=1 modules' \
			sh "$root" "$rel" 2>&1) &&
			[ -e "$root/kmod/bar_swap.ko" ] &&
			! grep -q 'warning:' <<<"$said"; then
			echo "ok $rel"
		else
			echo "not ok $rel"
			printf '%s\n' "$said" | sed 's/^/# /'
			failed=1
		fi
	done
}

for suite; do
	make_root "$suite"
	build "$suite"
done
exit $failed
