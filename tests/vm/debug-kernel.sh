#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Build a guest kernel with KASAN, lockdep, kmemleak and the like, which no
# Debian kernel has, from Debian's linux-source-6.1. Then:
#
#   modules.sh debug && run.sh -k debug load swaps stale remove fuzz
#
# Takes about ten minutes on two idle cores and 3 GB, once: it is kept in the
# cache folder ($K80_CACHE, default ~/.cache/k80fs-vm). Needs the packages
# linux-source-6.1 bison flex libelf-dev libssl-dev bc.
set -euo pipefail

vm=$(cd "$(dirname "$0")" && pwd)
cache=${K80_CACHE:-$HOME/.cache/k80fs-vm}
tree=$cache/kernel-debug
source=/usr/src/linux-source-6.1.tar.xz

[ ! -e "$tree/ok" ] || exit 0
if [ ! -e $source ]; then
	echo "debug-kernel.sh: no $source: apt-get install linux-source-6.1" \
		"bison flex libelf-dev libssl-dev bc" >&2
	exit 1
fi
rm -rf "$tree"
mkdir -p "$tree/source" "$tree/modules"
tar -C "$tree/source" --strip-components=1 -xf $source
make -s -C "$tree/source" O="$tree/headers" tinyconfig
cd "$tree/headers"
"$tree/source/scripts/kconfig/merge_config.sh" -m -O . .config \
	"$vm/debug.config" >merge.log
make -s olddefconfig
# what a newer kernel does not know or cannot have is dropped in silence
lost=$(grep -E '^CONFIG_.*=[^n]' "$vm/debug.config" | grep -vxFf .config || :)
if [ -n "$lost" ]; then
	printf 'debug-kernel.sh: not in this kernel:\n%s\n' "$lost" >&2
	exit 1
fi
make -s -j"$(nproc)" bzImage modules
# not the bare vmlinux: what that starts at touches KASAN's shadow too early
cp arch/x86/boot/bzImage "$tree/vmlinux"
find . -name '*.ko' -exec cp -t "$tree/modules" {} +
make -s kernelrelease >"$tree/release"
touch "$tree/ok"
