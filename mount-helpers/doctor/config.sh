# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC2034,SC2154 # variables are k80-doctor's
#
# Read by k80-doctor: what modprobe and the kernel's command line say.

PARAMETERS='bar0 bar0_size bar1 bar1_size bar3 bar3_size ids'

# modprobe_files: those that modprobe reads, in its order. A name in an earlier
# folder hides the same name in a later one, the order is that of the names.
modprobe_files()
{
	seen=' '
	for dir in etc run usr/local/lib usr/lib lib; do
		for file in "$root/$dir"/modprobe.d/*.conf; do
			[ -f "$file" ] || continue
			base=${file##*/}
			case $seen in
			*" $base "*) continue ;;
			esac
			seen="$seen$base "
			printf '%s\t%s\n' "$base" "$file"
		done
	done | LC_ALL=C sort | cut -f 2
}

# read_modprobe: its lines, single spaces, no comments, continued lines joined.
# "@dos FILE" for a file of ours with DOS line ends.
read_modprobe()
{
	modprobe_files | while read -r file; do
		cat "$file"
		# a last line without its end
		printf '\n@file %s\n' "${file#"$root"}"
	done | awk '
		{
			line = line $0
			if (sub(/\\$/, "", line))
				next
			gsub(/[ \t]+/, " ", line)
			sub(/^ /, "", line)
			if (line ~ /^@file / && is_dos)
				print "@dos " substr(line, 7)
			if (line ~ /^@file /)
				is_dos = 0
			else if (line !~ /^#/ && line ~ /nvidia|bar[-_]swap/) {
				if (sub(/\r$/, "", line))
					is_dos = 1
				sub(/ $/, "", line)
				print line
			}
			line = ""
		}'
}

# set_parameter NAME=VALUE WHERE
set_parameter()
{
	name=$(echo "${1%%=*}" | tr - _)
	case " $PARAMETERS " in
	*" $name "*)
		eval "p_$name=\${1#*=}"
		slot_from=$2
		;;
	esac
}

# read_parameters: the module's, each to $p_NAME: the defaults, then modprobe's
# lines, then the command line, which modprobe reads last. What a loaded module
# says of itself counts alone.
read_parameters()
{
	p_bar0=0xf3000000
	p_bar0_size=0x1000000
	p_bar1=0xc00000000
	p_bar1_size=0x400000000
	p_bar3=0xf4000000
	p_bar3_size=0x2000000
	p_ids=''
	slot_from=default
	while read -r keyword module words; do
		case $keyword:$module in
		options:bar_swap | options:bar-swap) ;;
		*) continue ;;
		esac
		for word in $words; do
			set_parameter "$word" modprobe.d
		done
	done <<-EOF
		$modprobe_lines
	EOF
	set -f
	for word in $command_line; do
		word=$(echo "$word" | tr -d \"\')
		case $word in
		bar_swap.*=* | bar-swap.*=*)
			set_parameter "${word#bar?swap.}" 'the kernel line' ;;
		esac
	done
	set +f
	for name in $PARAMETERS; do
		file=$root/sys/module/bar_swap/parameters/$name
		[ -r "$file" ] || continue
		value=''
		read -r value <"$file"
		set_parameter "$name=$value" 'the loaded module'
	done
}

# to_number VALUE: as the kernel reads it, to $number; fails if it does not
to_number()
{
	number=''
	case $1 in
	0[xX] | 0*[89]*) case $1 in 0[xX]?*) ;; *) return 1 ;; esac ;;
	esac
	case $1 in
	0[xX]*)
		case ${1#0?} in
		*[!0-9a-fA-F]* | ?????????????????*) return 1 ;;
		esac
		number=$((0x${1#0?}))
		;;
	'' | *[!0-9]* | ???????????????????*) return 1 ;;
	*) number=$(($1)) || return 1 ;;
	esac
	[ "$number" -ge 0 ]
}

# pci_options: the words of every pci= on stdin, one a line
pci_options()
{
	tr -s " \"'" '\n' | sed -n 's/^pci=//p' | tr ',' '\n'
}

# grub_line: what /etc/default/grub says of the kernel's line
grub_line()
{
	cat "$root/etc/default/grub" "$root"/etc/default/grub.d/*.cfg \
		2>/dev/null | sed -n 's/^ *\(export  *\)\{0,1\}GRUB_CMDLINE_LINUX[A-Z_]*=//p'
}

# unquoted_semicolon: the words on stdin that GRUB takes apart, the first one
# of each line. Quotes inside the outer ones of the file's own keep it whole.
unquoted_semicolon()
{
	awk '{
		quote = ""
		word = ""
		sub(/^["\047]/, "")
		sub(/["\047][ \t]*$/, "")
		gsub(/\\"/, "\"")
		for (i = 1; i <= length($0); i++) {
			c = substr($0, i, 1)
			if (quote != "" && c == quote)
				quote = ""
			else if (quote == "" && (c == "\"" || c == "\047"))
				quote = c
			else if (quote == "" && c == ";") {
				rest = substr($0, i)
				sub(/ .*/, "", rest)
				print word rest
				next
			}
			word = c == " " ? "" : word c
		}
	}'
}
