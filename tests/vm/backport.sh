#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Does the module build for a kernel whose vendor has taken vm_flags_set() over
# from a later one, and kept the version number? Needs the headers of the 6.1
# guest (fetch.sh 6.1), which lack it; silent if all is well.
set -euo pipefail

vm=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$vm/../.." && pwd)
kernel=${K80_CACHE:-$HOME/.cache/k80fs-vm}/kernel-6.1
rel=$(cat "$kernel/release")
src=$kernel/root/usr/src
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cp -as "$src/linux-headers-${rel%-amd64}-common" "$work/common"
cp -as "$src/linux-headers-$rel" "$work/headers"
rm "$work/headers/Makefile" "$work/common/include/linux/mm.h"
echo "include $work/common/Makefile" >"$work/headers/Makefile"
awk '/^static inline void vma_init\(/ {
	print "static inline void vm_flags_set(struct vm_area_struct *vma,"
	print "\t\t\t\tvm_flags_t flags)"
	print "{\n\tvma->vm_flags |= flags;\n}\n"
} { print }' "$src/linux-headers-${rel%-amd64}-common/include/linux/mm.h" \
	>"$work/common/include/linux/mm.h"
grep -q 'void vm_flags_set' "$work/common/include/linux/mm.h"
mkdir "$work/kmod"
cp -R "$top"/kmod/{Kbuild,uapi} "$top"/kmod/*.[ch] "$work/kmod/"
rm -f "$work"/kmod/*.mod.c
# the one file that uses it
make -s -C "$work/headers" M="$work/kmod" mmap.o
