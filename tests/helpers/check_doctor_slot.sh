# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # rc comes from lib.sh
#
# k80-doctor against whole machines: where the slot is, where it could be, who
# lives beside the dies, and what is configured where.
# shellcheck source=tests/helpers/machine.sh
. "$TOP/tests/helpers/machine.sh"

# bare_machine [RAM [WINDOW]]: good, one K80, no override, these ranges
bare_machine()
{
	good_machine
	rm -rf root/sys/devices/pci0000:00/0000:00:0[23].0 \
		root/sys/bus/pci/devices/0000:{0[5-9],0a,0b,0c}:* \
		root/sys/bus/pci/devices/0000:00:0[23].0 \
		root/boot/dsdt_override.cpio
	iomem 'dfa00000-feafffff : PCI Bus 0000:00' \
		'  f1000000-f2ffffff : PCI Bus 0000:01' \
		"${1:-100000000-41f5fffff} : System RAM" \
		"${2:-41f600000-fffffffff} : PCI Bus 0000:00"
}

cpu_bits()
{
	echo "address sizes	: $1 bits physical, 48 bits virtual" | put proc/cpuinfo
}

with_override()
{
	: | put boot/dsdt_override.cpio
	echo 'initrd /boot/dsdt_override.cpio /i' | put boot/grub/grub.cfg
}

# verdict_is CODE [low]: what a program reads
verdict_is()
{
	doctor --json
	expect "$1" "$("$PYTHON" -c '
import json, sys
d = json.load(open("out"))
print(next(c["code"] for c in d["checks"] if c["check"] == sys.argv[1]))' \
		"slot-${2:-bar1}")" "code of $(cat out)"
}

test_bare_machine_is_ready()
{
	bare_machine
	doctor -q
	expect '0:' "$rc:$(cat out)"
	verdict_is ok
	verdict_is ok bar0-bar3
}

test_more_memory_moves_the_slot_up()
{
	bare_machine
	echo 'options bar_swap bar1=0x400000000' | conf slot.conf
	expect_problem slot-bar1 'holds System RAM at 100000000-41f5fffff' \
		'options bar_swap bar1=0xc00000000'
	expect_no_line QWordMemory out
	verdict_is ram
}

test_window_far_above_the_memory()
{
	bare_machine 100000000-103fffffff 380000000000-383fffffffff
	cpu_bits 46
	expect_problem slot-bar1 'holds System RAM' \
		'options bar_swap bar1=0x380000000000'
	expect_line '0x380000000000 to 0x383c00000000, 16 places: free, in 380000000000-383fffffffff' out
	expect_no_line QWordMemory out
}

test_free_window_elsewhere_needs_an_option_only()
{
	bare_machine 100000000-81f5fffff 2000000000-2fffffffff
	cpu_bits 39
	expect_problem slot-bar1 'no host bridge window contains' \
		'options bar_swap bar1=0x2000000000'
	verdict_is window
	echo 'options bar_swap bar1=0x2000000000' | conf slot.conf
	expect_ok slot-bar1 0x2000000000
}

test_override_in_effect_that_ends_below_the_slot()
{
	bare_machine 100000000-21f5fffff 21f600000-bffffffff
	with_override
	expect_problem slot-bar1 'no host bridge window contains' \
		'options bar_swap bar1=0x400000000'
	expect_no_line 'not in effect' out
}

test_low_range_under_mmconfig()
{
	bare_machine
	iomem '9a000000-efffffff : PCI Bus 0000:00' \
		'f0000000-f7ffffff : PCI MMCONFIG 0000 [bus 00-7f]' \
		'f8000000-fbffffff : PCI Bus 0000:00' \
		'100000000-41f5fffff : System RAM' \
		'41f600000-fffffffff : PCI Bus 0000:00'
	expect_problem slot-bar0-bar3 'PCI MMCONFIG' \
		'options bar_swap bar0=0xf9000000 bar3=0xfa000000'
	echo 'options bar_swap bar0=0xf9000000 bar3=0xfa000000' | conf slot.conf
	expect_ok slot-bar0-bar3 '0xf9000000-0xfbffffff'
}

