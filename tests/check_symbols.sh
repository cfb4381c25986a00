#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# libbarswap.so exports every function of barswap.h, each under a version, and
# nothing else; libk80mem.so those of k80mem.h. usage: check_symbols.sh [BUILD_DIR]
set -eu

cd "$(dirname "$0")/.."
build=${1:-build}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# check HEADER LIBRARY PREFIX VERSION
check() {
	# without comments, a name before a parenthesis is a declaration
	"${CC:-cc}" -fpreprocessed -dD -E -P "$1" |
		grep -oE "\\b$3_[a-z0-9_]+ *\\(" | tr -d ' (' |
		sort -u >"$tmp/declared"
	# of "ADDRESS TYPE NAME@@VERSION", without the version's own absolute
	# symbol
	nm -D --defined-only "$2" | awk '$2 != "A" { print $3 }' >"$tmp/symbols"
	sed 's/@.*//' "$tmp/symbols" | sort -u >"$tmp/exported"

	if ! [ -s "$tmp/declared" ]; then
		echo "FAIL: found no function in $1" >&2
		exit 1
	fi
	if ! diff -u "$tmp/declared" "$tmp/exported" >&2; then
		echo "FAIL: $1 (-) and $2 (+) differ" >&2
		exit 1
	fi
	if grep -v "@@$4_[0-9.]*\$" "$tmp/symbols" >&2; then
		echo "FAIL: symbols of $2 without a version" >&2
		exit 1
	fi
	echo "PASS: $2, $(wc -l <"$tmp/exported") symbols"
}

check fusefs/lib/barswap.h "$build/libbarswap.so" bs BARSWAP
check fusefs/k80mem/k80mem.h "$build/libk80mem.so" k80 K80MEM
# nothing else of the archive is visible either
others=$(nm --defined-only "$build/libk80mem.a" | awk '$2 ~ /^[A-Z]$/ { print $3 }' |
	grep -v '^k80_' || :)
if [ -n "$others" ]; then
	echo "FAIL: libk80mem.a shows $others" >&2
	exit 1
fi
