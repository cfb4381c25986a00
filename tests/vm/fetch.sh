#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Fetch what the rig needs from Debian's archive into the cache folder:
# QEMU 11.1 with its libraries, guest kernels, their headers, a busybox, servers
# and clients of NFS and NBD.
#
#   fetch.sh qemu|6.1|6.12 ...    (default: all three)
#
# Nothing is installed: packages are unpacked under $K80_CACHE (default
# ~/.cache/k80fs-vm). What is there is kept, so a second call takes no time;
# remove the folder to get newer packages. The archive's address comes from
# apt's own configuration.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
cache=${K80_CACHE:-$HOME/.cache/k80fs-vm}
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
apt=$cache/apt

die()
{
	echo "fetch.sh: $*" >&2
	echo "fetch.sh: the VM tests need Debian packages through apt;" \
		"without them they cannot run" >&2
	exit 1
}

# Our own apt state with an empty package database: its solver then lists
# every library that QEMU needs, whatever this machine has installed.
apt_setup()
{
	local main sec release=trixie uris

	[ -z "${apt_ready:-}" ] || return 0
	# shellcheck disable=SC2016 # apt's variables
	uris=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE)' \
		'Created-By: Packages') || die "apt-get indextargets failed"
	main=$(awk '$2 ~ /^[a-z]+$/ && $1 ~ /\/debian\/?$/ {print $1; exit}' \
		<<<"$uris")
	sec=$(awk '$2 ~ /-security$/ {print $1; exit}' <<<"$uris")
	[ -n "$main" ] || die "no Debian archive in apt's configuration"
	mkdir -p "$apt"/{lists/partial,cache/archives/partial,parts}
	: >"$apt/status"
	{
		for suite in bookworm bookworm-backports \
			$release $release-backports; do
			echo "deb [signed-by=$keyring] $main $suite main"
		done
		[ -z "$sec" ] ||
			echo "deb [signed-by=$keyring] $sec bookworm-security main"
	} >"$apt/sources.list"
	X=(-o "Dir::Etc::sourcelist=$apt/sources.list"
		-o "Dir::Etc::sourceparts=$apt/parts"
		-o "Dir::State::lists=$apt/lists"
		-o "Dir::State::status=$apt/status"
		-o "Dir::Cache=$apt/cache" -o APT::Sandbox::User=root
		-o Acquire::Retries=3 -qq)
	apt-get "${X[@]}" update || die "apt-get update failed"
	apt_ready=1
}

# download PACKAGE... into the folder $1; PACKAGE may be NAME/SUITE
download()
{
	local dir=$1

	shift
	mkdir -p "$dir"
	(cd "$dir" && apt-get "${X[@]}" download "$@") ||
		die "apt-get download $* failed"
}

