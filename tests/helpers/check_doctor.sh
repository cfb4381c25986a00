# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # rc comes from lib.sh
#
# k80-doctor against trees of fixtures: a good machine, then one fault each.

# shellcheck source=tests/helpers/machine.sh
. "$TOP/tests/helpers/machine.sh"

test_good_machine_is_ready()
{
	good_machine
	doctor
	expect 0 "$rc" "$(cat out)"
	expect 0 "$(grep -c '^problem' out)"
	expect 16 "$(grep -c '^ok ' out)"
	expect ready "$(tail -n 1 out)"
	expect_line '6 of 10de:102d: 0000:03:00.0 0000:04:00.0' out
}

test_quiet_prints_problems_only()
{
	good_machine
	doctor --quiet
	expect 0 "$rc"
	expect '' "$(cat out)"
	: | put etc/group
	doctor -q
	expect 1 "$rc"
	expect 0 "$(grep -c '^ok' out)"
	expect 1 "$(grep -c '^problem' out)"
}

test_nothing_below_the_root_is_written()
{
	good_machine
	chmod -R a-w root
	find root -printf '%p %s %T@ %m\n' | sort >before
	doctor
	find root -printf '%p %s %T@ %m\n' | sort >after
	cmp before after
	chmod -R u+w root
}

test_no_die()
{
	good_machine
	rm -r root/sys/bus/pci/devices/0000:0[1-9a-c]*
	sed -i '/ 0000:03:00.0/d' root/proc/iomem
	expect_problem dies 'no PCI device 10de:102d' 'is the card seated'
}

test_cpu_with_too_few_address_bits()
{
	good_machine
	echo 'address sizes	: 35 bits physical, 48 bits virtual' | put proc/cpuinfo
	expect_problem address-width '35 bits: too few for 0xfffffffff'
}

test_cpu_without_address_sizes()
{
	good_machine
	: | put proc/cpuinfo
	expect_problem address-width 'no "address sizes"'
}

# without a window both the slot and its cure are reported
expect_no_window()
{
	doctor
	expect 1 "$rc"
	expect 2 "$(grep -c '^problem' out)" "problems in $(cat out)"
	grep -q '^problem  slot-bar1 .*no host bridge window contains 0xc00000000-0xfffffffff' out
	grep -q "^problem  dsdt-override .*$1" out || die "$(cat out)"
}

no_window()
{
	good_machine
	sed -i '/^600000000/,$d' root/proc/iomem
}

test_no_window_and_no_override()
{
	no_window
	rm root/boot/dsdt_override.cpio
	expect_no_window 'no /boot/dsdt_override.cpio'
	expect_line '-> make a DSDT override' out
	expect_no_line 'GRUB_EARLY' out
	expect_no_line '-> update-grub' out
}

test_no_window_and_override_not_in_grub()
{
	no_window
	echo "	initrd /boot/initrd.img-$REL" | put boot/grub/grub.cfg
	sed -i /EARLY/d root/etc/default/grub
	expect_no_window 'not loaded by GRUB'
	expect_line 'GRUB_EARLY_INITRD_LINUX_CUSTOM="dsdt_override.cpio"' out
	expect_line '-> update-grub' out
}

test_no_window_although_the_override_is_loaded()
{
	no_window
	expect_no_window 'there but not in effect'
	expect_line 'dmesg | grep "Table Upgrade"' out
}

test_window_too_narrow_by_one_byte()
{
	good_machine
	sed -i '/^  /d; s/^600000000-fffffffff/600000000-ffffffffe/' \
		root/proc/iomem
	expect_problem slot-bar1 \
		'no host bridge window contains 0xc00000000-0xfffffffff' \
		'options bar_swap bar1=0x800000000 (claims, but'
	good_machine
	sed -i '/^  /d; s/^600000000-fffffffff/c00000001-fffffffff/' \
		root/proc/iomem
	expect_no_window 'too small: c00000001-fffffffff'
	expect_line 'make a DSDT override: give PCI0._CRS a QWordMemory window around 0xc00000000-0xfffffffff' out
}

test_wide_window_needs_no_override()
{
	good_machine
	rm root/boot/dsdt_override.cpio
	expect_ok dsdt-override 'not needed'
}

test_foreign_device_in_the_slot()
{
	good_machine
	sed -i '/^  f7c00000/d; /e1000e/d; /^  c00000000/,$d' root/proc/iomem
	echo '  e1f400000-e1f4fffff : 0000:00:19.0' >>root/proc/iomem
	expect_problem slot-bar1 'holds 0000:00:19.0 at e1f400000-e1f4fffff' \
		'options bar_swap bar1=0x800000000'
}

