#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The examples of libk80mem(3): the program in C compiles as it stands and does
# what it says, the loader in Python is one
. "$(dirname "$0")/lib.sh"
need_cmd gcc
VRAM=64M mount_mem
page=$repo/fusefs/k80mem/libk80mem.3
# man's escape for a backslash is \e; all else in the example is plain
sed -n '/^\.SH EXAMPLES/,$p' "$page" | sed -n '/^\.EX/,/^\.EE/p' |
	sed -e '/^\./d' -e 's/\\e/\\/g' >"$W/example.c"
build=$(dirname "$K80FS")
for lib in "$build/libk80mem.a" "$build/libk80mem.so"; do
	gcc -std=c99 -Wall -Wextra -Werror -I"$repo/fusefs/k80mem" \
		-o "$W/example" "$W/example.c" "$lib" \
		"$K80_LIBCUDA/libcuda.so.1" -pthread -ldl
	printf 'hello' >"$(mem 0)/x"
	expect_equal "$(LD_LIBRARY_PATH=$LD_LIBRARY_PATH:$build "$W/example" \
		"$(mem 0)/x")" "5 bytes, the first is 104"
	expect_error "$W/example.c: not a file of k80fs" env \
		LD_LIBRARY_PATH="$LD_LIBRARY_PATH:$build" \
		"$W/example" "$W/example.c"
done
sed -n '/^import glob, json/,/^\.EE/p' "$page" | sed '/^\.EE/d' >"$W/loader.py"
python_mem -c 'import ast, sys
tree = ast.parse(open(sys.argv[1]).read())
assert "load" in [n.name for n in tree.body if hasattr(n, "name")]' \
	"$W/loader.py"
rm "$(mem 0)/x"
