#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The group makes files, nobody removes those of others; rights are the kernel's
. "$(dirname "$0")/lib.sh"
need_root "it becomes other users"
need_cmd setpriv
DIES=1 mount_mem uid=0,gid=1234,umask=0
d=$(mem 0)
expect_equal "$(stat -c '%u %g %a' "$d")" "0 1234 1775" "the folder"
as() { # UID GROUPS COMMAND...
	setpriv --reuid "$1" --regid "$1" --groups "$2" "${@:3}"
}
expect_error "ermission denied" as 2001 2001 touch "$d/no"
as 2001 1234 sh -c "umask 027; echo mine >$d/a"
expect_equal "$(stat -c '%u %g %a' "$d/a")" "2001 2001 640" "a file of a member"
expect_error "ermission denied" as 2002 1234 cat "$d/a"
expect_error "not permitted" as 2002 1234 rm -f "$d/a"
expect_error "not permitted" as 2002 1234 mv "$d/a" "$d/b"
expect_error "not permitted" as 2002 1234 chmod 777 "$d/a"
as 2001 1234 chmod 644 "$d/a"
expect_equal "$(as 2002 1234 cat "$d/a")" mine "after chmod"
chown 2002 "$d/a"
as 2002 1234 mv "$d/a" "$d/b"
# a write by anybody but root takes the set-id bits
chmod 6755 "$d/b"
as 2002 1234 sh -c "echo more >>$d/b"
expect_equal "$(stat -c %a "$d/b")" 755 "set-id bits after a write"
# chmod and chown of the folder
chgrp 2001 "$d"
chmod 2770 "$d"
expect_equal "$(stat -c '%g %a' "$d")" "2001 2770" "the folder after chmod"
as 2001 2001 touch "$d/c"
expect_error "ermission denied" as 2002 1234 ls "$d"
as 2003 2001,2003 touch "$d/of-the-folder"
expect_equal "$(stat -c '%u %g' "$d/of-the-folder")" "2003 2001" "set-gid folder"