test_system_ram_in_the_slot()
{
	good_machine
	sed -i '/^  *c00000000/d; s/^600000000.*/100000000-c3fffffff : System RAM/' \
		root/proc/iomem
	doctor
	expect 1 "$rc"
	expect_line 'holds System RAM at 100000000-c3fffffff' out
}

test_framebuffer_in_the_low_range()
{
	good_machine
	sed -i 's/^  f7c00000.*/  f5000000-f57fffff : BOOTFB/; /e1000e/d' \
		root/proc/iomem
	expect_problem slot-bar0-bar3 'holds BOOTFB at f5000000-f57fffff'
}

test_low_range_outside_the_window()
{
	good_machine
	sed -i 's/^c0000000-febfffff/c0000000-f4ffffff/' root/proc/iomem
	expect_problem slot-bar0-bar3 'no host bridge window contains 0xf3000000-0xf5ffffff'
}

test_driver_region_below_a_die_is_no_stranger()
{
	good_machine
	echo '      f3000000-f3ffffff : nvidia' >>root/proc/iomem
	expect_ok slot-bar0-bar3 'lies in c0000000-febfffff'
}

test_slot_of_the_configuration_is_checked()
{
	good_machine
	echo 'options bar_swap first_sbr=0 bar1=0x400000000' |
		put etc/modprobe.d/slot.conf
	touch -d '2020-01-01' root/etc/modprobe.d/slot.conf
	doctor
	expect_line 'holds System RAM at 100000000-5ffffffff' out
}

test_hidden_addresses_ask_for_root()
{
	good_machine
	sed -i 's/[0-9a-f]*-[0-9a-f]* :/00000000-00000000 :/' root/proc/iomem
	doctor -q
	expect 3 "$rc" "$(cat out)"
	expect 'unknown  slot' "$(cut -c 1-13 out | head -n 1)"
	expect_line '/proc/iomem shows no addresses' out
	expect 1 "$(grep -c -e '-> run as root' out)"
	expect 3 "$(wc -l <out)" "lines in $(cat out)"
}

test_kernel_parameter_missing()
{
	good_machine
	echo 'ro pci=hpmemsize=0' | put proc/cmdline
	echo 'GRUB_CMDLINE_LINUX=""' | put etc/default/grub
	expect_problem kernel-parameters 'missing: pci=hpmmioprefsize=0' \
		'add to GRUB_CMDLINE_LINUX'
	expect_no_line 'pci=hpmemsize=0' out
}

test_kernel_parameter_set_but_not_booted_with()
{
	good_machine
	echo ro | put proc/cmdline
	expect_problem kernel-parameters 'set in GRUB, not in effect' 'update-grub, reboot'
}

test_kernel_parameters_joined_by_a_comma()
{
	good_machine
	echo 'ro pci=noaer,hpmemsize=0,hpmmioprefsize=0' | put proc/cmdline
	expect_ok kernel-parameters pci=hpmemsize=0
}

test_blacklist_without_install()
{
	good_machine
	sed -i '/^install nvidia_uvm/d' root/etc/modprobe.d/bar_swap.conf
	touch -d '2020-01-01' root/etc/modprobe.d/bar_swap.conf
	expect_problem driver-files 'in no modprobe.d: install nvidia_uvm /bin/false' \
		'copy bar_swap.conf'
}

test_install_without_blacklist()
{
	good_machine
	sed -i '/^blacklist nvidia_drm/s/^/#/' root/etc/modprobe.d/bar_swap.conf
	touch -d '2020-01-01' root/etc/modprobe.d/bar_swap.conf
	expect_problem driver-files 'in no modprobe.d: blacklist nvidia_drm'
}

# a file of an older version of ours, beside Debian's package
test_driver_named_after_its_branch()
{
	local f

	good_machine
	for f in '' -uvm -modeset; do
		: | put "lib/modules/$REL/updates/dkms/nvidia-tesla-470$f.ko"
	done
	expect_ok driver-files blacklist
	sed -i /nvidia_tesla_470/d root/etc/modprobe.d/bar_swap.conf
	touch -d '2020-01-01' root/etc/modprobe.d/bar_swap.conf
	expect_problem driver-files 'in no modprobe.d: blacklist nvidia_tesla_470' \
		'copy bar_swap.conf'
}

test_softdep_that_undoes_install()
{
	good_machine
	sed -i 's/^softdep nvidia pre:$/& bar_swap/' \
		root/etc/modprobe.d/bar_swap.conf
	touch -d '2020-01-01' root/etc/modprobe.d/bar_swap.conf
	expect_problem driver-files 'a softdep line undoes' 'copy bar_swap.conf'
}

