#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# libbarswap.so exports every function of barswap.h, each under a version, and
# nothing else. usage: check_symbols.sh [BUILD_DIR]
set -eu

cd "$(dirname "$0")/.."
build=${1:-build}
header=fusefs/lib/barswap.h
lib=$build/libbarswap.so
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# without comments, a name before a parenthesis is a declaration
"${CC:-cc}" -fpreprocessed -dD -E -P "$header" |
	grep -oE '\bbs_[a-z0-9_]+ *\(' | tr -d ' (' | sort -u >"$tmp/declared"
# of "ADDRESS TYPE NAME@@VERSION", without the version's own absolute symbol
nm -D --defined-only "$lib" | awk '$2 != "A" { print $3 }' >"$tmp/symbols"
sed 's/@.*//' "$tmp/symbols" | sort -u >"$tmp/exported"

if ! [ -s "$tmp/declared" ]; then
	echo "FAIL: found no function in $header" >&2
	exit 1
fi
if ! diff -u "$tmp/declared" "$tmp/exported" >&2; then
	echo "FAIL: $header (-) and $lib (+) differ" >&2
	exit 1
fi
if grep -v '@@BARSWAP_[0-9.]*$' "$tmp/symbols" >&2; then
	echo "FAIL: symbols of $lib without a version" >&2
	exit 1
fi
echo "PASS: $(wc -l <"$tmp/exported") symbols"
