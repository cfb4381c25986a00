# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Words for jobs. A check prints "ok TEXT" or "not ok TEXT"; a job goes on
# after a failed one.
# shellcheck disable=SC2034 # for the jobs
DIES=(0000:03:00.0 0000:04:00.0 0000:07:00.0 0000:08:00.0 0000:0b:00.0
	0000:0c:00.0)
# shellcheck disable=SC2034
PORTS=(0000:00:04.0 0000:01:00.0 0000:02:08.0 0000:02:10.0
	0000:00:05.0 0000:05:00.0 0000:06:08.0 0000:06:10.0
	0000:00:06.0 0000:09:00.0 0000:0a:08.0 0000:0a:10.0)
# shellcheck disable=SC2034
SYS=/sys/bus/pci/devices
KO=$BUILD/kmod-$(uname -r)
DEV=/dev/bar_swap

# check TEXT COMMAND...: ok if the command succeeds; its output on failure
check()
{
	local text=$1 said

	shift
	if said=$("$@" 2>&1); then
		echo "ok $text"
	else
		echo "not ok $text"
		sed 's/^/#   /' <<<"$said"
		return 1
	fi
}

# check_is TEXT GOT WANTED
check_is()
{
	if [ "$2" = "$3" ]; then
		echo "ok $1"
	else
		echo "not ok $1"
		echo "#   wanted: $3"
		echo "#   got:    $2"
		return 1
	fi
}

# check_like TEXT GOT PATTERN (extended regular expression)
check_like()
{
	if grep -qE -- "$3" <<<"$2"; then
		echo "ok $1"
	else
		echo "not ok $1"
		echo "#   wanted: /$3/"
		echo "#   got:    $2"
		return 1
	fi
}

# order the die program: ctl DIE WORD [ARG]
ctl()
{
	"$G/rigctl" "$@" || echo "not ok order to the dies: $*"
}
