# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # rc and stander come from lib.sh
#
# umount.k80fs: free, busy, dead; as root and as a user.

# mount_live: an answering mount on ./dir, the pid of its daemon to $daemon
mount_live()
{
	need_fuse
	mkdir dir
	daemon=$("$PYTHON" "$FAKEFUSE" live "$WORK/dir")
}

test_unmounts_and_the_daemon_ends()
{
	mount_live
	run "$HELPERS/umount.k80fs" "$WORK/dir"
	expect 0 "$rc" "$(cat out)"
	expect '' "$(cat out)"
	expect '' "$(mount_type dir)"
	wait_for test ! -e "/proc/$daemon"
}

test_takes_a_relative_directory_and_a_trailing_slash()
{
	mount_live
	run "$HELPERS/umount.k80fs" dir//
	expect 0 "$rc" "$(cat out)"
	expect '' "$(mount_type dir)"
}

test_busy_mount_stays_and_its_users_are_named()
{
	mount_live
	stand_in "$WORK/dir"
	run "$HELPERS/umount.k80fs" "$WORK/dir"
	kill "$stander"
	expect 32 "$rc"
	expect_line "$WORK/dir is busy:" out
	expect_line "pid $stander (sleep)" out
	expect_line "umount -l $WORK/dir" out
	expect fuse.k80fs "$(mount_type dir)"
}

test_mount_busy_for_a_moment_is_unmounted()
{
	mount_live
	stand_in "$WORK/dir"
	# the helper waits between two tries, here until he is gone
	export stander
	fake sleep <<-'EOF'
		kill "$stander"
		while [ -e "/proc/$stander/cwd" ]; do :; done
	EOF
	run "$HELPERS/umount.k80fs" "$WORK/dir"
	expect 0 "$rc" "$(cat out)"
	expect '' "$(mount_type dir)"
}

test_lazy_lets_go_of_a_busy_mount()
{
	mount_live
	stand_in "$WORK/dir"
	run "$HELPERS/umount.k80fs" -l "$WORK/dir"
	kill "$stander"
	expect 0 "$rc" "$(cat out)"
	expect '' "$(mount_type dir)"
	wait_for test ! -e "/proc/$daemon"
}

test_dead_busy_mount_is_let_go()
{
	mount_live
	stand_in "$WORK/dir"
	kill -9 "$daemon"
	wait_for is_dead "$WORK/dir"
	run "$HELPERS/umount.k80fs" "$WORK/dir"
	kill "$stander"
	expect 0 "$rc" "$(cat out)"
	expect_line 'its daemon is gone' out
	expect '' "$(mount_type dir)"
}

test_nothing_mounted_is_exit_code_32()
{
	mkdir dir
	run "$HELPERS/umount.k80fs" "$WORK/dir"
	expect 32 "$rc"
	expect_line "$WORK/dir: not mounted" out
}

test_mount_of_another_type_is_not_touched()
{
	need_root
	mkdir dir
	mount -t tmpfs tmpfs dir
	run "$HELPERS/umount.k80fs" "$WORK/dir"
	expect 32 "$rc"
	expect_line 'a tmpfs mount, not one of k80fs' out
	expect tmpfs "$(mount_type dir)"
}

test_usage_errors_are_exit_code_1()
{
	run "$HELPERS/umount.k80fs"
	expect 1 "$rc"
	run "$HELPERS/umount.k80fs" a b
	expect 1 "$rc"
	run "$HELPERS/umount.k80fs" -q a
	expect 1 "$rc"
	expect_line 'unknown flag -q' out
}

test_user_unmounts_his_own_mount_and_not_that_of_root()
{
	need_fuse
	command -v fusermount3 >/dev/null || skip "needs fusermount3"
	own_node_and_etc
	FAKEFUSE=$(for_anyone "$FAKEFUSE")
	helper=$(for_anyone "$HELPERS/umount.k80fs")
	mkdir dir roots
	chown 65534:65534 dir
	as_nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)
	"${as_nobody[@]}" "$PYTHON" "$FAKEFUSE" dead-user "$WORK/dir"
	"$PYTHON" "$FAKEFUSE" live "$WORK/roots"
	run "${as_nobody[@]}" "$helper" "$WORK/roots"
	expect 32 "$rc"
	expect fuse.k80fs "$(mount_type roots)"
	run "${as_nobody[@]}" "$helper" "$WORK/dir"
	expect 0 "$rc" "$(cat out)"
	expect '' "$(mount_type dir)"
}
