# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # rc comes from lib.sh
#
# The udev rule, the modprobe.d file and the unit, as their readers see them.

test_unit_has_no_directive_systemd_does_not_know()
{
	command -v systemd-analyze >/dev/null || skip "needs systemd-analyze"
	# the helpers are not where the unit will find them
	sed 's|/sbin/u\?mount\.k80fs|/bin/true|' "$HELPERS/k80fs.service" \
		>k80fs.service
	run systemd-analyze verify --man=no "$WORK/k80fs.service"
	expect 0 "$rc" "$(cat out)"
	expect_no_line k80fs.service out
	# and a directive it does not know is reported
	echo 'NoSuchDirective=1' >>k80fs.service
	run systemd-analyze verify --man=no "$WORK/k80fs.service"
	expect_line NoSuchDirective out
}

test_unit_gives_the_daemon_no_mount_namespace()
{
	! grep -E '^(Protect|Private|ReadOnly|ReadWrite|Inaccessible|TemporaryFileSystem|Bind|RootDirectory|DynamicUser|MountFlags)' \
		"$HELPERS/k80fs.service" || die "hides the mount"
}

test_modprobe_file_keeps_each_driver_away_twice()
{
	local driver

	command -v modprobe >/dev/null || skip "needs modprobe"
	mkdir conf
	cp "$HELPERS/bar_swap.conf" conf/
	modprobe -C conf -c >parsed 2>errors
	expect '' "$(cat errors)"
	for driver in nvidia nvidia_drm nvidia_modeset nvidia_uvm; do
		grep -qx "blacklist $driver" parsed
		grep -qx "install $driver /bin/false" parsed
	done
	grep -qx 'blacklist nouveau' parsed
	grep -q '^softdep nvidia pre: bar_swap' parsed
}

test_modprobe_file_names_only_parameters_of_the_module()
{
	local name

	[ -e "$TOP/kmod/main.c" ] || skip "needs kmod/main.c"
	sed -n 's/^#\?options bar_swap //p' "$HELPERS/bar_swap.conf" |
		tr ' ' '\n' | cut -d= -f1 | sort -u >names
	[ -s names ] || die "no parameter shown"
	while read -r name; do
		grep -qE "module_param(_named|_string|_array)?\($name," \
			"$TOP"/kmod/*.c || die "no parameter $name"
	done <names
}

test_udev_rule_opens_the_node_to_the_group_alone()
{
	local rule

	rule=$(grep -v '^#' "$HELPERS/60-bar-swap.rules" | grep .)
	expect 1 "$(echo "$rule" | wc -l)"
	expect 'SUBSYSTEM=="misc",KERNEL=="bar_swap",GROUP="k80",MODE="0660",TAG+="systemd"' \
		"$(echo "$rule" | tr -d ' ')"
}
