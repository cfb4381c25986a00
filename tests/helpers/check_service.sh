# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # rc and stander come from lib.sh
#
# k80fs.service, run by a systemd of its own in private namespaces.

# boot_systemd K80FS [LINE [COMMANDS]]: systemd with the helpers in /sbin, K80FS
# as the daemon and LINE added to the unit's [Service], after the COMMANDS in its
# mount namespace; the mount goes to $MOUNT
boot_systemd()
{
	local unshare

	need_fuse
	command -v systemctl >/dev/null || skip "needs systemd"
	[ -x /lib/systemd/systemd ] || skip "needs systemd"
	MOUNT=/run/k80
	cat >boot.sh <<-'EOF'
		set -eu
		mount -t proc proc /proc
		mount -t tmpfs tmpfs /run
		umount -R /sys/fs/cgroup
		mount -t cgroup2 cgroup2 /sys/fs/cgroup
		mkdir sbin real
		mount --bind /usr/sbin real
		for f in real/*; do
			ln -s "$PWD/$f" sbin/
		done
		ln -sf "$HELPERS/mount.k80fs" "$HELPERS/umount.k80fs" sbin/
		ln -sf "$1" sbin/k80fs
		mount --bind sbin /usr/sbin
		[ /sbin -ef /usr/sbin ] || mount --bind sbin /sbin
		units=/run/systemd/system
		mkdir -p $units/k80fs.service.d
		cp "$HELPERS/k80fs.service" $units/
		printf '[Unit]\nDefaultDependencies=no\n' >$units/test.target
		# by it a unit with default dependencies would have the real
		# system's files made and /tmp emptied
		ln -s /dev/null $units/sysinit.target
		printf '%s\n' '[Unit]' DefaultDependencies=no '[Service]' \
			Environment=K80FS_DIR=/run/k80 "$2" \
			>$units/k80fs.service.d/test.conf
		eval "$3"
		export container=lxc
		exec /lib/systemd/systemd --system --unit=test.target \
			--log-target=console --show-status=no \
			--default-standard-output=inherit \
			--default-standard-error=inherit
	EOF
	export HELPERS
	unshare -mpfC --kill-child bash boot.sh "$1" "${2:-}" "${3:-}" \
		>log 2>&1 &
	unshare=$!
	wait_for has_child "$unshare"
	systemd=$(pgrep -P "$unshare")
	wait_for is_running || die "$(cat log)"
}

has_child()
{
	pgrep -P "$1" >/dev/null
}

# inside COMMAND...: in the namespaces of that systemd
inside()
{
	nsenter -t "$systemd" -m -p -C -- timeout 400 "$@"
}

is_running()
{
	[ "$(inside systemctl is-system-running)" = running ]
}

# started: systemctl start, with the journal's text if that fails
started()
{
	run inside systemctl start k80fs
	[ "$rc" -eq 0 ] || die "$(cat out log)" \
		"$(inside systemctl status --no-pager k80fs)"
	inside stat -f "$MOUNT" >/dev/null
}

property()
{
	inside systemctl show --value -p "$1" k80fs
}

# a daemon in place of k80fs: an empty folder
empty_daemon()
{
	cat >daemon <<-EOF
		#!/bin/sh
		for dir; do :; done
		[ "\$1" != -f ] || exec $PYTHON $FAKEFUSE unit "\$dir"
		exec $PYTHON $FAKEFUSE live "\$dir"
	EOF
	chmod 755 daemon
}

is_mounted_again()
{
	[ "$(property NRestarts)" -ge 1 ] &&
		[ "$(property ActiveState)" = active ] &&
		inside stat -f "$MOUNT" >/dev/null
}

test_start_returns_with_the_mount_visible_and_stop_removes_it()
{
	empty_daemon
	boot_systemd "$WORK/daemon"
	started
	expect active "$(property ActiveState)"
	[ "$(property MainPID)" -gt 0 ]
	run inside systemctl stop k80fs
	expect 0 "$rc" "$(cat out log)"
	expect success "$(property Result)"
	! inside findmnt "$MOUNT" || die "still mounted"
}

test_killed_daemon_is_mounted_again()
{
	empty_daemon
	boot_systemd "$WORK/daemon"
	started
	inside kill -9 "$(property MainPID)"
	wait_for is_mounted_again
	expect 1 "$(inside findmnt -n -r -o TARGET | grep -cFx "$MOUNT")"
}

test_daemon_that_cannot_mount_fails_the_unit_and_leaves_nothing()
{
	printf '#!/bin/sh\necho "k80fs: no such device" >&2\nexit 1\n' >daemon
	chmod 755 daemon
	boot_systemd "$WORK/daemon" Restart=no
	run inside systemctl start k80fs
	[ "$rc" -ne 0 ] || die "started"
	expect failed "$(property ActiveState)"
	expect exit-code "$(property Result)"
	! inside findmnt "$MOUNT" || die "mounted"
}

test_k80fs_itself_runs_under_the_hardening()
{
	local k80fs=$TOP/build/k80fs

	[ -x "$k80fs" ] || skip "needs build/k80fs"
	boot_systemd "$k80fs" \
		'Environment=K80FS_OPTIONS=backend=sim,sim_dies=2,sim_vram=64M'
	started
	inside sh -c 'echo hello | dd of=/run/k80/die1/vram conv=notrunc status=none'
	expect hello "$(inside head -n 1 "$MOUNT/die1/vram")"
	run inside systemctl stop k80fs
	expect 0 "$rc" "$(cat out log)"
	! inside findmnt "$MOUNT" || die "still mounted"
}

is_ended()
{
	case $(property ActiveState) in
	inactive | failed) ;;
	*) return 1 ;;
	esac
}

# ended COMMAND...: the unit runs, and COMMAND ends it for good, in order
ended()
{
	started
	inside "$@"
	wait_for is_ended
	expect success "$(property Result)" "$*: $(cat log)"
	expect 0 "$(property NRestarts)" "$*: restarts"
	! inside findmnt "$MOUNT" || die "$*: still mounted"
}

is_let_go()
{
	! inside findmnt "$MOUNT"
}

# holder: a process inside that opens die 1, and writes to it when told
holder()
{
	inside rm -f /run/has /run/go
	# shellcheck disable=SC2016 # expanded by the inner shell
	inside bash -c 'exec 3<>"$0/die1/vram"
		: >/run/has
		until [ -e /run/go ]; do sleep 0.1; done
		echo hello >&3' "$MOUNT" &
	wait_for inside test -e /run/has
}

test_stop_lets_the_mount_go_and_serves_who_has_a_file_open()
{
	local k80fs=$TOP/build/k80fs

	[ -x "$k80fs" ] || skip "needs build/k80fs"
	boot_systemd "$k80fs" \
		'Environment=K80FS_OPTIONS=backend=sim,sim_dies=2,sim_vram=64M,sim_dir=/run/dies' \
		'mkdir /run/dies'
	started
	expect '2 dies of sim' "$(property StatusText)"
	holder
	inside systemctl stop --no-block k80fs
	wait_for is_let_go
	wait_for expect 'let go, and served until no file is open: 1 are' \
		"$(property StatusText)"
	expect deactivating "$(property ActiveState)"
	inside touch /run/go
	wait_for is_ended
	expect success "$(property Result)" "$(cat log)"
	expect hello "$(inside head -n 1 /run/dies/die1)"
}

test_stop_waits_for_open_files_no_longer_than_the_unit_says()
{
	local k80fs=$TOP/build/k80fs

	[ -x "$k80fs" ] || skip "needs build/k80fs"
	boot_systemd "$k80fs" "$(printf '%s\n' TimeoutStopSec=2 \
		'Environment=K80FS_OPTIONS=backend=sim,sim_dies=2,sim_vram=64M')"
	started
	holder
	run inside systemctl stop k80fs
	expect failed "$(property ActiveState)" "$(cat log)"
	expect timeout "$(property Result)"
	is_let_go || die "still mounted"
}

# shut_down_with COMMANDS [FSTAB]: a file system on a die, made and mounted by
# COMMANDS in that systemd, when the machine is switched off; its die is in
# ./dies/die1, and ./stops says where it was mounted when the stop of k80fs began
shut_down_with()
{
	local k80fs=$TOP/build/k80fs

	[ -x "$k80fs" ] || skip "needs build/k80fs"
	[ -b /dev/loop0 ] || [ -c /dev/loop-control ] || skip "needs loop devices"
	mkdir dies scratch
	printf '%s\n' "${2:-}" >fstab
	# shellcheck disable=SC2016 # expanded by the inner shell
	boot_systemd "$k80fs" \
		"Environment=K80FS_OPTIONS=backend=sim,sim_dies=2,sim_vram=64M,sim_dir=$WORK/dies" \
		'mount --bind fstab /etc/fstab
		mkdir /run/scratch
		# as it has by default, but for the targets of the whole system
		printf "%s\n" "[Unit]" Conflicts=shutdown.target \
			Before=shutdown.target "[Service]" \
			"ExecStop=/bin/sh -c \"findmnt -no TARGET /run/scratch >$PWD/stops\"" \
			>/run/systemd/system/k80fs.service.d/shutdown.conf'
	started
	run inside bash -euc "$1"
	[ "$rc" -eq 0 ] || die "$(cat out log)"
	inside sh -c 'echo hello >/run/scratch/file'
	inside systemctl poweroff --no-wall 2>/dev/null
	# sooner than the unit would have its daemon killed
	wait_for has_ended "$systemd"
	run dumpe2fs -h dies/die1
	expect_line 'Filesystem state:         clean' out
	expect hello "$(debugfs -R 'cat file' dies/die1 2>/dev/null)"
}

has_ended()
{
	! kill -0 "$1"
}

test_shutdown_waits_for_a_file_system_on_a_die()
{
	shut_down_with 'mkfs.ext4 -q /run/k80/die1/vram
		mount -o loop /run/k80/die1/vram /run/scratch'
}

test_shutdown_takes_a_file_system_of_fstab_away_before_the_mount()
{
	shut_down_with 'mkfs.ext4 -q /run/k80/die1/vram
		systemctl start run-scratch.mount' \
		'/run/k80/die1/vram /run/scratch ext4 loop,nofail,x-systemd.requires=k80fs.service 0 0'
	[ -e stops ] || die "k80fs was not stopped"
	expect '' "$(cat stops)" "mounted when the stop of k80fs began"
}

test_daemon_that_is_asked_to_end_stays_ended()
{
	local k80fs=$TOP/build/k80fs

	[ -x "$k80fs" ] || skip "needs build/k80fs"
	boot_systemd "$k80fs" \
		'Environment=K80FS_OPTIONS=backend=sim,sim_dies=2,sim_vram=64M'
	ended systemctl kill --kill-who=main --signal=TERM k80fs
	ended systemctl kill --kill-who=all --signal=TERM k80fs
	ended umount "$MOUNT"
}

test_start_beside_a_tree_mounted_by_hand_leaves_that_alone()
{
	empty_daemon
	boot_systemd "$WORK/daemon" Restart=no
	inside mkdir -p "$MOUNT"
	inside mount.k80fs k80fs "$MOUNT"
	inside stat -f "$MOUNT" >/dev/null
	run inside systemctl start k80fs
	[ "$rc" -ne 0 ] || die "started beside it"
	expect 1 "$(inside findmnt -n -r -o TARGET | grep -cFx "$MOUNT")"
	inside stat -f "$MOUNT" >/dev/null
}

# what a daemon may do there, a word each, and then an empty folder
probing_daemon()
{
	cat >daemon <<-EOF
		#!/bin/sh
		for dir; do :; done
		{
			! unshare -m true || echo namespace
			# CAP_SYS_MODULE, which not every kernel asks for
			caps=0x\$(sed -n 's/^CapEff:[^0-9a-f]*//p' /proc/self/status)
			[ \$((caps >> 16 & 1)) -eq 0 ] || echo module
			mknod \$dir.node c 1 11 && : >\$dir.node &&
				echo node
		} >\$dir.may 2>\$dir.err
		exec $PYTHON $FAKEFUSE unit "\$dir"
	EOF
	chmod 755 daemon
}

