#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# kill -9 of k80fs, of a program with a mapping, and a descriptor of the mount
# sent to k80fs before it is killed: nothing hangs, no byte is lost
. "$(dirname "$0")/lib.sh"
VRAM=256M mount_mem
d=$(mem 0)
total=$(number 0 memory_total)
random_file "$W/data" 3000000
cp "$W/data" "$d/x"
prog a
prog b
expect_equal "$(ask a map "$d/x" write)" "ok 3000000"
expect_equal "$(ask b map "$d/x")" "ok 3000000"

# a program is killed: the other one and the file go on
ask a write 100 deadbeef
prog_end a KILL
expect_equal "$(ask b read 100 4)" "ok deadbeef"
cmp -n 100 "$W/data" "$d/x"

# k80fs is killed: the program goes on, and the file is the same memory
# afterwards
mem_kill
expect_equal "$(ask b read 100 4)" "ok deadbeef"
mem_again
expect_equal "$(ask b read 100 4)" "ok deadbeef"
cmp -n 100 "$W/data" "$d/x"
prog a
expect_equal "$(ask a map "$d/x" write)" "ok 3000000"
ask a write 200 12345678
expect_equal "$(ask b read 200 4)" "ok 12345678"
expect_equal "$(dd if="$d/x" bs=1 skip=200 count=4 status=none | od -An -tx1)" \
	" 12 34 56 78"

# what is sent to its socket it lets go of: one of its own mount, held at its
# death, would make that hang for good
for i in 1 2 3; do
	python_mem - "$d/x" "$(root_status mem_share)" <<'P'
import array, os, socket, sys
path, where = sys.argv[1:]
ask = (0x6b38306d).to_bytes(4, "little") + bytes(20)
for data in ask, b"x", ask * 2:
    fds = array.array("i", [os.open(path, os.O_RDWR) for _ in range(100)])
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
        s.connect(where)
        s.sendmsg([data], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, fds)])
        s.recv(100)
    for fd in fds:
        os.close(fd)
# and one that nobody has read yet
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.connect(where)
s.sendmsg([ask], [(socket.SOL_SOCKET, socket.SCM_RIGHTS,
                   array.array("i", [os.open(path, os.O_RDWR)]))])
P
	for fd in "/proc/$(daemon_pid)/fd"/*; do
		[[ $(readlink "$fd") != "$M"/* ]] ||
			fail "k80fs has $(readlink "$fd") open"
	done
	soon mem_kill
	mem_again
	soon cmp -n 100 "$W/data" "$d/x"
done
sockets=("$W"/share.*)
expect_equal "${#sockets[@]}" 1 "sockets in the folder"
prog_end a
prog_end b
rm "$d/x"
wait_status 0 memory_free "$total"
unmount
[ ! -e "${sockets[0]}" ] || fail "its socket is left"
