# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC2034,SC2154 # variables are k80-doctor's
#
# Read by k80-doctor: the slot in the map of addresses, and the way to a wider
# window. places.awk does the reckoning.

# On the reference board, whose CPU has 36 bits, the slot can be claimed there.
SHUN=0x800000000
SHUN_NOTE="claims, but the vendor's driver times out there (reference board)"

hex()
{
	printf '0x%x' "$1"
}

# iomem_is_hidden: all addresses read as zero for those who are not root
iomem_is_hidden()
{
	! grep -q '[1-9a-f][0-9a-f]* :' "$root/proc/iomem" 2>/dev/null
}

# read_slot: $slot_facts; what is no number to $bad_number
read_slot()
{
	slot_facts=''
	bad_number=''
	for name in $PARAMETERS; do
		[ "$name" != ids ] || continue
		eval "text=\$p_$name"
		if ! to_number "$text"; then
			bad_number="${bad_number:-$name=$text}"
			continue
		fi
		eval "$name=\$number"
		slot_facts="$slot_facts@slot $name $(printf %x "$number")
"
	done
	if [ "$bits" != 36 ] || [ "${bar1_size:-0}" -ne $((0x400000000)) ]; then
		SHUN=''
	fi
}

verdict_bar1=''
pick_bar1=''
pick_bar0=''
override=''
high_window=''
belongs_bus=''
places=''
needs_override=''

# ask_places: places.awk's answers, to variables
ask_places()
{
	while IFS="$tab" read -r what a b c d e f g; do
		case $what:$a in
		verdict:bar1) verdict_bar1=$b text_bar1=$c ;;
		verdict:low) verdict_low=$b text_low=$c ;;
		pick:bar1) pick_bar1=$b ;;
		pick:low) pick_bar0=$b pick_bar3=$c ;;
		override:*) override=$a override_end=$b ;;
		high:*) high_window=$a ;;
		belongs:*) belongs_range=$a belongs_bus=$b ;;
		root:*) root_bus=$a ;;
		place:*)
			note=-
			[ "$a:$e" != bar1:free ] || ! is_shunned "$b" "$c" ||
				note="$SHUN: $SHUN_NOTE"
			places="${places}place$tab$a$tab$b$tab$c$tab$d$tab$e$tab$f$tab$g$tab$note
"
			;;
		esac
	done <<-EOF
		$({
			printf '@bits %s\n' "$bits"
			[ -z "$SHUN" ] || printf '@shun %s\n' "${SHUN#0x}"
			printf '%s' "$slot_facts" "$facts"
			cat "$root/proc/iomem"
		} | awk -f "$parts/places.awk")
	EOF
}

# is_shunned FIRST LAST
is_shunned()
{
	[ -n "$SHUN" ] && [ $(($1)) -le $((SHUN)) ] && [ $(($2)) -ge $((SHUN)) ]
}

# show_places bar1|low
show_places()
{
	while IFS= read -r line; do
		case $line in
		"place$tab$1$tab"*) record "$line" ;;
		esac
	done <<-EOF
		$places
	EOF
}

# option_line WORD...: how to say it where it is said
option_line()
{
	if [ "$slot_from" = 'the kernel line' ]; then
		echo "on the kernel line, where bar_swap.* is now: $(
			for word; do printf 'bar_swap.%s ' "$word"; done)"
	else
		echo "options bar_swap $*"
	fi
}

# size_of BYTES
size_of()
{
	if [ "$1" -ge $((1 << 30)) ]; then
		echo "$(($1 >> 30)) GiB"
	else
		echo "$(($1 >> 20)) MiB"
	fi
}

check_cpu()
{
	if [ -z "$bits" ]; then
		problem address-width 'no "address sizes" in /proc/cpuinfo' \
			'the module supports x86-64 only'
	elif [ -n "$bad_number" ]; then
		ok address-width "$bits bits"
	elif [ "$bits" -lt 63 ] &&
		[ $((bar1 + bar1_size - 1)) -ge $((1 << bits)) ]; then
		problem address-width \
			"$bits bits: too few for $(hex $((bar1 + bar1_size - 1)))" \
			'choose a lower slot, see slot-bar1'
	else
		ok address-width \
			"$bits bits, the slot ends at $(hex $((bar1 + bar1_size - 1)))"
	fi
}

# check_slot: what depends on addresses; without them no word of it
check_slot()
{
	if [ -z "$bits" ]; then
		unknown slot 'no verdict on the slot and its window' \
			'the module supports x86-64 only'
	elif iomem_is_hidden; then
		unknown slot '/proc/iomem shows no addresses: no verdict on the slot and its window' \
			'run as root'
	elif [ -n "$bad_number" ]; then
		problem slot "$bad_number ($slot_from) is no number: the module refuses it" \
			'correct it, and ask again'
	elif [ -z "$roots" ]; then
		unknown slot 'no die that the module would take: no verdict on the slot and its window'
	elif [ -z "$verdict_bar1" ]; then
		unknown slot 'awk has failed: no verdict on the slot and its window'
	else
		check_bar1
		check_low
		check_dsdt
	fi
}