test_no_room_below_4_gib()
{
	bare_machine
	sed -i 's/^dfa00000-feafffff/fd000000-feafffff/; s/^  f1.*/  fd000000-fd0fffff : PCI Bus 0000:01/' \
		root/proc/iomem
	expect_problem slot-bar0-bar3 'no host bridge window contains' \
		'no place of 48 MiB in a window below 4 GiB'
}

test_bar0_behind_bar3_where_only_that_fits()
{
	bare_machine
	sed -i 's/^dfa00000-feafffff/f4000000-f6ffffff/; /^  f1/d' root/proc/iomem
	expect_problem slot-bar0-bar3 'no host bridge window contains' \
		'options bar_swap bar0=0xf6000000 bar3=0xf4000000'
}

test_dies_below_another_host_bridge_than_the_window()
{
	bare_machine
	rm -r root/sys/devices/pci0000:00/0000:00:01.0
	rm root/sys/bus/pci/devices/0000:0[0-4]:*
	put_board 0000:80:02.0 81 0000:80
	doctor -q
	expect 1 "$rc"
	expect_line 'no host bridge window contains 0xc00000000-0xfffffffff' out
	expect_line '-> the window 41f600000-fffffffff is that of host bridge 0000:00, the dies are below 0000:80' out
	expect_no_line QWordMemory out
	verdict_is window
}

test_dies_passed_through_to_the_root_bus()
{
	bare_machine
	rm -r root/sys/devices/pci0000:00 root/sys/bus/pci/devices
	put_die pci0000:00/0000:00:05.0
	doctor -q
	expect 1 "$rc"
	expect_line 'no die found' out
	expect_line '0000:00:05.0 ignored: no bridge above it' out
}

test_dies_that_share_a_conventional_bridge()
{
	bare_machine
	rm -r root/sys/devices/pci0000:00 root/sys/bus/pci/devices
	put_bridge pci0000:00/0000:00:1e.0 01
	put_die pci0000:00/0000:00:1e.0/0000:01:01.0
	put_die pci0000:00/0000:00:1e.0/0000:01:02.0
	expect_problem ports \
		'unusable: 0000:01:01.0 [10de:102d] below 0000:00:1e.0 shares its port'
}

test_die_passed_through_with_a_port_of_its_own()
{
	bare_machine
	rm -r root/sys/devices/pci0000:00 root/sys/bus/pci/devices
	put_bridge pci0000:00/0000:00:1c.0 01
	put_die pci0000:00/0000:00:1c.0/0000:01:00.0
	doctor -q
	expect 0 "$rc" "$(cat out)"
}

test_empty_foreign_port_over_the_slot()
{
	bare_machine
	echo '  bc0100000-c000fffff : PCI Bus 0000:0d' >>root/proc/iomem
	expect_problem slot-bar1 'holds PCI Bus 0000:0d at bc0100000-c000fffff' \
		'no other place is free: take out what is there'
	verdict_is stranger
}

test_own_ports_over_the_slot_are_no_strangers()
{
	bare_machine
	cat >>root/proc/iomem <<-'EOF'
		  bc0100000-fffffffff : PCI Bus 0000:01
		    c00000000-fffffffff : PCI Bus 0000:02
		      c00000000-fffffffff : PCI Bus 0000:04
		        c00000000-fffffffff : 0000:04:00.0
	EOF
	doctor -q
	expect 0 "$rc" "$(cat out)"
}

test_network_card_beside_the_dies()
{
	bare_machine
	put_device pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:01.0/0000:05:00.0 \
		0x8086 0x1572 0x020000
	put_bridge pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:01.0 05
	expect_problem ports \
		'unusable: 0000:05:00.0 [8086:1572] below 0000:00:01.0 is not a die'
}

# its windows are then a stranger's too
test_network_card_beside_the_dies_of_one_of_two_boards()
{
	good_machine
	put_device pci0000:00/0000:00:02.0/0000:05:00.0/0000:06:01.0/0000:0e:00.0 \
		0x8086 0x1572 0x020000
	put_bridge pci0000:00/0000:00:02.0/0000:05:00.0/0000:06:01.0 0e
	sed -i 's/^  c00000000-fffffffff : PCI Bus 0000:01/  c00000000-fffffffff : PCI Bus 0000:05/' \
		root/proc/iomem
	doctor -q
	expect 1 "$rc"
	expect_line 'unusable: 0000:0e:00.0 [8086:1572] below 0000:00:02.0 is not a die' out
	expect_line 'holds PCI Bus 0000:05 at c00000000-fffffffff' out
}

