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

test_modprobe_file_is_what_modprobe_reads()
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
}

# a module for depmod: stub FILE NAME ALIAS
stub()
{
	printf '__attribute__((section(".modinfo"), used)) %s = "%s";\n' \
		'static const char info[]' \
		"name=$2\\0alias=$3" |
		gcc -xc -c -o "$tree/updates/$1.ko" -
}

# Modules as on a machine with bar_swap and the vendor's driver, whose files are
# named $1, $1-uvm, ...; conf/ has our file.
driver_tree()
{
	local m

	command -v modprobe >/dev/null || skip "needs modprobe"
	command -v depmod >/dev/null || skip "needs depmod"
	command -v gcc >/dev/null || skip "needs gcc"
	tree=$WORK/lib/modules/6.1.0
	mkdir -p "$tree/updates" conf
	: >"$tree/modules.order"
	: >"$tree/modules.builtin"
	stub bar_swap bar_swap none
	stub "$1" nvidia 'pci:v000010DEd*sv*sd*bc03sc02i00*'
	for m in uvm modeset drm; do
		stub "$1-$m" nvidia_$m none
	done
	depmod -b "$WORK" 6.1.0 2>depmod.log || die "$(cat depmod.log)"
	cp "$HELPERS/bar_swap.conf" conf/
}

# what modprobe would do, a line each, with conf/ as its configuration
would()
{
	modprobe -d "$WORK" -S 6.1.0 -C conf -n -v "$@" 2>&1 |
		sed 's|/.*/||; s/ *$//'
}

K80='pci:v000010DEd0000102Dsv000010DEsd0000106Cbc03sc02i00'

# neither udev nor who asks for nvidia loads anything
expect_away()
{
	local ask

	for ask in nvidia nvidia-uvm nvidia-modeset nvidia-drm; do
		would "$ask" >said
		expect 'install false' "$(cat said)" "modprobe $ask"
		would -b "$ask" >said
		expect_no_line insmod said
	done
	for ask in "$1" "$K80"; do
		would -b "$ask" >said
		expect_no_line insmod said
	done
}

test_modprobe_loads_no_driver_whatever_its_files_are_called()
{
	local name

	for name in nvidia nvidia-current nvidia-tesla-470; do
		driver_tree $name
		expect_away $name
		rm -rf lib conf
	done
}

test_modprobe_loads_no_driver_though_others_have_a_softdep()
{
	local name

	for name in nvidia nvidia-tesla-470; do
		driver_tree $name
		printf 'softdep %s post: %s-uvm\n' nvidia $name $name $name \
			>conf/nvidia.conf
		expect_away $name
		rm -rf lib conf
	done
}

test_modprobe_loads_no_driver_beside_the_configuration_of_debian()
{
	driver_tree nvidia-tesla-470
	cat >conf/nvidia.conf <<-'E'
	install nvidia modprobe -i nvidia-tesla-470 $CMDLINE_OPTS
	install nvidia-uvm modprobe nvidia ; modprobe -i nvidia-tesla-470-uvm $CMDLINE_OPTS
	alias pci:v000010DEd*sv*sd*bc03sc02i00* nvidia
	E
	expect_away nvidia-tesla-470
	would --ignore-install nvidia-tesla-470 >said
	expect 'insmod nvidia-tesla-470.ko' "$(cat said)"
	would --ignore-install nvidia-tesla-470-uvm >said
	expect_line 'insmod nvidia-tesla-470-uvm.ko' said
}

test_softdep_before_the_driver_would_load_it()
{
	# why the file has none: this is what the others are measured with
	driver_tree nvidia
	sed -i 's/^softdep nvidia pre:$/& bar_swap/' conf/bar_swap.conf
	would nvidia >said
	expect_line nvidia.ko said
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
	local ours='SUBSYSTEM=="misc",KERNEL=="bar_swap"' rules

	rules=$(grep -v '^#' "$HELPERS/60-bar-swap.rules" | grep . | tr -d ' ')
	# udev leaves out a line whose group it does not know, mode and all, and
	# who waits for the module waits without that group too
	expect "$ours,TAG+=\"systemd\"
$ours,GROUP=\"k80\",MODE=\"0660\"" "$rules"
}
