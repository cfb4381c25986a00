# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # rc and stander come from lib.sh
#
# mount.k80fs: what it hands to k80fs, its flags and exit codes, dead mounts.

# mount_k80fs ARGS...: run the helper with a k80fs that only notes its arguments
mount_k80fs()
{
	fake_k80fs
	mkdir -p dir
	rm -f args
	run "$HELPERS/mount.k80fs" "$@"
}

# expect_args ARG...: what k80fs got
expect_args()
{
	expect 0 "$rc" "exit code ($(cat out))"
	printf '%s\n' "$@" >wanted
	diff wanted args
}

test_passes_the_options_of_k80fs()
{
	mount_k80fs k80fs "$WORK/dir" -o backend=sim,wait=100,timeslice=auto,cache
	expect_args -o backend=sim,wait=100,timeslice=auto,cache "$WORK/dir"
}

test_drops_the_options_of_mount()
{
	local own

	for own in defaults auto noauto nofail _netdev x-systemd.automount \
		x-systemd.requires=modprobe@bar_swap.service \
		x-systemd.mount-timeout=9 X-mount.mkdir x-gvfs-show \
		user user=joe users nouser owner group comment=text \
		uhelper=k80fs rw exec suid nosuid dev nodev async \
		dirsync atime noatime diratime nodiratime relatime \
		norelatime strictatime lazytime nosymfollow; do
		mount_k80fs k80fs "$WORK/dir" -o "$own"
		expect_args "$WORK/dir"
		mount_k80fs k80fs "$WORK/dir" -o "wait=1,$own,uid=7"
		expect_args -o wait=1,uid=7 "$WORK/dir"
	done
}

test_passes_sync_unless_async_comes_after_it()
{
	mount_k80fs k80fs "$WORK/dir" -o sync
	expect_args -o sync "$WORK/dir"
	mount_k80fs k80fs "$WORK/dir" -o wait=1,async,sync,uid=7
	expect_args -o wait=1,uid=7,sync "$WORK/dir"
	mount_k80fs k80fs "$WORK/dir" -o sync,async
	expect_args "$WORK/dir"
}

test_without_options_passes_the_directory_alone()
{
	mount_k80fs k80fs "$WORK/dir"
	expect_args "$WORK/dir"
	mount_k80fs k80fs "$WORK/dir" -o ,,
	expect_args "$WORK/dir"
}

test_passes_unknown_options_for_k80fs_to_refuse()
{
	mount_k80fs k80fs "$WORK/dir" -o no_such_option=3
	expect_args -o no_such_option=3 "$WORK/dir"
}

test_sloppy_drops_unknown_options()
{
	mount_k80fs k80fs "$WORK/dir" -s -o no_such=3,sim_dies=2,cachet,cache
	expect_args -o sim_dies=2,cache "$WORK/dir"
}

test_last_of_ro_and_rw_wins()
{
	mount_k80fs k80fs "$WORK/dir" -o rw,ro
	expect_args -o ro "$WORK/dir"
	mount_k80fs k80fs "$WORK/dir" -o ro,rw
	expect_args "$WORK/dir"
	mount_k80fs k80fs "$WORK/dir" -o wait=1 -r
	expect_args -o wait=1,ro "$WORK/dir"
	mount_k80fs -r k80fs "$WORK/dir" -w
	expect_args "$WORK/dir"
}

test_noexec_is_passed_unless_exec_follows()
{
	mount_k80fs k80fs "$WORK/dir" -o noexec,wait=1
	expect_args -o wait=1,noexec "$WORK/dir"
	mount_k80fs k80fs "$WORK/dir" -o noexec,exec
	expect_args "$WORK/dir"
}

test_sloppy_knows_the_options_of_k80fs()
{
	local k80fs=$TOP/build/k80fs

	[ -x "$k80fs" ] || skip "needs build/k80fs"
	"$k80fs" --help | grep '^  -o ' | grep -oE '(-o |,)[a-z_]+' |
		sed 's/^-o //; s/^,//' >of_k80fs
	# libfuse's, passed on to it
	printf '%s\n' auto_unmount default_permissions nonempty context \
		fscontext defcontext rootcontext >>of_k80fs
	sort -u -o of_k80fs of_k80fs
	sed -n "/^KNOWN=/,/'$/p" "$HELPERS/mount.k80fs" | sed "s/^KNOWN=//" |
		tr -d "'" | tr -s '\t ' '\n' | grep . | sort -u >of_helper
	[ -s of_helper ] || die "no KNOWN in mount.k80fs"
	diff of_k80fs of_helper
}