test_port_that_forwards_vga()
{
	bare_machine
	{
		head -c 62 /dev/zero
		printf '\10\0'
	} >root/sys/devices/pci0000:00/0000:00:01.0/config
	expect_problem ports \
		'0000:00:01.0 [10b5:8747] below 0000:00:01.0 forwards VGA'
}

test_fixed_resource_below_the_port()
{
	bare_machine
	echo '0x00000000f0000000 0x00000000f0ffffff 0x0000000000140214' \
		>root/sys/bus/pci/devices/0000:03:00.0/resource
	expect_problem ports \
		'0000:03:00.0 [10de:102d] below 0000:00:01.0 has a fixed resource'
}

test_ports_own_bar_in_the_low_range()
{
	bare_machine
	echo '0x00000000f5000000 0x00000000f503ffff 0x0000000000040200' \
		>root/sys/bus/pci/devices/0000:01:00.0/resource
	expect_problem slot-bar0-bar3 \
		'holds a BAR of port 0000:01:00.0 at 0xf5000000-0xf503ffff' \
		'options bar_swap bar0='
	verdict_is port bar0-bar3
}

test_another_gpu_by_its_id()
{
	bare_machine
	sed -i s/102d/17fd/ root/sys/bus/pci/devices/0000:0[34]*/device
	expect_problem dies 'no PCI device 10de:102d'
	echo 'options bar_swap ids=10DE:17fd' | conf s.conf
	expect_ok dies '2 of 10de:102d, 10de:17fd: 0000:03:00.0 0000:04:00.0'
}

test_several_ids_and_wrong_ones()
{
	bare_machine
	sed -i s/102d/17fd/ root/sys/bus/pci/devices/0000:04*/device
	echo 'options bar_swap ids=1002:66af,10de:17fd bar3_size=0' | conf s.conf
	expect_ok dies '2 of 10de:102d, 1002:66af, 10de:17fd'
	echo 'options bar_swap ids=10de:17fd;1002:66af' | conf s.conf
	expect_problem dies 'ids="10de:17fd;1002:66af" is not vvvv:dddd,...'
}

test_both_spellings_of_the_module()
{
	bare_machine 100000000-41f5fffff 41f600000-bffffffff
	echo 'options bar-swap bar1=0x800000000' | conf s.conf
	expect_ok slot-bar1 "0x800000000-0xbffffffff lies in .*the vendor's driver times out there"
}

test_kernel_line_is_read_last()
{
	bare_machine 100000000-41f5fffff 41f600000-bffffffff
	echo 'options bar_swap bar1=0x400000000' | conf s.conf
	echo 'ro bar-swap.bar1=0x800000000 pci=hpmemsize=0 pci=hpmmioprefsize=0' |
		put proc/cmdline
	expect_ok slot-bar1 0x800000000
	sed -i s/bar1=0x8/bar1=0x4/ root/proc/cmdline
	expect_problem slot-bar1 'holds System RAM' \
		'on the kernel line, where bar_swap.* is now: bar_swap.bar1=0x800000000'
}

test_loaded_module_says_what_it_has()
{
	bare_machine
	echo 'options bar_swap bar1=0x400000000' | conf s.conf
	echo 'bar_swap 1 1 - Live 0x0' | put proc/modules
	: | put dev/bar_swap
	echo 51539607552 | put sys/module/bar_swap/parameters/bar1
	expect_ok slot-bar1 0xc00000000
}

test_first_folder_hides_the_file_of_a_later_one()
{
	bare_machine 100000000-41f5fffff 41f600000-bffffffff
	echo 'options bar_swap bar1=0x400000000' | put run/modprobe.d/slot.conf
	echo 'options bar_swap bar1=0x100000000' | put usr/lib/modprobe.d/slot.conf
	echo 'options bar_swap bar1=0x800000000' | conf slot.conf
	expect_ok slot-bar1 0x800000000
	rm root/etc/modprobe.d/slot.conf
	doctor
	expect_line '0x400000000-0x7ffffffff holds System RAM' out
}

