# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034 # the tests use what is set here
#
# What the tests of the helpers share; read by run.sh before each test.

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
HELPERS=$TOP/mount-helpers
FAKEFUSE=$TOP/tests/helpers/fakefuse.py
# the system's: one in a home folder is no use to a test that runs as nobody
PYTHON=/usr/bin/python3
[ -x "$PYTHON" ] || PYTHON=python3

die()
{
	echo "$*"
	exit 1
}

skip()
{
	echo "$*"
	exit 77
}

need_root()
{
	[ "$(id -u)" -eq 0 ] || skip "needs root"
}

need_fuse()
{
	need_root
	[ -c /dev/fuse ] || skip "needs /dev/fuse"
}

# expect WANTED GOT [what]
expect()
{
	[ "$1" = "$2" ] || die "${3:-value}: wanted '$1', got '$2'"
}

# expect_line TEXT FILE: FILE has TEXT in some line
expect_line()
{
	grep -qF -- "$1" "$2" || die "no '$1' in:" "$(cat "$2")"
}

# expect_no_line TEXT FILE
expect_no_line()
{
	! grep -qF -- "$1" "$2" || die "unwanted '$1' in:" "$(cat "$2")"
}

# run COMMAND...: its output to ./out, its exit code to $rc
run()
{
	rc=0
	"$@" >out 2>&1 || rc=$?
}

# wait_for COMMAND...: until it succeeds, which takes a moment, or a minute on a
# machine that is very busy
wait_for()
{
	local end=$((SECONDS + 60))

	until "$@" 2>/dev/null; do
		[ $SECONDS -lt $end ] || die "waited a minute in vain for: $*"
		sleep 0.1
	done
}

# for_anyone PROGRAM: a copy of it that other users can run, wherever the tree
# is; prints its path
for_anyone()
{
	mkdir -p "$WORK/for-anyone"
	chmod 755 "$WORK/for-anyone"
	install -m 755 "$1" "$WORK/for-anyone/"
	echo "$WORK/for-anyone/${1##*/}"
}

# own_node_and_etc: a fuse node that anyone may open, and the list of mounts
# that fusermount3 looks into, which not every system has
own_node_and_etc()
{
	mknod -m 666 fuse c 10 229
	mount --bind fuse /dev/fuse
	mkdir etc
	cp -a /etc/passwd /etc/group /etc/ld.so.* etc/
	ln -s ../proc/self/mounts etc/mtab
	mount --bind etc /etc
}

# fake NAME: a program ./bin/NAME first in PATH; its text on stdin
fake()
{
	mkdir -p "$WORK/bin"
	{
		echo '#!/bin/sh'
		cat
	} >"$WORK/bin/$1"
	chmod 755 "$WORK/bin/$1"
	case $PATH in
	"$WORK/bin":*) ;;
	*) PATH=$WORK/bin:$PATH ;;
	esac
}

# fake_k80fs: a daemon that only writes its arguments to ./args, one a line
fake_k80fs()
{
	export WORK
	fake k80fs <<-'EOF'
		printf '%s\n' "$@" >"$WORK/args"
	EOF
}

# fake_daemon: a k80fs that mounts a folder with nothing in it
fake_daemon()
{
	export FAKEFUSE PYTHON
	fake k80fs <<-'EOF'
		for dir; do :; done
		exec "$PYTHON" "$FAKEFUSE" live "$dir"
	EOF
}

mount_type()
{
	findmnt -n -r -o FSTYPE -M "$1" | tail -n 1
}

is_mounted()
{
	[ -n "$(mount_type "$1")" ]
}

is_dead()
{
	LC_ALL=C stat -f "$1" 2>&1 | grep -q 'endpoint is not connected'
}

has_cwd()
{
	[ "$(readlink "/proc/$1/cwd")" = "$2" ]
}

# stand_in DIR: a process with DIR as its current folder, pid to $stander
stand_in()
{
	(cd "$1" && exec sleep 600) &
	stander=$!
	wait_for has_cwd "$stander" "$1"
}
