# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # rc and such come from lib.sh
#
# Completion: what bash would offer at the end of a line.

# offers LINE: one offer a line, sorted
offers()
{
	local line=$1 function
	local -a COMP_WORDS COMPREPLY=()
	local COMP_CWORD COMP_LINE COMP_POINT

	# shellcheck source=/dev/null
	. "$HELPERS/completion.bash"
	COMP_LINE=$line COMP_POINT=${#line}
	read -ra COMP_WORDS <<<"$line"
	[[ $line != *' ' ]] || COMP_WORDS+=('')
	COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
	function=$(complete -p "${2:-${COMP_WORDS[0]}}" | sed 's/.*-F \([^ ]*\).*/\1/')
	PATH=$HELPERS:$HELPERS/../build:$PATH "$function" "${2:-${COMP_WORDS[0]}}"
	printf '%s\n' "${COMPREPLY[@]}" | sort
}

test_mount_options_are_those_of_help()
{
	offers 'k80fs -o ba' >got
	expect 'backend=' "$(cat got)"
	offers 'k80fs -o ro,tim' >got
	expect 'ro,timeslice=' "$(cat got)"
	offers 'k80fs -o sim_' >got
	expect "$(printf '%s\n' sim_ctl= sim_dies= sim_dir= sim_resmem= \
		sim_swap_us= sim_vram=)" "$(cat got)"
	offers 'k80fs -o uid=0,gi' >got
	expect 'uid=0,gid=' "$(cat got)"
}

# whoever reads it may have some
test_aliases_are_no_part_of_it()
{
	local line='k80fs -o ba' word
	local -a COMP_WORDS=(k80fs -o ba) COMPREPLY=()
	local COMP_CWORD=2 COMP_LINE=$line COMP_POINT=${#line}

	shopt -s expand_aliases
	for word in awk findmnt grep sed sort tr; do
		# shellcheck disable=SC2139 # that word
		alias "$word=false"
	done
	# shellcheck source=/dev/null
	. "$HELPERS/completion.bash"
	PATH=$HELPERS/../build:$PATH _k80fs k80fs
	unalias -a
	expect 'backend=' "${COMPREPLY[*]}"
}

test_words_are_split_whatever_the_shell_splits_at()
{
	local line='k80fs -o ba' IFS=:
	local -a COMP_WORDS=(k80fs -o ba) COMPREPLY=()
	local COMP_CWORD=2 COMP_LINE=$line COMP_POINT=${#line}

	# shellcheck source=/dev/null
	. "$HELPERS/completion.bash"
	PATH=$HELPERS/../build:$PATH _k80fs k80fs
	expect 'backend=' "${COMPREPLY[*]}"
}

test_values_of_an_option()
{
	offers 'k80fs -o backend=' >got
	expect "$(printf '%s\n' bar_swap cuda sim)" "$(cat got)"
	offers 'k80fs -o compute=str' >got
	expect streams "$(cat got)"
}

test_a_folder_to_mount_on()
{
	mkdir folder
	: >file
	offers 'k80fs fo' >got
	expect folder "$(cat got)"
	offers 'k80fs fi' >got
	expect '' "$(cat got)"
}

test_options_of_the_programs()
{
	offers 'k80fs --v' >got
	expect --version "$(cat got)"
	offers 'k80-owner --d' >got
	expect "$(printf '%s\n' --device --dies)" "$(cat got)"
	offers 'k80-keeper --f' >got
	expect "$(printf '%s\n' --foreground --free)" "$(cat got)"
	offers 'k80-doctor --qu' >got
	expect --quiet "$(cat got)"
	offers 'k80-top --ba' >got
	expect --batch "$(cat got)"
}

test_what_can_be_unmounted()
{
	need_fuse
	mkdir dir
	"$HELPERS/../build/k80fs" -o backend=sim,sim_vram=16M dir
	offers "umount.k80fs $PWD/d" >got
	offers "k80-top $PWD/d" >top
	umount dir
	expect "$PWD/dir" "$(cat got)"
	expect "$PWD/dir" "$(cat top)"
}

test_commands_of_a_ctl_file()
{
	need_fuse
	mkdir dir
	"$HELPERS/../build/k80fs" -o backend=sim,sim_vram=16M,compute dir
	offers '> dir/die0/ctl echo p' echo >pin
	offers '> dir/ctl echo t' echo >slice
	offers '> dir/die0/compute/ctl echo l' echo >launch
	offers 'echo p' echo >none
	umount dir
	expect pin "$(cat pin)"
	expect timeslice "$(cat slice)"
	expect launch "$(cat launch)"
	expect '' "$(cat none)"
}