# by name, whatever the folder: the later line counts
test_order_is_that_of_the_names()
{
	bare_machine 100000000-41f5fffff 41f600000-bffffffff
	echo 'options bar_swap bar1=0x800000000' | put usr/lib/modprobe.d/z.conf
	echo 'options bar_swap bar1=0x400000000' | conf a.conf
	expect_ok slot-bar1 0x800000000
}

test_continued_line_and_comments()
{
	bare_machine 100000000-41f5fffff 41f600000-bffffffff
	conf slot.conf <<-'EOF'
		#options bar_swap bar1=0x100000000
		options bar_swap \
			first_sbr=0 \
			bar1=0x800000000
		# swallows the next \
		options bar_swap bar1=0x400000000
	EOF
	expect_ok slot-bar1 0x800000000
}

test_last_line_without_its_end()
{
	bare_machine 100000000-41f5fffff 41f600000-bffffffff
	printf 'options bar_swap bar1=0x800000000' | conf slot.conf
	expect_ok slot-bar1 0x800000000
}

test_dos_line_ends()
{
	bare_machine
	sed -i 's/$/\r/' root/etc/modprobe.d/bar_swap.conf
	touch -d '2020-01-01' root/etc/modprobe.d/bar_swap.conf
	expect_problem driver-files '/etc/modprobe.d/bar_swap.conf has DOS line ends' 'sed -i'
}

test_parameter_that_is_no_number()
{
	bare_machine
	echo 'options bar_swap bar1=0xC0000000G' | conf s.conf
	expect_problem slot 'bar1=0xC0000000G (modprobe.d) is no number'
	echo 'options bar_swap bar1=089' | conf s.conf
	expect_problem slot 'bar1=089 (modprobe.d) is no number'
}

test_decimal_and_upper_case_numbers()
{
	bare_machine
	echo 'options bar_swap bar1=0XC00000000 bar0=4076863488' | conf s.conf
	doctor -q
	expect 0 "$rc" "$(cat out)"
}

test_slot_that_is_not_aligned()
{
	bare_machine
	echo 'options bar_swap bar1=0x810000000' | conf s.conf
	expect_problem slot-bar1 'bar1 is not a power of two aligned to itself' \
		'options bar_swap bar1=0xc00000000'
	echo 'options bar_swap bar0=0xf3100000' | conf s.conf
	expect_problem slot-bar0-bar3 'bar0 is not a power of two aligned to itself'
	echo 'options bar_swap bar0=0xf4000000' | conf s.conf
	expect_problem slot-bar0-bar3 'bar0 and bar3 overlap'
}

test_line_that_grub_cuts()
{
	bare_machine
	echo 'GRUB_CMDLINE_LINUX="pci=resource_alignment=35@0000:03:00.0;35@0000:04:00.0 pci=hpmemsize=0 pci=hpmmioprefsize=0"' |
		put etc/default/grub
	echo 'ro pci=resource_alignment=35@0000:03:00.0' | put proc/cmdline
	expect_problem kernel-parameters 'GRUB ends the line at the ";" of pci=resource_alignment=35@0000:03:00.0;35@0000:04:00.0' \
		"quote that word a second time: GRUB_CMDLINE_LINUX=\"'pci=resource_alignment="
	expect_line '-> update-grub, reboot' out
}

# written by hand, or by a tool of the distribution
test_line_that_grub_cuts_in_its_own_file()
{
	bare_machine
	echo 'GRUB_CMDLINE_LINUX=""' | put etc/default/grub
	echo '	linux /vmlinuz ro pci=disable_acs_redir=1;2 pci=hpmemsize=0 pci=hpmmioprefsize=0' |
		put boot/grub/grub.cfg
	echo 'ro pci=disable_acs_redir=1' | put proc/cmdline
	expect_problem kernel-parameters 'GRUB ends the line at the ";" of pci=disable_acs_redir=1;2'
}