test_softdep_of_others_that_ours_comes_before()
{
	good_machine
	echo 'softdep nvidia post: nvidia-uvm' | put usr/lib/modprobe.d/nvidia.conf
	expect_ok driver-files blacklist
}

test_dashes_and_tabs_in_modprobe_files()
{
	good_machine
	sed -i 's/nvidia_/nvidia-/; s/^install /install	/; s|/bin|/usr/bin|' \
		root/etc/modprobe.d/bar_swap.conf
	touch -d '2020-01-01' root/etc/modprobe.d/bar_swap.conf
	expect_ok driver-files blacklist
}

test_initramfs_older_than_the_modprobe_files()
{
	good_machine
	touch -d '2019-01-01' "root/boot/initrd.img-$REL"
	expect_problem initramfs "/boot/initrd.img-$REL is older than /etc/modprobe.d/bar_swap.conf" \
		'update-initramfs -u'
}

test_no_initramfs_is_ok()
{
	good_machine
	rm "root/boot/initrd.img-$REL"
	expect_ok initramfs 'none in /boot'
}

test_driver_bound_to_a_die()
{
	good_machine
	ln -s ../../../../bus/pci/drivers/nouveau \
		root/sys/bus/pci/devices/0000:07:00.0/driver
	expect_problem drivers 'bound: 0000:07:00.0 nouveau' 'unload it'
}

test_driver_loaded_before_the_module()
{
	good_machine
	echo 'nvidia 35000000 0 - Live 0x0' | put proc/modules
	expect_problem drivers 'loaded before bar_swap: nvidia'
}

test_driver_beside_the_loaded_module_is_ok()
{
	good_machine
	printf 'nvidia 1 0 - Live 0x0\nbar_swap 1 1 - Live 0x0\n' |
		put proc/modules
	: | put dev/bar_swap
	ln -s ../../../../bus/pci/drivers/nvidia \
		root/sys/bus/pci/devices/0000:07:00.0/driver
	expect_ok drivers '0000:07:00.0 nvidia'
}

test_no_headers()
{
	good_machine
	rm -r "root/lib/modules/$REL/build"
	expect_problem headers "none for the running kernel $REL" \
		"apt-get install linux-headers-$REL"
}

test_headers_of_another_kernel()
{
	good_machine
	mv "root/lib/modules/$REL/build" root/lib/modules/other
	expect_problem headers "none for the running kernel $REL"
}

test_module_not_built()
{
	good_machine
	rm -r "root/lib/modules/$REL/updates"
	expect_problem module "no bar_swap.ko for kernel $REL"
}

test_lockdown()
{
	good_machine
	echo 'none [integrity] confidentiality' | put sys/kernel/security/lockdown
	expect_problem lockdown 'integrity: the kernel refuses unsigned modules' 'sign bar_swap.ko'
}

test_kernel_without_lockdown_is_ok()
{
	good_machine
	rm root/sys/kernel/security/lockdown
	expect_ok lockdown none
}

test_no_group()
{
	good_machine
	printf 'root:x:0:\nk80s:x:9:\n' | put etc/group
	expect_problem group 'no group k80' 'groupadd --system k80'
}

test_no_udev_rule()
{
	good_machine
	rm root/etc/udev/rules.d/60-bar-swap.rules
	expect_problem device-node 'no udev rule'
	: | put lib/udev/rules.d/60-bar-swap.rules
	expect_ok device-node /lib/udev/rules.d
}

test_module_loaded_without_its_node()
{
	good_machine
	echo 'bar_swap 1 1 - Live 0x0' | put proc/modules
	expect_problem device-node '/dev/bar_swap is not there'
}

test_no_fuse()
{
	good_machine
	rm root/dev/fuse root/proc/filesystems
	expect_problem fuse 'no /dev/fuse' 'modprobe fuse'
}

test_no_fusermount()
{
	good_machine
	rm root/usr/bin/fusermount3
	expect_problem fuse 'no fusermount3'
}

test_bad_arguments_are_exit_code_2()
{
	run "$HELPERS/k80-doctor" --root
	expect 2 "$rc"
	run "$HELPERS/k80-doctor" --root "$WORK/nowhere"
	expect 2 "$rc"
	run "$HELPERS/k80-doctor" --nonsense
	expect 2 "$rc"
}

test_runs_on_the_machine_it_is_on()
{
	run "$HELPERS/k80-doctor"
	[ "$rc" -le 1 ] || [ "$rc" -eq 3 ] || die "exit code $rc"
	n=$(grep -cE '^(ok|problem|unknown) ' out)
	# three of them are one where the slot cannot be judged
	[ "$n" -eq 16 ] || [ "$n" -eq 14 ] || die "$n checks in $(cat out)"
}
