# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # rc comes from lib.sh
#
# The probes for tracers: there with <sys/sdt.h>, built without it all the same.

# probes FILE: their names, from its notes
probes()
{
	readelf -n "$1" | sed -n '/Provider: k80fs$/{n;s/ *Name: //p;}' | sort -u
}

has_header()
{
	echo '#include <sys/sdt.h>' | gcc -E - >/dev/null 2>&1
}

# compiled [FLAG...]: trace.c to ./trace.o
compiled()
{
	run gcc -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Werror -O2 \
		-iquote "$TOP/fusefs" "$@" -c -o trace.o "$TOP/fusefs/base/trace.c"
	expect 0 "$rc" "$(cat out)"
}

test_readelf_lists_a_probe_for_each_kind_of_event()
{
	local wanted

	has_header || skip "needs sys/sdt.h"
	compiled
	wanted=$(sed -n 's/^\tTRACE_\([A-Z]*\),.*/\1/p' \
		"$TOP/fusefs/base/trace.h" | tr '[:upper:]' '[:lower:]' | sort)
	[ -n "$wanted" ] || die "no kinds"
	expect "$wanted" "$(probes trace.o)"
}

test_the_program_has_them()
{
	has_header || skip "needs sys/sdt.h"
	[ -x "$TOP/build/k80fs" ] || skip "needs build/k80fs"
	expect 'hold read slot swap wait write zero' \
		"$(probes "$TOP/build/k80fs" | tr '\n' ' ' | sed 's/ $//')"
}

# the compiler's folders with links to all that is in them, but for that header
test_without_the_header_there_are_none()
{
	local dir flags=() n=0

	while read -r dir; do
		n=$((n + 1))
		cp -rs "$dir" "include$n"
		rm -f "include$n/sys/sdt.h"
		flags+=(-isystem "$PWD/include$n")
	done < <(gcc -xc -E -v /dev/null 2>&1 >/dev/null |
		sed -n '/^#include </,/^End/s/^ //p' | xargs -n 1 realpath)
	[ $n -gt 0 ] || die "gcc has no folders"
	compiled -nostdinc "${flags[@]}"
	expect '' "$(probes trace.o)"
}