test_escaped_comma_stays_in_its_value()
{
	mount_k80fs k80fs "$WORK/dir" -o 'sim_dir=/a\,noauto\,b,noauto,uid=1'
	expect_args -o 'sim_dir=/a\,noauto\,b,uid=1' "$WORK/dir"
	mount_k80fs k80fs "$WORK/dir" -o 'sim_dir=/a\,'
	expect_args -o 'sim_dir=/a\,' "$WORK/dir"
	# an escaped backslash escapes nothing
	mount_k80fs k80fs "$WORK/dir" -o 'sim_dir=/a\\,noauto,sim_dir=/\\1'
	expect_args -o 'sim_dir=/a\\,sim_dir=/\\1' "$WORK/dir"
}

test_source_names_the_backend_or_the_device()
{
	mount_k80fs sim "$WORK/dir" -o sim_dies=2
	expect_args -o backend=sim,fsname=sim,sim_dies=2 "$WORK/dir"
	mount_k80fs none "$WORK/dir"
	expect_args -o fsname=none "$WORK/dir"
	mount_k80fs /dev/bar_swap "$WORK/dir"
	expect_args -o device=/dev/bar_swap,fsname=/dev/bar_swap "$WORK/dir"
	mount_k80fs '/dev/a,b' "$WORK/dir"
	expect_args -o 'device=/dev/a\,b,fsname=/dev/a\,b' "$WORK/dir"
}

test_comma_in_quotes_ends_no_option()
{
	mount_k80fs k80fs "$WORK/dir" -o 'context="u:s0:c1,noauto,c2",noauto,uid=1'
	expect_args -o 'context="u:s0:c1,noauto,c2",uid=1' "$WORK/dir"
	mount_k80fs k80fs "$WORK/dir" -o 'context="u:s0:c1,noauto,uid=1'
	expect_args -o 'context="u:s0:c1,uid=1' "$WORK/dir"
}

test_command_that_is_shown_can_be_pasted()
{
	mkdir "it's"
	mount_k80fs k80fs "$WORK/it's" -v -f -o 'sim_dir=/a b'
	expect "mount.k80fs: k80fs -o 'sim_dir=/a b' '$WORK/it'\''s'" "$(cat out)"
	mount_k80fs k80fs $'no\e[2Jwhere'
	expect_line 'no?[2Jwhere: no such directory' out
}

test_mount_is_known_again_by_its_line()
{
	[ -x "$TOP/build/k80fs" ] || skip "needs build/k80fs"
	need_fuse
	fake_k80fs
	ln -sf "$TOP/build/k80fs" bin/k80fs
	install_helpers
	mkdir dir
	echo "sim $WORK/dir k80fs sim_vram=1M,sim_dies=1,uid=nobody 0 0" >fstab
	for _ in 1 2; do
		run mount -a -T fstab
		expect 0 "$rc" "$(cat out)"
		expect '' "$(cat out)"
	done
	expect "$WORK/dir" "$(findmnt -n -r -o TARGET -S sim)"
	run mount -T fstab -o remount,ro "$WORK/dir"
	expect 0 "$rc" "$(cat out)"
	! echo pin 2>err >dir/die0/ctl || die "written"
	expect_line 'Read-only file system' err
	expect_line nosuid,nodev <(findmnt -n -o OPTIONS -M dir)
	run mount -o remount,rw "$WORK/dir"
	expect 0 "$rc" "$(cat out)"
	echo pin >dir/die0/ctl
	run mount -o remount,wait=7 "$WORK/dir"
	expect 32 "$rc"
	expect_line 'wait=7 would have to change in the daemon' out
	run umount sim
	expect 0 "$rc" "$(cat out)"
	expect '' "$(mount_type dir)"
}

test_directory_with_spaces_is_one_argument()
{
	mkdir 'a b  c'
	mount_k80fs k80fs "$WORK/a b  c"
	expect_args "$WORK/a b  c"
}

test_relative_directory_is_made_absolute()
{
	mount_k80fs k80fs dir
	expect_args "$WORK/dir"
}

test_flags_of_mount_are_accepted()
{
	mount_k80fs k80fs "$WORK/dir" -n -t fuse.k80fs -o wait=1
	expect_args -o wait=1 "$WORK/dir"
	mount_k80fs -sn k80fs -o wait=1 "$WORK/dir" -o uid=1
	expect_args -o wait=1,uid=1 "$WORK/dir"
}