test_drop_in_lets_it_compute()
{
	probing_daemon
	boot_systemd "$WORK/daemon"
	started
	expect '' "$(inside cat "$MOUNT.may")" "$(inside cat "$MOUNT.err")"
	run inside systemctl stop k80fs
	inside rm -f "$MOUNT.node" "$MOUNT.may"
	inside cp "$HELPERS/k80fs-compute.conf" \
		/run/systemd/system/k80fs.service.d/
	inside systemctl daemon-reload
	started
	expect 'namespace module node' \
		"$(inside cat "$MOUNT.may" | tr '\n' ' ' | sed 's/ $//')" \
		"$(inside cat "$MOUNT.err")"
	expect no "$(property SendSIGKILL)"
}

# boot_keeper LINE: systemd with k80-keeper and its unit, and k80fs whose unit has
# LINE in its [Service]
boot_keeper()
{
	[ -x "$TOP/build/k80-keeper" ] || skip "needs build/k80-keeper"
	# shellcheck disable=SC2016 # expanded in its mount namespace
	boot_systemd "$TOP/build/k80fs" "$1" '
		ln -sf "$HELPERS/../build/k80-keeper" sbin/
		cp "$HELPERS/k80-keeper.service" $units/
		mkdir /run/ledger $units/k80-keeper.service.d
		printf "[Unit]\nDefaultDependencies=no\n" \
			>$units/k80-keeper.service.d/test.conf'
}

