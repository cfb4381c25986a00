#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# fsname= is the source in /proc/mounts, commas, blanks and backslashes and all
. "$(dirname "$0")/lib.sh"
need_root "to see the name as it was given"
need_cmd findmnt
mount_sim
expect_equal "$(findmnt -n -o SOURCE -M "$M")" k80fs
unmount
# name_at DIR: the source as it is, without the kernel's escapes
name_at() {
	printf %b "$(awk -v m="$1" '$2 == m { print $1 }' /proc/self/mounts)"
}
while read -r given want; do
	mount_sim "fsname=$given" default_permissions nosymfollow
	expect_equal "$(name_at "$M")" "$want" "source of $given"
	unmount
done <<'N'
gpus gpus
a#b a#b
a\,b a,b
a\\\\b a\\b
N
mount_sim "fsname=a b"
expect_equal "$(name_at "$M")" "a b"