test_fake_starts_nothing()
{
	mount_k80fs k80fs "$WORK/dir" -f -v -o wait=1
	expect 0 "$rc"
	[ ! -e args ] || die "k80fs was started"
	expect_line "k80fs -o wait=1 $WORK/dir" out
}

test_verbose_prints_the_command_and_runs_it()
{
	mount_k80fs k80fs "$WORK/dir" -v -o wait=1
	expect_args -o wait=1 "$WORK/dir"
	expect_line "k80fs -o wait=1 $WORK/dir" out
}

test_usage_errors_are_exit_code_1()
{
	mount_k80fs k80fs
	expect 1 "$rc"
	expect_line 'usage: mount.k80fs' out
	mount_k80fs k80fs "$WORK/dir" third
	expect 1 "$rc"
	mount_k80fs k80fs "$WORK/dir" -q
	expect 1 "$rc"
	expect_line 'unknown flag -q' out
	mount_k80fs k80fs "$WORK/dir" -o
	expect 1 "$rc"
	[ ! -e args ] || die "k80fs was started"
}

test_help_is_exit_code_0()
{
	mount_k80fs --help
	expect 0 "$rc"
	expect_line 'usage: mount.k80fs' out
}

test_remount_keeps_what_nobody_has_spoken_of()
{
	need_fuse
	mkdir dir
	"$PYTHON" "$FAKEFUSE" live "$WORK/dir"
	mount_k80fs k80fs "$WORK/dir" -o remount,ro,noexec
	expect 0 "$rc" "$(cat out)"
	mount_k80fs k80fs "$WORK/dir" -o remount,noatime,allow_other
	expect 0 "$rc" "$(cat out)"
	findmnt -n -r -o OPTIONS -M dir >options
	expect_line ro,nosuid,nodev,noexec,noatime options
	mount_k80fs k80fs "$WORK/dir" -o remount,rw,exec
	expect 0 "$rc" "$(cat out)"
	findmnt -n -r -o OPTIONS -M dir >options
	expect_line rw,nosuid,nodev options
	expect_no_line noexec options
	[ ! -e args ] || die "k80fs was started"
}

test_remount_knows_the_options_of_the_daemon()
{
	local option daemon='sim_vram=1M,fsname=gpus\,x,sim_dir='

	[ -x "$TOP/build/k80fs" ] || skip "needs build/k80fs"
	need_fuse
	mkdir dir dies
	"$TOP/build/k80fs" -o "backend=sim,$daemon$WORK/dies" "$WORK/dir"
	run "$HELPERS/mount.k80fs" 'gpus,x' "$WORK/dir" \
		-o "remount,ro,$daemon$WORK/dies"
	expect 0 "$rc" "$(cat out)"
	expect_line ro, <(findmnt -n -r -o OPTIONS -M dir)
	for option in wait=7 sync 'sim_dir=/a\,b' fsname=other; do
		run "$HELPERS/mount.k80fs" gpus "$WORK/dir" \
			-o "remount,rw,$option"
		expect 32 "$rc"
		expect_line "$option would have to change in the daemon" out
	done
	expect_line ro, <(findmnt -n -r -o OPTIONS -M dir)
	umount dir
}

test_remount_of_nothing_is_refused()
{
	mount_k80fs k80fs "$WORK/dir" -o remount,ro
	expect 32 "$rc"
	expect_line 'no k80fs is mounted there' out
	[ ! -e args ] || die "k80fs was started"
}

test_missing_directory_is_named()
{
	mount_k80fs k80fs "$WORK/nowhere"
	expect 32 "$rc"
	expect_line "$WORK/nowhere: no such directory" out
}

test_file_in_place_of_the_directory_is_named_as_that()
{
	fake_k80fs
	touch file
	run "$HELPERS/mount.k80fs" k80fs "$WORK/file"
	expect 32 "$rc"
	expect "mount.k80fs: $WORK/file: not a directory" "$(cat out)"
}

test_backslash_of_a_directory_is_printed_as_it_is()
{
	fake_k80fs
	run "$HELPERS/mount.k80fs" k80fs "$WORK/a\\e\\cb"
	expect 32 "$rc"
	expect_line "$WORK/a\\e\\cb: no such directory" out
}

test_failing_k80fs_is_exit_code_32()
{
	fake k80fs <<-'EOF'
		echo "k80fs: /dev/bar_swap: not there" >&2
		exit 1
	EOF
	mkdir dir
	run "$HELPERS/mount.k80fs" k80fs "$WORK/dir"
	expect 32 "$rc"
	expect 'k80fs: /dev/bar_swap: not there' "$(cat out)"
}