# fetch_tree NAME SUITE PACKAGE...: $cache/NAME is these with their libraries
fetch_tree()
{
	local tree=$cache/$1 tmp=$cache/$1.tmp suite=$2 deb

	[ ! -e "$tree/ok" ] || return 0
	shift 2
	echo "fetching $*" >&2
	apt_setup
	rm -rf "$tree" "$tmp"
	mkdir -p "$tmp"
	apt-get "${X[@]}" -y --download-only --no-install-recommends \
		-t "$suite" install "$@" || die "$* of $suite failed"
	for deb in "$apt"/cache/archives/*.deb; do
		dpkg -x "$deb" "$tmp"
	done
	rm -f "$apt"/cache/archives/*.deb
	rm -rf "$tmp/usr/share/"{doc,man,locale}
	touch "$tmp/ok"
	mv "$tmp" "$tree"
}

# unpack program $2 (a path in package $1 of bookworm) to $cache/bin
fetch_program()
{
	local tmp=$cache/bin.tmp

	[ ! -x "$cache/bin/${2##*/}" ] || return 0
	apt_setup
	rm -rf "$tmp"
	download "$tmp" "$1/bookworm"
	dpkg -x "$tmp"/*.deb "$tmp/root"
	mkdir -p "$cache/bin"
	cp "$tmp/root/$2" "$cache/bin/"
	rm -rf "$tmp"
}

# newest kernel of series $1 that has both an image and headers: "REL IMAGE"
kernel_pick()
{
	local names rel image

	names=$(apt-cache "${X[@]}" pkgnames linux-)
	case $1 in
	6.1)	rel='6\.1\.0-[0-9]+-amd64' ;;
	6.12)	rel='6\.12\.[0-9]+\+deb12-amd64' ;;
	*)	die "no such guest kernel: $1" ;;
	esac
	while read -r rel; do
		rel=${rel#linux-headers-}
		for image in "linux-image-$rel" "linux-image-$rel-unsigned"; do
			if grep -qx "$image" <<<"$names"; then
				echo "$rel $image"
				return
			fi
		done
	done < <(grep -Ex "linux-headers-$rel" <<<"$names" | sort -rV)
	die "no linux-image of series $1 with headers in the archive"
}

# the modules the guest loads, and those the jobs use
kernel_modules()
{
	local d=./lib/modules/${1:-*}/kernel

	printf '%s\n' "$d/drivers/virtio" "$d/net/9p" "$d/fs/9p" \
		"$d/fs/netfs" "$d/fs/fscache" "$d/fs/fuse" "$d/fs/overlayfs" \
		"$d/drivers/pci/pci-stub.ko*" "$d/drivers/char/hw_random" \
		"$d/drivers/block/loop.ko*" "$d/drivers/block/nbd.ko*" \
		"$d/fs/nfs" "$d/fs/nfsd" "$d/fs/nfs_common" "$d/fs/lockd" \
		"$d/net/sunrpc" "$d/net/dns_resolver" "$d/fs/ext4" \
		"$d/fs/jbd2" "$d/fs/mbcache.ko*" "$d/lib/crc16.ko*" \
		"$d/crypto/crc32c_generic.ko*" "$d/lib/libcrc32c.ko*"
}

fetch_kernel()
{
	local tree=$cache/kernel-$1 tmp=$cache/kernel-$1.tmp
	local rel image abi kbuild deb

	# one of before a module was added to the list lacks it
	[ "$(cat "$tree/ok" 2>/dev/null)" != "$(kernel_modules)" ] || return 0
	echo "fetching guest kernel $1" >&2
	apt_setup
	read -r rel image < <(kernel_pick "$1")
	[ -n "$rel" ] || exit 1
	abi=${rel%-amd64}
	rm -rf "$tmp"
	case $1 in
	6.1)	kbuild=linux-kbuild-6.1 ;;
	*)	kbuild=linux-kbuild-$abi ;;
	esac
	download "$tmp/deb" "$image" "linux-headers-$rel" \
		"linux-headers-$abi-common" "$kbuild"
	for deb in "$tmp"/deb/linux-{headers,kbuild}*.deb; do
		dpkg -x "$deb" "$tmp/root"
	done
	# what a series has built in is not in its package: no error
	dpkg-deb --fsys-tarfile "$tmp"/deb/linux-image-*.deb |
		tar -C "$tmp/root" -x --wildcards "./boot/vmlinuz-$rel" \
			--files-from <(kernel_modules "$rel") 2>/dev/null || :
	[ -e "$tmp/root/boot/vmlinuz-$rel" ] || die "$image has no vmlinuz"
	# the headers' Makefile names its installed place
	sed -i "s,^include /usr/src/,include $tree/root/usr/src/," \
		"$tmp/root/usr/src/linux-headers-$rel/Makefile"
	python3 "$here/vmlinux.py" "$tmp/root/boot/vmlinuz-$rel" \
		"$tmp/vmlinux" || die "cannot unpack vmlinuz of $image"
	find "$tmp/root/lib/modules" -name '*.ko.xz' -exec \
		"$cache/bin/busybox" unxz {} +
	rm -rf "$tmp/deb"
	echo "$rel" >"$tmp/release"
	ln -s "root/usr/src/linux-headers-$rel" "$tmp/headers"
	ln -s "root/lib/modules/$rel/kernel" "$tmp/modules"
	kernel_modules >"$tmp/ok"
	# somebody may be building with the one of before
	rm -rf "$tree.old"
	[ ! -e "$tree" ] || mv "$tree" "$tree.old"
	mv "$tmp" "$tree"
	rm -rf "$tree.old"
}

mkdir -p "$cache"
[ $# -gt 0 ] || set -- qemu 6.1 6.12
# two runners may start at once
exec 9>"$cache/lock"
flock 9
PATH=$PATH:$cache/bin
fetch_program busybox-static bin/busybox
command -v zstd >/dev/null || fetch_program zstd usr/bin/zstd
for what; do
	case $what in
	qemu)	fetch_tree qemu trixie-backports qemu-system-x86 seabios
		fetch_tree net trixie nfs-kernel-server nbd-client
		fetch_program acpica-tools usr/bin/iasl ;;
	*)	fetch_kernel "$what" ;;
	esac
done
# package files and lists are of no use once unpacked
rm -rf "$apt"
