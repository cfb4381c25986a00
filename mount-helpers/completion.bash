# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Completion for bash: the programs' options, as their --help has them, mounts,
# and the commands of a ctl file for `> .../ctl echo COMMAND`, as it lists them.
# "command", because an alias of whoever reads this, grep with colours say, would
# become part of it.

# _k80_words LIST PREFIX: those that go on from PREFIX
_k80_words()
{
	local IFS=$' \t\n'

	mapfile -t COMPREPLY < <(compgen -W "$1" -- "$2")
}

# the options that $1 --help has; nothing if it cannot be run
_k80_options()
{
	"$1" --help 2>/dev/null |
		command grep -oE -- '(^|[ ,[|])--?[a-zA-Z][a-z-]*' |
		command grep -oE -- '--?[a-zA-Z][a-z-]*' | command sort -u
}

# what may stand behind -o, with "=" where a value follows
_k80fs_mount_options()
{
	"$1" --help 2>/dev/null | command sed -nE 's/^ +-o ([^ ]+).*/\1/p' |
		command tr ',' '\n' | command sed 's/=.*/=/'
}

# the values that --help has for the option $2
_k80fs_values()
{
	"$1" --help 2>/dev/null |
		command sed -nE "s/^ +-o $2=([^ ]+).*/\\1/p" |
		command tr '|' '\n' | command grep -v '[A-Z]'
}

_k80fs()
{
	local cur=${COMP_WORDS[COMP_CWORD]}
	local line=${COMP_LINE:0:COMP_POINT} done_ option

	compopt -o nospace 2>/dev/null || :
	# bash takes "=" for a word of its own: look at the line
	option=${line##* }
	if [[ $line =~ -o\ *[^\ ]*$ ]]; then
		done_=${option%"${option##*,}"}
		option=${option##*,}
		if [[ $option == *=* ]]; then
			_k80_words "$(_k80fs_values "$1" "${option%%=*}")" "${option#*=}"
			return
		fi
		_k80_words "$(_k80fs_mount_options "$1")" "$option"
		COMPREPLY=("${COMPREPLY[@]/#/$done_}")
	elif [[ $cur == -* ]]; then
		_k80_words "$(_k80_options "$1")" "$cur"
	else
		mapfile -t COMPREPLY < <(compgen -d -- "$cur")
	fi
}

_k80_plain()
{
	local cur=${COMP_WORDS[COMP_CWORD]}

	if [[ $cur == -* ]]; then
		_k80_words "$(_k80_options "$1")" "$cur"
	else
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
	fi
}

_k80_top()
{
	local cur=${COMP_WORDS[COMP_CWORD]}

	if [[ $cur == -* ]]; then
		_k80_words "$(_k80_options "$1")" "$cur"
	else
		_k80_words "$(awk '$3 == "fuse.k80fs" { print $2 }' /proc/self/mounts)" \
			"$cur"
	fi
}

_umount_k80fs()
{
	local cur=${COMP_WORDS[COMP_CWORD]}

	if [[ $cur == -* ]]; then
		_k80_words '-l -f -n -r -v' "$cur"
	else
		_k80_words "$(command awk '$3 == "fuse.k80fs" { print $2 }' \
			/proc/self/mounts)" "$cur"
	fi
}

# `> /mnt/k80/die0/ctl echo pi`: the commands of that file
_k80_ctl()
{
	local cur=${COMP_WORDS[COMP_CWORD]} file

	[[ $COMP_LINE =~ \>\ *([^\ \;\|\&]*/ctl)(\ |$) ]] || return 0
	file=${BASH_REMATCH[1]}
	[[ $(command findmnt -no FSTYPE -T "$file" 2>/dev/null) == fuse.k80fs ]] ||
		return 0
	_k80_words "$(command awk '/^[a-z]/ { print $1 }' "$file" 2>/dev/null)" \
		"$cur"
}

complete -F _k80fs k80fs
complete -F _k80_plain k80-owner k80-keeper k80-doctor
complete -F _k80_top k80-top
complete -F _umount_k80fs umount.k80fs
complete -o default -F _k80_ctl echo