test_missing_k80fs_is_exit_code_2()
{
	need_root
	mkdir dir empty
	# the standard places are searched too: hide them behind empty folders
	for place in /usr/local/bin /usr/local/sbin; do
		mount --bind empty "$place"
	done
	[ ! -e /usr/bin/k80fs ] || skip "k80fs is installed in /usr/bin"
	run "$HELPERS/mount.k80fs" k80fs "$WORK/dir"
	expect 2 "$rc"
	expect_line 'k80fs is not in' out
}

test_dead_mount_is_removed_and_mounted_again()
{
	need_fuse
	fake_daemon
	mkdir dir
	"$PYTHON" "$FAKEFUSE" dead "$WORK/dir"
	! stat -f dir 2>/dev/null || die "not dead"
	run "$HELPERS/mount.k80fs" k80fs "$WORK/dir"
	expect 0 "$rc" "$(cat out)"
	expect_line 'removing the dead k80fs mount' out
	stat -f dir
	expect 1 "$(findmnt -n -r -o TARGET | grep -cFx "$WORK/dir")"
}

test_dead_mounts_on_top_of_each_other_are_all_removed()
{
	need_fuse
	fake_daemon
	mkdir dir
	# the second goes on top before the first is dead
	"$PYTHON" "$FAKEFUSE" live "$WORK/dir"
	"$PYTHON" "$FAKEFUSE" dead "$WORK/dir"
	run "$HELPERS/mount.k80fs" k80fs "$WORK/dir"
	# one is dead and goes, the live one below it stays and is reported
	expect 32 "$rc"
	expect_line 'removing the dead k80fs mount' out
	expect_line 'k80fs is already mounted there' out
}

test_dead_mount_is_removed_while_a_process_stands_in_it()
{
	need_fuse
	fake_daemon
	mkdir dir
	daemon=$(k80fs "$WORK/dir")
	stand_in "$WORK/dir"
	kill -9 "$daemon"
	wait_for is_dead "$WORK/dir"
	run "$HELPERS/mount.k80fs" k80fs "$WORK/dir"
	kill "$stander"
	expect 0 "$rc" "$(cat out)"
	stat -f dir
}

test_live_mount_is_left_alone()
{
	need_fuse
	fake_daemon
	mkdir dir
	run "$HELPERS/mount.k80fs" k80fs "$WORK/dir"
	expect 0 "$rc" "$(cat out)"
	run "$HELPERS/mount.k80fs" k80fs "$WORK/dir"
	expect 32 "$rc"
	expect_line "$WORK/dir: k80fs is already mounted there" out
	expect 1 "$(findmnt -n -r -o TARGET | grep -cFx "$WORK/dir")"
}

is_stopped()
{
	grep -q '^State:.T' "/proc/$1/status"
}

test_stopped_daemon_is_a_live_mount_and_nothing_else_is_printed()
{
	need_fuse
	fake_daemon
	mkdir dir
	daemon=$(k80fs "$WORK/dir")
	kill -STOP "$daemon"
	# one that still reads a request, and then stops, holds who asks for good
	wait_for is_stopped "$daemon"
	run "$HELPERS/mount.k80fs" k80fs "$WORK/dir"
	kill -CONT "$daemon"
	expect 32 "$rc"
	expect "mount.k80fs: $WORK/dir: k80fs is already mounted there" \
		"$(cat out)"
}

test_daemon_that_never_answers_holds_nobody()
{
	need_fuse
	mkdir dir
	fake_k80fs
	# it has read the question: whoever asked cannot even be killed
	daemon=$("$PYTHON" "$FAKEFUSE" mute "$WORK/dir")
	run timeout -s KILL 60 "$HELPERS/mount.k80fs" k80fs "$WORK/dir"
	kill -9 "$daemon"
	expect 32 "$rc"
	expect "mount.k80fs: $WORK/dir: k80fs is already mounted there" \
		"$(cat out)"
}

test_dead_mount_of_another_program_is_not_touched()
{
	need_fuse
	fake_daemon
	mkdir dir
	"$PYTHON" "$FAKEFUSE" dead "$WORK/dir" fuse.sshfs
	run "$HELPERS/mount.k80fs" k80fs "$WORK/dir"
	expect 32 "$rc"
	expect_line 'a dead fuse.sshfs mount' out
	expect fuse.sshfs "$(mount_type dir)"
}