keeper_property()
{
	inside systemctl show -P "$1" k80-keeper
}

test_keeper_unit_listens_when_it_is_started_and_frees_all_when_it_is_stopped()
{
	local pid

	boot_keeper Restart=no
	run inside systemctl start k80-keeper
	expect 0 "$rc" "$(cat out log)"
	pid=$(keeper_property MainPID)
	run inside k80-keeper --status
	expect 0 "$rc" "$(cat out)"
	expect "k80-keeper $pid at /run/k80fs/keeper.sock" "$(cat out)"
	# where a container lets nobody do that there is nothing to see
	if (echo -1000 >/proc/self/oom_score_adj) 2>/dev/null; then
		expect -1000 "$(inside cat "/proc/$pid/oom_score_adj")"
	fi
	if (ulimit -n 524288) 2>/dev/null; then
		inside grep -q '^Max open files  *524288  *524288' \
			"/proc/$pid/limits" || die "$(inside cat "/proc/$pid/limits")"
	fi
	expect 755 "$(inside stat -c %a /run/k80fs)" "mode of the folder"
	inside touch /run/k80fs/another
	inside systemctl stop k80-keeper
	expect success "$(keeper_property Result)"
	inside test ! -e /run/k80fs/keeper.sock || die "the socket is left"
	inside test -e /run/k80fs/another || die "the folder was emptied"
}

