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

# findmnt's words are not the type of a mount
test_without_proc_it_says_what_is_missing()
{
	need_root
	mkdir dir
	# shellcheck disable=SC2016 # the inner shell's
	run unshare -m sh -c 'mount -t tmpfs none /proc && exec "$1" "$2"' sh \
		"$HELPERS/umount.k80fs" "$WORK/dir"
	expect 32 "$rc"
	expect_line "umount.k80fs: $WORK/dir: findmnt: " out
}

test_help_that_cannot_be_printed_is_an_error()
{
	local program

	[ -c /dev/full ] || skip "no /dev/full"
	for program in umount.k80fs mount.k80fs k80-doctor; do
		run "$HELPERS/$program" --help
		expect 0 "$rc" "$program --help"
		rc=0
		"$HELPERS/$program" --help >/dev/full 2>out || rc=$?
		[ "$rc" -ne 0 ] || die "$program: exit code 0"
	done
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

test_folder_is_made_canonical_and_the_script_is_no_user_of_it()
{
	mount_live
	ln -s dir link
	(cd dir && exec "$HELPERS/umount.k80fs" .) >out 2>&1 || die "$(cat out)"
	expect '' "$(mount_type dir)"
	daemon=$("$PYTHON" "$FAKEFUSE" live "$WORK/dir")
	(cd dir && exec "$HELPERS/umount.k80fs" "$WORK/dir") >out 2>&1 ||
		die "$(cat out)"
	daemon=$("$PYTHON" "$FAKEFUSE" live "$WORK/dir")
	run "$HELPERS/umount.k80fs" link
	expect 0 "$rc" "$(cat out)"
	daemon=$("$PYTHON" "$FAKEFUSE" live "$WORK/dir")
	stand_in "$WORK/dir"
	rc=0
	(cd dir && "$HELPERS/umount.k80fs" . && true) >out 2>&1 || rc=$?
	kill "$stander"
	expect 32 "$rc"
	expect_line "$WORK/dir is busy:" out
	expect_line "pid $stander (sleep)" out
	expect_no_line 'umount.k80fs)' out
	expect_no_line '()' out
	umount -l dir
}

test_mount_below_is_named()
{
	need_root
	mkdir "a b"
	mount -t tmpfs none "a b"
	mkdir "a b/below"
	mount -t tmpfs none "a b/below"
	# of no k80fs: a live one of the tests has no folder to mount on
	sed 's/fuse\.k80fs/tmpfs/g' "$HELPERS/umount.k80fs" >umount.tmpfs
	run sh umount.tmpfs "a b"
	expect 32 "$rc"
	expect_line "a mount on $WORK/a b/below (umount '$WORK/a b/below')" out
	umount "a b/below" "a b"
}

test_text_of_others_drives_no_terminal_and_can_be_pasted()
{
	local nasty=$'it\'s \033[2J\303\204\302\233'

	need_fuse
	mkdir "$nasty"
	"$PYTHON" "$FAKEFUSE" live "$WORK/$nasty"
	cp "$(command -v sleep)" $'sl\033p'
	(cd "$nasty" && exec "$WORK/"$'sl\033p' 600) &
	stander=$!
	wait_for has_cwd "$stander" "$WORK/$nasty"
	run "$HELPERS/umount.k80fs" "$nasty"
	expect 32 "$rc"
	expect_line "pid $stander (sl?p)" out
	expect 0 "$(tr -d '\n' <out | LC_ALL=C grep -c '[[:cntrl:]]')"
	expect_no_line $'\302\233' out
	command=$(sed -n 's/.*let go of it with: //p' out)
	bash -c "$command"
	kill "$stander"
	expect '' "$(mount_type "$nasty")"
}

test_daemon_that_another_namespace_keeps_is_said()
{
	mount_live
	unshare -m --propagation private sleep 600 &
	keeper=$!
	wait_for grep -qF "$WORK/dir" "/proc/$keeper/mountinfo"
	wait_for is_private "$keeper"
	run "$HELPERS/umount.k80fs" -v "$WORK/dir"
	expect 0 "$rc" "$(cat out)"
	expect_line "$WORK/dir unmounted" out
	expect_line "its daemon goes on: pid $keeper (sleep)" out
	[ -e "/proc/$daemon" ] || die "its daemon has ended"
	command=$(sed -n 's/.* run: //p' out)
	bash -c "$command"
	wait_for test ! -e "/proc/$daemon"
	kill "$keeper"
}

is_private()
{
	[ "$(readlink "/proc/$1/ns/mnt")" != "$(readlink /proc/self/ns/mnt)" ]
}

test_daemon_that_a_bind_mount_keeps_is_said()
{
	mount_live
	mkdir "an other"
	mount --bind dir "an other"
	run "$HELPERS/umount.k80fs" "$WORK/dir"
	expect 0 "$rc" "$(cat out)"
	expect_line "also mounted on $WORK/an other; umount '$WORK/an other'" out
	run "$HELPERS/umount.k80fs" "an other"
	expect 0 "$rc" "$(cat out)"
	expect '' "$(cat out)"
	wait_for test ! -e "/proc/$daemon"
}

test_hung_daemon_holds_nobody_and_force_ends_it()
{
	mount_live
	kill -STOP "$daemon"
	# it asks for what is never answered, and no signal of ours ends it
	fake umount <<-'EOF'
		case $* in
		*-f*) exec /bin/umount "$@" ;;
		esac
		stat -f "$WORK/dir"
	EOF
	export WORK
	run "$HELPERS/umount.k80fs" "$WORK/dir"
	expect 32 "$rc"
	expect_line "its daemon does not answer; run: umount.k80fs -f $WORK/dir" out
	run "$HELPERS/umount.k80fs" -f "$WORK/dir"
	expect 0 "$rc" "$(cat out)"
	expect '' "$(mount_type dir)"
	kill -CONT "$daemon"
	wait_for test ! -e "/proc/$daemon"
}
