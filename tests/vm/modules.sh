#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Build bar_swap and the test modules for guest kernels.
#
#   modules.sh 6.1|6.12...
#
# Each kernel gets copies of the sources under build/vm, so that two builds
# never mix. $KMOD: another source folder; $KMOD_MAKE: more make arguments.
set -euo pipefail

vm=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$vm/../.." && pwd)
build=${B:-$top/build/vm}
cache=${K80_CACHE:-$HOME/.cache/k80fs-vm}

# build SOURCE DIR KERNEL [MAKE-ARGUMENT...]
build()
{
	local src=$1 dir=$2 hdr=$cache/kernel-$3/headers cc

	shift 3
	# the kernel's own compiler, or what this system has
	cc=$(grep -oE 'gcc-[0-9]+$' "$hdr/.kernelvariables" 2>/dev/null) || :
	[ -z "$cc" ] || command -v "$cc" >/dev/null || set -- "$@" CC=gcc
	mkdir -p "$dir"
	# sources alone: what was built there is for another kernel
	(cd "$src" && find . \( -name '*.[ch]' ! -name '*.mod.c' -o -name Kbuild \
		-o -name Makefile \) -exec cp -pu --parents -t "$dir" {} +)
	# module BTF would need pahole and the kernel's own image
	make -s -j"$(nproc)" -C "$hdr" M="$dir" CONFIG_DEBUG_INFO_BTF_MODULES= "$@" modules
}

for kernel; do
	rel=$(cat "$cache/kernel-$kernel/release")
	build "$vm/guest/mod" "$build/mod-$rel" "$kernel"
	# shellcheck disable=SC2086 # words
	build "${KMOD:-$top/kmod}" "$build/kmod-$rel" "$kernel" ${KMOD_MAKE:-}
done