# it is no part of the service that needs it, and outlives that
test_k80fs_starts_the_keepers_unit()
{
	local pid

	[ -e "$TOP/build/cuda/libcuda.so.1" ] || skip "needs build/cuda"
	boot_keeper "Environment=K80FS_OPTIONS=backend=cuda,mem STANDIN_DEVICES=1 STANDIN_VRAM=256M STANDIN_LEDGER=/run/ledger LD_LIBRARY_PATH=$TOP/build/cuda"
	started
	expect active "$(keeper_property ActiveState)" "$(cat log)"
	pid=$(keeper_property MainPID)
	inside grep -q '/k80-keeper.service$' "/proc/$pid/cgroup" ||
		die "not a unit's: $(inside cat "/proc/$pid/cgroup")"
	inside sh -c "echo kept >'$MOUNT/die0/mem/note'"
	run inside systemctl kill --kill-who=all --signal=KILL k80fs
	wait_for is_up_again
	expect kept "$(inside cat "$MOUNT/die0/mem/note")"
	run inside systemctl stop k80fs
	expect "$pid" "$(keeper_property MainPID)" "the keeper's process"
	run inside systemctl start k80fs
	expect kept "$(inside cat "$MOUNT/die0/mem/note")"
	inside rm "$MOUNT/die0/mem/note"
}

is_up_again()
{
	inside test -e "$MOUNT/die0/mem/note"
}
