#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The example of libbarswap(3) compiles as it stands, links with the static
# and the shared library, and does what it says on the simulator.
# usage: check_example.sh [BUILD_DIR]
set -eu

cd "$(dirname "$0")/.."
build=${1:-build}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# man's escape for a backslash is \e; all else in the example is plain
sed -n '/^\.SH EXAMPLES/,/^\.SH [^E]/p' fusefs/lib/libbarswap.3 |
	sed -n '/^\.EX/,/^\.EE/p' | sed -e '/^\./d' -e 's/\\e/\\/g' \
	>"$tmp/example.c"

for lib in "$build/libbarswap.a" "$build/libbarswap.so"; do
	"${CC:-cc}" -std=c99 -Wall -Wextra -Werror -Ifusefs/lib \
		-o "$tmp/example" "$tmp/example.c" "$lib" -pthread
	out=$(LD_LIBRARY_PATH=$build BARSWAP_DEVICE=sim:vram=64M \
		"$tmp/example")
	if [ "$out" != "die 0 holds: hello" ]; then
		echo "FAIL: with $lib the example printed '$out'" >&2
		exit 1
	fi
done
echo "PASS: example"
