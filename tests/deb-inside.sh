#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# In a fresh root with the packages in debs/ and later ones in debs/later/, see
# deb.sh. One line a result; ends at the first step that fails.
set -u -o pipefail
cd /root/debs || exit 1
log=/root/log
dir=/mnt/sim
packages=(k80fs libbarswap1 libbarswap-dev libk80mem1 libk80mem-dev
	python3-k80fs bar-swap-dkms)

ok() {
	echo "ok $1"
}

die() {
	tail -n 40 "$log"
	echo "not ok $1"
	exit 1
}

# step NAME COMMAND...: what it prints goes to the log
step() {
	local name=$1
	shift
	"$@" >"$log" 2>&1 || die "$name"
	ok "$name"
}

install_debs() {
	apt-get -qq -y install --no-install-recommends "$@"
}

same_version() {
	local version
	version=$(dpkg-deb -f k80fs_*.deb Version)
	k80fs --version | grep -F "$version"
}

round_trip() {
	mkdir -p "$dir" &&
		mount -t k80fs sim "$dir" -o sim_vram=64M,sim_swap_us=1000 &&
		head -c 8M /dev/urandom >data &&
		dd if=data of="$dir/die1/vram" bs=1M conv=fsync &&
		cmp -n 8388608 data "$dir/die1/vram"
}

example() {
	local flags
	printf '%s\n' '#include <barswap.h>' '#include <stdio.h>' \
		'int main(void) { puts(bs_version()); return 0; }' >e.c
	read -ra flags < <(pkg-config --cflags --libs barswap)
	gcc -o e e.c "${flags[@]}" && ./e
}

# it finds the library, and that what it maps is no file of k80fs
module_and_library() {
	local flags
	printf '%s\n' '#include <k80mem.h>' \
		'int main(void) { return !k80_map_path("/", 0, 0); }' >m.c
	read -ra flags < <(pkg-config --cflags --libs k80mem)
	gcc -o m m.c "${flags[@]}" && ./m &&
		python3 -c 'import ctypes, k80fs; ctypes.CDLL("libk80mem.so.1")'
}

built_for_headers() {
	local kernel
	for kernel in /lib/modules/*/build; do
		kernel=${kernel%/build}
		dkms status bar_swap -k "${kernel##*/}" | grep installed &&
			modinfo -k "${kernel##*/}" bar_swap | grep ^version: &&
			continue
		return 1
	done
}

# a dd that goes on for longer than the upgrade
upgraded_during_dd() {
	local reader
	for part in 0 1 2 3 4 5 6 7; do
		dd if="$dir/die1/vram" bs=1M skip=$part count=1 status=none
		[ $part -ne 3 ] || until [ -e upgraded ]; do sleep 0.1; done
	done >copy &
	reader=$!
	dpkg -i later/*.deb 2>&1 | tee upgrade.log
	touch upgraded
	wait "$reader" && cmp copy data && dpkg-query -W k80fs | grep +later
}

# refused in words while somebody is in it, and all is as before
purge_refused() {
	(cd "$dir/die0" && ! apt-get -qq -y purge k80fs) 2>&1 |
		tee purge.log &&
		cmp -n 8388608 data "$dir/die1/vram"
}

purged() {
	local file
	dpkg -L "${packages[@]}" |
		grep -vxF /. | sort -u >files
	apt-get -qq -y purge "${packages[@]}" || return 1
	! mountpoint "$dir" || return 1
	while read -r file; do
		[ -d "$file" ] || [ ! -e "$file" ] || echo "left: $file"
	done <files >left
	find / -xdev \( -path /root -o -path /proc -o -path /dev \) -prune -o \
		-iname '*bar_swap*' -print >>left
	cat left
	[ ! -s left ]
}

apt-get -qq update >"$log" 2>&1 || die "the archive"
step "install" install_debs ./k80fs_*.deb ./libbarswap*.deb ./libk80mem*.deb \
	./python3-k80fs_*.deb
step "the version" same_version
step "a round trip" round_trip
step "the group" getent group k80
step "headers of a kernel, a compiler" install_debs linux-headers-amd64 gcc libc6-dev pkgconf
step "a program with the library" example
step "the Python module" module_and_library
step "the module's source" install_debs ./bar-swap-dkms_*.deb
step "DKMS has built it" built_for_headers
step "an upgrade during a dd" upgraded_during_dd
step "it says what runs the old program" \
	grep -F "$dir is served by the version before" upgrade.log
step "DKMS has built the later one" built_for_headers
step "purge while in use is refused" purge_refused
step "it says so" grep -F 'what is mounted is in use' purge.log
step "purge" purged
