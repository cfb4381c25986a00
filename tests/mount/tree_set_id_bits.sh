#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A write, a truncation or a new owner takes the set-id bits away, as on any
# file; root's write does not
. "$(dirname "$0")/lib.sh"
need_root "to be a stranger, and to change owners"
need_cmd setpriv
mount_sim
chmod 755 "$W"
v=$(die 0)/vram

as_stranger() {
	setpriv --reuid=65534 --regid=65534 --clear-groups sh -c "$1" sh "$v"
}

expect_mode() {
	expect_equal "$(stat -c %a "$v")" "$1" "mode after $2"
}

chmod 6777 "$v"
printf x | dd of="$v" conv=notrunc status=none
expect_mode 6777 "root's write"
# shellcheck disable=SC2016 # for the inner shell
as_stranger 'printf x 1<>"$1"'
expect_mode 777 "a stranger's write"
chmod 6777 "$v"
# shellcheck disable=SC2016
as_stranger 'fallocate -p -o 0 -l 4096 "$1"'
expect_mode 777 "a stranger's punch"
chmod 6777 "$v"
# shellcheck disable=SC2016
as_stranger ': >"$1"'
expect_mode 777 "a stranger's truncation"
chmod 6777 "$v"
chown 65534 "$v"
expect_mode 777 "a new owner"
# mandatory locking, once
chmod 2767 "$v"
# shellcheck disable=SC2016
as_stranger 'printf x 1<>"$1"'
expect_mode 2767 "a write without execution by the group"