test_quoted_semicolon_is_whole()
{
	bare_machine
	cat <<-'EOF' | put etc/default/grub
		GRUB_CMDLINE_LINUX="'pci=resource_alignment=35@0000:03:00.0;35@0000:04:00.0' pci=hpmemsize=0 pci=hpmmioprefsize=0"
	EOF
	echo ro | put proc/cmdline
	expect_problem kernel-parameters 'set in GRUB, not in effect'
	expect_no_line 'GRUB ends the line' out
}

test_locked_down_kernel_takes_no_override()
{
	bare_machine 100000000-41f5fffff 41f600000-4ffffffff
	with_override
	echo 'none [integrity] confidentiality' | put sys/kernel/security/lockdown
	doctor -q
	expect 1 "$rc"
	expect_line 'dsdt_override.cpio is ignored, the kernel is locked down (integrity)' out
	expect 2 "$(grep -c 'turn Secure Boot off: the kernel ignores a DSDT override under it' out)"
	expect_no_line 'sign bar_swap.ko' out
	expect_no_line QWordMemory out
	sed -i 's/$/ lockdown=integrity/' root/proc/cmdline
	doctor -q
	expect_line 'take lockdown= off the kernel line' out
}

test_enforced_signatures()
{
	local dir

	bare_machine
	dir=root/lib/modules/$REL/updates/dkms
	echo Y | put sys/module/module/parameters/sig_enforce
	expect_problem lockdown 'sig_enforce: the kernel refuses unsigned modules' \
		'sign bar_swap.ko'
	sed -i 's/$/ module.sig_enforce=1/' root/proc/cmdline
	expect_problem lockdown 'sig_enforce' 'or take module.sig_enforce off'
	rm "$dir/bar_swap.ko.xz"
	printf 'ELF~Module signature appended~\n' >"$dir/bar_swap.ko"
	expect_ok lockdown 'sig_enforce, and bar_swap.ko is signed'
	gzip "$dir/bar_swap.ko"
	expect_ok lockdown 'sig_enforce, and bar_swap.ko is signed'
}

test_window_below_a_reserved_line()
{
	bare_machine
	iomem '9a000000-feafffff : Reserved' \
		'  9f800000-feafffff : PCI Bus 0000:00' \
		'100000000-41f5fffff : System RAM' \
		'41f600000-fffffffff : PCI Bus 0000:00'
	doctor -q
	expect 0 "$rc" "$(cat out)"
}

test_reserved_line_inside_a_window()
{
	bare_machine
	sed -i 's/^  f1.*/  f4000000-f4ffffff : Reserved/' root/proc/iomem
	expect_problem slot-bar0-bar3 'holds Reserved at f4000000-f4ffffff' \
		'options bar_swap bar0='
}

test_two_boards_below_two_host_bridges()
{
	bare_machine
	put_board 0000:80:02.0 81 0000:80
	cat >>root/proc/iomem <<-'EOF'
		1000000000-1fffffffff : PCI Bus 0000:80
	EOF
	cpu_bits 40
	expect_problem ports \
		"unusable: 0000:83:00.0: the slot is in another host bridge's windows"
	expect_line "unusable: 0000:84:00.0" out
}

test_the_host_bridge_that_has_both_windows()
{
	bare_machine
	rm -r root/sys/devices/pci0000:00/0000:00:01.0
	rm root/sys/bus/pci/devices/0000:0[0-4]:*
	put_board 0000:40:02.0 41 0000:40
	put_board 0000:80:02.0 81 0000:80
	iomem '90000000-9fffffff : PCI Bus 0000:40' \
		'dfa00000-feafffff : PCI Bus 0000:80' \
		'100000000-41f5fffff : System RAM' \
		'800000000-bffffffff : PCI Bus 0000:00' \
		'c00000000-fffffffff : PCI Bus 0000:80'
	expect_problem ports 'unusable: 0000:43:00.0'
	verdict_is ok
	verdict_is ok bar0-bar3
}

test_window_exactly_as_big_as_bar1()
{
	bare_machine 100000000-41f5fffff c00000000-fffffffff
	doctor
	expect 0 "$rc"
	expect_line '0xc00000000: free, in c00000000-fffffffff' out
}

