#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A full device: ENOSPC, what was written is there, df and ls tell the truth
. "$(dirname "$0")/lib.sh"
VRAM=64M mount_mem
d=$(mem 0)
df_of() { df --output="$1" -B1 "$d" | tail -1 | tr -d ' '; }
expect_equal "$(df_of size) $(df_of avail)" "67108864 67108864" "df, empty"
random_file "$W/in" $((80 << 20))
expect_error "No space left" cp "$W/in" "$d/a"
n=$(stat -c %s "$d/a")
expect_equal "$n" 67108864 "bytes that were written"
cmp -n "$n" "$d/a" "$W/in"
expect_equal "$(df_of avail)" 0 "df, full"
expect_equal "$(($(stat -c %b "$d/a") * 512))" 67108864 "blocks"
# nothing is changed by what cannot be
expect_error "No space left" fallocate -l 4096 "$d/b"
t "$d/c" rw+creat "pwrite,0,1,7:ENOSPC"
expect_equal "$(stat -c '%s %b' "$d/b" "$d/c")" $'0 0\n0 0' "empty files"
t "$d/a" w+append "write,1,7:ENOSPC"
expect_equal "$(stat -c %s "$d/a")" 67108864 "length"
truncate -s 60M "$d/a"
expect_equal "$(df_of avail)" 4194304 "df after a cut"
# all of it or nothing
expect_error "No space left" fallocate -l 6M "$d/b"
expect_equal "$(stat -c '%s %b' "$d/b")" "0 0" "what could not be had"
fallocate -l 4M "$d/b"
cmp -n $((60 << 20)) "$d/a" "$W/in"
rm "$d"/*
freed 0
expect_equal "$(df_of avail)" 67108864 "df, empty again"

# a daemon finds its files on a device that is full
cp "$W/in" "$d/a" 2>/dev/null || :
unmount
mem_again
cmp -n 67108864 "$d/a" "$W/in"