test_user_removes_his_dead_mount()
{
	need_fuse
	command -v fusermount3 >/dev/null || skip "needs fusermount3"
	own_node_and_etc
	mkdir dir
	chown 65534:65534 dir .
	fake_k80fs
	FAKEFUSE=$(for_anyone "$FAKEFUSE")
	as_nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)
	"${as_nobody[@]}" "$PYTHON" "$FAKEFUSE" dead-user "$WORK/dir"
	expect fuse.k80fs "$(mount_type dir)"
	run "${as_nobody[@]}" "$(for_anyone "$HELPERS/mount.k80fs")" \
		k80fs "$WORK/dir"
	expect 0 "$rc" "$(cat out)"
	expect_line 'removing the dead k80fs mount' out
	expect '' "$(mount_type dir)"
	expect "$WORK/dir" "$(cat args)"
}

# install_helpers: the helpers where mount(8) looks, for this test alone
install_helpers()
{
	local f

	need_root
	mkdir sbin real
	mount --bind /usr/sbin real
	for f in real/*; do
		ln -s "$WORK/$f" sbin/
	done
	for f in mount.k80fs mount.fuse.k80fs umount.k80fs umount.fuse.k80fs; do
		rm -f "sbin/$f"
		ln -s "$HELPERS/${f/.fuse/}" "sbin/$f"
	done
	mount --bind sbin /usr/sbin
	# /sbin is a folder of its own on systems that are not merged
	[ /sbin -ef /usr/sbin ] || mount --bind sbin /sbin
	# mount(8) starts its helpers with a PATH of its own
	ln -sf "$WORK/bin/k80fs" sbin/k80fs
}

test_mount_finds_the_helper_for_both_types()
{
	local type

	fake_k80fs
	mkdir dir
	install_helpers
	for type in k80fs fuse.k80fs; do
		rm -f args
		run mount -t "$type" k80fs "$WORK/dir" -o noauto,nofail,wait=7
		[ "$rc" -eq 0 ] || break
		expect_args -o wait=7 "$WORK/dir"
	done
	expect 0 "$rc" "$(cat out)"
}

test_fstab_lines_are_mounted()
{
	local line

	fake_k80fs
	mkdir dir
	install_helpers
	while read -r line; do
		echo "k80fs $WORK/dir $line 0 0" >fstab
		rm -f args
		run mount -T fstab "$WORK/dir"
		[ "$rc" -eq 0 ] || break
		sed -i 's/,noexec$//' args # of "user" and "users"
		expect_args -o wait=7 "$WORK/dir"
	done <<-'EOF'
		k80fs      noauto,wait=7
		k80fs      defaults,user,wait=7
		k80fs      nofail,_netdev,x-systemd.device-timeout=5,wait=7
		fuse.k80fs rw,exec,suid,dev,users,wait=7
		fuse.k80fs x-systemd.automount,x-systemd.idle-timeout=60,wait=7
	EOF
	echo "k80fs $WORK/dir k80fs nofail,ro 0 0" >fstab
	rm -f args
	run mount -a -T fstab
	expect_args -o ro "$WORK/dir"
}

test_fstab_lines_of_the_documents_load_the_module_first()
{
	local file line lines

	fake_k80fs
	mkdir dir
	install_helpers
	for file in README.md mount-helpers/mount.k80fs.8; do
		lines=$(sed 's/\\-/-/g; s/^ *//' "$TOP/$file" |
			grep -E '^k80fs +/[^ ]+ +k80fs ')
		while read -r line; do
			case $line in
			*x-systemd.requires=modprobe@bar_swap.service*) ;;
			*) die "$file: not after the module: $line" ;;
			esac
			printf '%s\n' "$line" | sed "s# /[^ ]* # $WORK/dir #" \
				>fstab
			rm -f args
			run mount -a -T fstab
			expect 0 "$rc" "$(cat out)"
			expect "$WORK/dir" "$(tail -n 1 args)"
		done <<<"$lines"
	done
}

test_umount_finds_the_helper()
{
	need_fuse
	fake_daemon
	mkdir dir
	install_helpers
	run mount -t fuse.k80fs k80fs "$WORK/dir"
	expect 0 "$rc" "$(cat out)"
	run umount -v "$WORK/dir"
	expect 0 "$rc" "$(cat out)"
	expect_line "umount.fuse.k80fs: $WORK/dir unmounted" out
	expect '' "$(mount_type dir)"
}