test_window_with_a_card_in_its_middle()
{
	bare_machine 100000000-2ffffffff 400000000-1fffffffff
	cpu_bits 40
	echo '  e00000000-e000fffff : 0000:00:19.0' >>root/proc/iomem
	expect_problem slot-bar1 'holds 0000:00:19.0 at e00000000-e000fffff' \
		'options bar_swap bar1=0x400000000'
	expect_line '0x400000000 to 0x800000000, 2 places: free' out
	expect_line '0xc00000000: blocked by 0000:00:19.0 at e00000000-e000fffff' out
	expect_line '0x1000000000 to 0x1c00000000, 4 places: free' out
}

test_memory_above_the_window()
{
	bare_machine
	iomem 'dfa00000-feafffff : PCI Bus 0000:00' \
		'100000000-3ffffffff : System RAM' \
		'400000000-7ffffffff : PCI Bus 0000:00' \
		'800000000-fffffffff : System RAM'
	expect_problem slot-bar1 'holds System RAM at 800000000-fffffffff' \
		'options bar_swap bar1=0x400000000'
}

test_memory_everywhere()
{
	bare_machine 100000000-fffffffff fe0000000-fefffffff
	sed -i '$d' root/proc/iomem
	expect_problem slot-bar1 'holds System RAM' \
		'no place of 16 GiB below 0x1000000000 is free'
	expect_no_line QWordMemory out
}

# the window goes where no memory is, and the option with it
test_override_never_around_memory()
{
	bare_machine 100000000-cffffffff dfa00000-feafffff
	cpu_bits 40
	sed -i '$d' root/proc/iomem
	doctor -q
	expect 1 "$rc"
	expect_line 'window around 0x1000000000-0x13ffffffff' out
	expect_line '-> options bar_swap bar1=0x1000000000' out
	expect_no_line 'around 0xc00000000' out
}

test_slot_of_40_bits()
{
	bare_machine 100000000-41f5fffff c000000000-ffffffffff
	cpu_bits 40
	echo 'options bar_swap bar1=0xfc00000000' | conf s.conf
	doctor -q
	expect 0 "$rc" "$(cat out)"
	cpu_bits 39
	doctor -q
	expect 1 "$rc"
	expect_line '39 bits: too few for 0xffffffffff' out
}

test_small_bar1_in_a_large_window()
{
	bare_machine 100000000-41f5fffff 380000000000-3fffffffffff
	cpu_bits 46
	echo 'options bar_swap bar1=0x380000000000 bar1_size=0x10000000' | conf s.conf
	doctor
	expect 0 "$rc"
	expect_line '32768 places: free' out
}

test_override_that_is_in_the_kernel()
{
	bare_machine 100000000-41f5fffff dfa00000-feafffff
	sed -i '$d' root/proc/iomem
	with_override
	head -c 36 /dev/urandom | put sys/firmware/acpi/tables/DSDT
	doctor -q
	expect_line 'there but not in effect' out
	cat root/sys/firmware/acpi/tables/DSDT >root/boot/dsdt_override.cpio
	doctor -q
	expect_line 'dsdt_override.cpio is too small: nothing above 4 GiB' out
	expect_line 'make a DSDT override' out
}

test_other_architecture_gets_no_override()
{
	bare_machine
	printf 'processor\t: 0\nFeatures\t: fp asimd\n' | put proc/cpuinfo
	iomem '40000000-7fffffff : System RAM' \
		'10000000-3efeffff : pcie@10000000' \
		'8000000000-ffffffffff : pcie@10000000'
	expect_problem address-width 'no "address sizes"' \
		'the module supports x86-64 only'
	expect_line 'unknown  slot' out
	expect_no_line QWordMemory out
}

test_more_dies_than_the_module_takes()
{
	local n

	bare_machine
	for n in $(seq 5 19); do
		n=$(printf %02x "$n")
		put_bridge "pci0000:00/0000:00:$n.0" "1$n"
		put_die "pci0000:00/0000:00:$n.0/0000:$n:00.0"
	done
	expect_problem ports 'ignored: more than 16 dies: 0000:13:00.0'
	expect_line 'ok       dies               16 of' out
}

