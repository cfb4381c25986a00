#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Nothing can be made, removed or renamed: EPERM (EACCES for others)
. "$(dirname "$0")/lib.sh"
mount_sim
chmod 755 "$W"

refuse() {
	local e=$1 dir
	shift
	for dir in "$M" "$M/die0" "$M/by-bdf"; do
		"$@" "$BIN/tool" "$dir/new" path "mkdir:$e" "mknod:$e" "creat:$e" \
			"symlink,to:$e"
	done
	"$@" "$BIN/tool" "$M/die0/vram" path "unlink:$e" \
		"rename,$M/die0/new:$e" "rename,$M/die0/ctl:$e"
	"$@" "$BIN/tool" "$M/die0" path "rmdir:$e" "rename,$M/new:$e"
	"$@" "$BIN/tool" "$M/by-bdf/$(status 0 bdf)" path "unlink:$e"
}
before=$(find "$M" | sort)
refuse EPERM
t "$M/die0/vram" path "link,$M/die0/new:EPERM"
expect_error "Operation not permitted" rm "$M/die0/vram"
expect_error "Operation not permitted" mkdir "$M/x"
expect_error "Operation not permitted" busybox rm "$M/die0/vram"
if [ "$(id -u)" = 0 ]; then
	BIN=$(dirname "$(for_anyone "$BIN/tool")")
	refuse EACCES setpriv --reuid=65534 --regid=65534 --clear-groups
fi
expect_equal "$(find "$M" | sort)" "$before" "the tree afterwards"
