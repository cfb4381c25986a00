#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Who may map a file: whoever may read and write it, and nothing else is mapped
. "$(dirname "$0")/lib.sh"
need_root "it becomes another user"
VRAM=256M mount_mem allow_other
d=$(mem 0)
echo abc >"$d/x"
prog a

# refused PATH ERRNO TEXT
refused() {
	local answer
	answer=$(ask a map "$1")
	[[ $answer = "error $2 "*"$3"* ]] ||
		fail "of $1: '$answer', wanted $2 '$3'"
}
expect_equal "$(ask a map "$d/x")" "ok 4"
echo abc >"$W/x"
refused "$W/x" ENOTTY "not a file of k80fs"
refused "$M/status" EACCES ""
refused "$M/die0/ctl" ENOTTY "dieN/mem"
refused "$d" EISDIR ""
refused "$d/none" ENOENT ""
prog_end a

# the library asks for reading and writing; the file tells which way it is open
python_mem - "$d/x" <<'P'
import ctypes, errno, fcntl, os, sys
import k80fs
SHARE = 2 << 30 | 144 << 16 | ord("8") << 8 | 0x53
WHERE = 2 << 30 | 24 << 16 | ord("8") << 8 | 0x54
for flags in os.O_RDONLY, os.O_WRONLY:
    fd = os.open(sys.argv[1], flags)
    fcntl.ioctl(fd, WHERE, bytearray(24))
    try:
        fcntl.ioctl(fd, SHARE, bytearray(144))
        sys.exit(f"shared with {flags}")
    except OSError as error:
        assert error.errno == errno.EACCES, error
    os.close(fd)
fd = os.open(sys.argv[1], os.O_RDWR)
try:
    fcntl.ioctl(fd, SHARE + 8, bytearray(144))
    sys.exit("another number was taken")
except OSError as error:
    assert error.errno == errno.ENOTTY, error
out = bytearray(144)
fcntl.ioctl(fd, SHARE, out)
assert int.from_bytes(out[16:24], "little") == 4
socket = out[40:].split(b"\0")[0].decode()
print(socket)
P
expect_equal "$(root_status mem_share)" "$(echo "$W"/share.*.sock)"
expect_equal "$(stat -c %a "$(root_status mem_share)")" 666

# another user: not this file, but one of their own, by a socket of root's
need_cmd setpriv
nobody() {
	setpriv --reuid 65534 --regid 65534 --clear-groups \
		env PYTHONPATH="$repo/mount-helpers/python" \
		K80FS_LIBK80MEM="$(dirname "$K80FS")/libk80mem.so.1" \
		/usr/bin/python3 -c "
import k80fs, sys
try:
    print(k80fs.map(sys.argv[1]).nbytes)
except OSError as error:
    print(error.errno)" "$1"
}
nobody_can_import() {
	setpriv --reuid 65534 --regid 65534 --clear-groups \
		test -r "$repo/mount-helpers/python/k80fs.py" -a \
		-r "$(dirname "$K80FS")/libk80mem.so.1" -a -w "$mem_ledger"
}
chmod 777 "$d"
chmod 755 "$W"
chmod -R a+rwX "$mem_ledger"
if nobody_can_import; then
	expect_equal "$(nobody "$d/x")" 13
	chmod 644 "$d/x"
	expect_equal "$(nobody "$d/x")" 13
	chmod 666 "$d/x"
	expect_equal "$(nobody "$d/x")" 4
fi
rm "$d/x"