test_die_below_too_many_bridges()
{
	local path=pci0000:00 n

	bare_machine
	for n in 0 1 2 3 4 5 6 7; do
		path=$path/0000:a$n:00.0
		put_bridge "$path" "a$((n + 1))"
	done
	put_die "$path/0000:a8:00.0"
	doctor -q
	expect 0 "$rc" "$(cat out)"
	rm -r "root/sys/devices/$path/0000:a8:00.0" \
		root/sys/bus/pci/devices/0000:a8:00.0
	put_bridge "$path/0000:a8:00.0" a9
	put_die "$path/0000:a8:00.0/0000:a9:00.0"
	expect_problem ports '0000:a9:00.0 ignored: too many bridges above it'
}

test_signature_that_cannot_be_read_is_not_judged()
{
	local tool

	bare_machine
	echo Y | put sys/module/module/parameters/sig_enforce
	mkdir bin
	for tool in awk cat cut find grep head od printf readlink sed sort tail \
		tr wc sh; do
		ln -s "$(type -P $tool)" bin/$tool
	done
	PATH=$WORK/bin doctor -q
	expect 3 "$rc" "$(cat out)"
	expect_line 'unknown  lockdown           sig_enforce: no xz, to see whether' out
}

test_a_path_of_searched_folders_does_no_harm()
{
	bare_machine
	CDPATH=.:/ doctor -q
	expect '0:' "$rc:$(cat out)"
}

test_tree_without_links_is_judged_by_its_numbers()
{
	bare_machine
	rm -r root/sys/bus/pci/devices
	for f in 00:01.0 01:00.0 02:08.0 02:10.0 03:00.0 04:00.0; do
		mkdir -p root/sys/bus/pci/devices/0000:$f
		cp "$(find root/sys/devices -name 0000:$f)"/* \
			root/sys/bus/pci/devices/0000:$f 2>/dev/null || :
	done
	doctor -q
	expect 0 "$rc" "$(cat out)"
	echo '  bc0100000-c000fffff : PCI Bus 0000:0d' >>root/proc/iomem
	expect_problem slot-bar1 'holds PCI Bus 0000:0d'
}

test_json_is_one_document_of_the_same_facts()
{
	bare_machine
	echo 'options bar_swap bar1=0x400000000' | conf slot.conf
	printf '  f7000000-f70fffff : a "name"\\with\001bytes\377\n' >low
	sed -i '2r low' root/proc/iomem
	doctor
	mv out text
	doctor --json
	expect 1 "$rc"
	"$PYTHON" -m json.tool out >/dev/null || die "$(cat out)"
	"$PYTHON" - <<-'EOF' || die "$(cat out)"
		import json
		d = json.load(open("out"))
		lines = open("text").read().splitlines()
		checks = [l for l in lines if l.split()[0] in ("ok", "problem")]
		assert [l.split(None, 2) for l in checks] == [
		    [c["state"], c["check"], c["found"]] for c in d["checks"]]
		assert [l.split("-> ")[1] for l in lines if " -> " in l] == [
		    t for c in d["checks"] for t in c["todo"]]
		assert len(d["places"]) == sum(l.startswith("place") for l in lines)
		assert d["problems"] == 1 and d["ready"] is False
		assert d["dies"] == ["0000:03:00.0", "0000:04:00.0"]
		assert d["bar1"] == "0x400000000" and d["slot_from"] == "modprobe.d"
	EOF
}

test_fast_on_a_large_machine()
{
	local i

	bare_machine 100000000-41f5fffff 380000000000-3fffffffffff
	cpu_bits 46
	for i in $(seq 0 400); do
		printf '  %x-%x : 0000:00:19.0\n' $((0x380000000000 + i * 0x440000000)) \
			$((0x380000000000 + i * 0x440000000 + 0xfffff))
	done >>root/proc/iomem
	for i in $(seq 10 99); do
		put_device "pci0000:00/0000:00:$i.0" 0x8086 0x1502 0x020000
	done
	SECONDS=0
	doctor
	expect_line '-> options bar_swap bar1=0x3' out
	# in two minutes, with whatever else the machine does, not in many
	[ $SECONDS -lt 30 ] || die "$SECONDS s"
}