check_bar1()
{
	code=$verdict_bar1
	if [ "$verdict_bar1" = ok ]; then
		! is_shunned "$(hex "$bar1")" "$(hex "$bar1")" ||
			text_bar1="$text_bar1; $SHUN_NOTE"
		ok slot-bar1 "$text_bar1"
		show_places bar1
		return
	fi
	set --
	if [ -n "$pick_bar1" ]; then
		note=''
		! is_shunned "$pick_bar1" "$pick_bar1" || note=" ($SHUN_NOTE)"
		set -- "$(option_line "bar1=$pick_bar1")$note"
	elif [ -n "$belongs_bus" ]; then
		set -- "the window $belongs_range is that of host bridge $belongs_bus, the dies are below $root_bus: put the card into a slot of the other one"
	elif [ -n "$override" ]; then
		set -- "make a window around $override-$override_end with a DSDT override, see dsdt-override"
	elif [ "$verdict_bar1" = stranger ] || [ "$verdict_bar1" = port ]; then
		set -- "no other place is free: take out what is there (${text_bar1#* holds }), or move it to another slot of the board"
	else
		set -- "no place of $(size_of "$bar1_size") below $(hex $((1 << bits))) is free: less memory, or a CPU with more address bits"
	fi
	problem slot-bar1 "$text_bar1" "$@"
	show_places bar1
}

check_low()
{
	code=$verdict_low
	if [ "$verdict_low" = ok ]; then
		ok slot-bar0-bar3 "$text_low"
	elif [ -n "$pick_bar0" ]; then
		if [ "$bar3_size" -gt 0 ]; then
			problem slot-bar0-bar3 "$text_low" \
				"$(option_line "bar0=$pick_bar0" "bar3=$pick_bar3")"
		else
			problem slot-bar0-bar3 "$text_low" \
				"$(option_line "bar0=$pick_bar0")"
		fi
	elif [ -n "$belongs_bus" ]; then
		problem slot-bar0-bar3 "$text_low" \
			'put the card into a slot of the other host bridge, see slot-bar1'
	else
		problem slot-bar0-bar3 "$text_low" \
			"no place of $(size_of $((bar0_size + bar3_size))) in a window below 4 GiB is free: take another card out, or give the host bridge more below 4 GiB in the firmware's setup"
	fi
	show_places low
}

grub_loads_override()
{
	grep -q 'initrd.*dsdt_override.cpio' "$root/boot/grub/grub.cfg" 2>/dev/null
}

# override_is_in_effect: is the kernel's table the file's? Without the right to
# read it, or the file: is there a window above 4 GiB?
override_is_in_effect()
{
	table=$root/sys/firmware/acpi/tables/DSDT
	if [ -r "$table" ] && [ -r "$cpio" ]; then
		# the header has length, checksum and revision
		header=$(od -An -v -tx1 -N36 "$table" | tr -d ' \n')
		od -An -v -tx1 "$cpio" | tr -d ' \n' | grep -q "$header"
		return
	fi
	[ -n "$high_window" ]
}

# unlock_step: a locked-down kernel takes no table
unlock_step()
{
	case " $command_line " in
	*" lockdown="*) echo 'take lockdown= off the kernel line: the kernel ignores a DSDT override under it' ;;
	*) echo 'turn Secure Boot off: the kernel ignores a DSDT override under it' ;;
	esac
}

# dsdt_steps: what is left to do for a wider window, one step a line
dsdt_steps()
{
	[ "$lockdown" = none ] || unlock_step
	[ "$override" = "$(hex "$bar1")" ] ||
		option_line "bar1=$override"
	[ -e "$cpio" ] && [ -z "$is_small" ] ||
		echo 'make a DSDT override: give PCI0._CRS a QWordMemory' \
			"window around $override-$override_end, raise the OEM" \
			'revision, pack kernel/firmware/acpi/dsdt.aml into' \
			'/boot/dsdt_override.cpio (see k80-doctor(8))'
	grep -q '^GRUB_EARLY_INITRD_LINUX_CUSTOM=.*dsdt_override.cpio' \
		"$root/etc/default/grub" 2>/dev/null ||
		echo 'in /etc/default/grub:' \
			'GRUB_EARLY_INITRD_LINUX_CUSTOM="dsdt_override.cpio"'
	grub_loads_override || echo 'update-grub'
	echo 'reboot; dmesg | grep "Table Upgrade" must name the DSDT'
}

check_dsdt()
{
	cpio=$root/boot/dsdt_override.cpio
	is_small=''
	if [ "$verdict_bar1" = ok ]; then
		if [ -e "$cpio" ]; then
			ok dsdt-override '/boot/dsdt_override.cpio, and the window is wide enough'
		else
			ok dsdt-override 'not needed, the window is wide enough'
		fi
		return
	elif [ -n "$pick_bar1" ]; then
		ok dsdt-override "not needed, a window has room at $pick_bar1"
		return
	elif [ -n "$belongs_bus" ]; then
		ok dsdt-override "not needed, the window is there and is another host bridge's"
		return
	elif [ -z "$override" ]; then
		ok dsdt-override 'of no use, no address is free for a wider window'
		return
	fi
	needs_override=1
	if [ ! -e "$cpio" ]; then
		found='no /boot/dsdt_override.cpio'
	elif ! grub_loads_override; then
		found='/boot/dsdt_override.cpio is not loaded by GRUB'
	elif [ "$lockdown" != none ]; then
		found="/boot/dsdt_override.cpio is ignored, the kernel is locked down ($lockdown)"
	elif override_is_in_effect; then
		is_small=1
		found="/boot/dsdt_override.cpio is too small: ${high_window:-nothing above 4 GiB} is what the host bridge has"
	else
		found='/boot/dsdt_override.cpio is there but not in effect'
	fi
	set --
	while read -r step; do
		set -- "$@" "$step"
	done <<-EOF
		$(dsdt_steps)
	EOF
	problem dsdt-override "$found" "$@"
}
