# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # rc comes from lib.sh
#
# make install and uninstall, into folders of their own.

test_pkgconfig_file_has_the_prefix_of_the_last_make()
{
	local prefix

	mkdir b
	for prefix in /usr/local /opt/k; do
		run make -s -C "$TOP" B="$WORK/b" prefix=$prefix \
			"$WORK/b/barswap.pc"
		expect 0 "$rc" "$(cat out)"
		expect "prefix=$prefix" "$(grep '^prefix=' b/barswap.pc)"
	done
}

test_either_name_of_the_prefix_counts()
{
	local name

	mkdir b
	for name in PREFIX=/opt/k prefix=/opt/k; do
		run env -u PREFIX -u prefix make -s -C "$TOP" B="$WORK/b" \
			"$name" "$WORK/b/barswap.pc"
		expect 'prefix=/opt/k' "$(grep '^prefix=' b/barswap.pc)" "$name"
	done
	run make -s -C "$TOP" B="$WORK/b" PREFIX=/a prefix=/b "$WORK/b/barswap.pc"
	expect 'prefix=/b' "$(grep '^prefix=' b/barswap.pc)" both
}

# the sources are somewhere else, with a blank in the name of their folder
test_a_space_in_the_folder_of_the_sources_does_no_harm()
{
	mkdir 'a b'
	ln -s "$TOP/Makefile" "$TOP/fusefs" "$TOP/tests" "$TOP/kmod" \
		"$TOP/mount-helpers" 'a b'
	run make -s -C "$WORK/a b" -o build/check_all -o build/test_barswap \
		-o build/law -o build/cuda/libcuda.so.1 tests
	expect 0 "$rc" "$(cat out)"
	[ -x 'a b/build/mount/tool' ] || die "no program"
}

test_uninstall_leaves_no_file_and_a_space_in_the_folder_does_no_harm()
{
	local f

	# what "all" makes is taken as it is
	for f in k80fs k80-owner k80-top k80-worker k80-keeper libbarswap.a \
		libbarswap.so.1.0 barswap.pc libk80mem.a libk80mem.so.1.0 k80mem.pc; do
		[ -e "$TOP/build/$f" ] || skip "needs build/$f"
	done
	run make -s -C "$TOP" -o all install DESTDIR="$WORK/a b"
	expect 0 "$rc" "$(cat out)"
	[ -x "$WORK/a b/usr/local/bin/k80fs" ] || die "no k80fs"
	[ -x "$WORK/a b/usr/local/bin/../libexec/k80fs/k80-worker" ] ||
		die "no worker where k80fs looks for it"
	[ -x "$WORK/a b/usr/local/bin/../sbin/k80-keeper" ] ||
		die "no keeper where k80fs looks for it"
	[ -e "$WORK/a b/usr/local/share/k80fs/bar_swap.conf" ] || die "no conf"
	run "$WORK/a b/usr/local/sbin/k80-doctor" --root "$WORK/a b"
	expect 1 "$rc" "the installed k80-doctor ($(cat out))"
	expect_line 'problem  dies' out
	run make -s -C "$TOP" uninstall DESTDIR="$WORK/a b"
	expect 0 "$rc" "$(cat out)"
	expect '' "$(find "$WORK/a b" ! -type d)"
	[ ! -e "$WORK/a b/usr/local/share/k80fs" ] || die "share/k80fs is left"
	[ ! -e "$WORK/a b/usr/local/libexec/k80fs" ] || die "libexec is left"
}

# installed as it is, and fit for programs in C and in C++
test_the_module_header_is_installed_and_compiles()
{
	local lang std

	[ -e "$TOP/build/k80fs" ] || skip "needs build/k80fs"
	run make -s -C "$TOP" -o all install DESTDIR="$WORK/a"
	expect 0 "$rc" "$(cat out)"
	cmp "$TOP/kmod/uapi/bar_swap.h" "$WORK/a/usr/local/include/bar_swap.h" ||
		die "not the module's header"
	printf '#include <bar_swap.h>\nint x = BAR_SWAP_RELEASE != 0;\n' >x.c
	while read -r lang std; do
		command -v g++ >/dev/null || [ "$lang" = c ] || continue
		run gcc -x "$lang" -std="$std" -Wall -Wextra -pedantic -Werror \
			-I "$WORK/a/usr/local/include" -c -o x.o x.c
		expect 0 "$rc" "$lang: $(cat out)"
	done <<-E
		c gnu11
		c++ gnu++11
	E
}

# of libk80mem: a program in C and one in C++ compile, link and run, and Debian's
# python3 finds the module
test_the_library_of_memory_files_is_installed()
{
	local lang std

	[ -e "$TOP/build/libk80mem.so.1.0" ] || skip "needs build/libk80mem.so.1.0"
	run make -s -C "$TOP" -o all install DESTDIR="$WORK/a"
	expect 0 "$rc" "$(cat out)"
	cat >x.c <<-'E'
		#include <k80mem.h>
		#include <stdio.h>

		int main(void)
		{
			struct k80_map *map;

			if (!k80_map_path("/no/such", K80_MAP_WRITE, &map))
				return 1;
			puts(k80_error());
			return 0;
		}
	E
	while read -r lang std; do
		command -v g++ >/dev/null || [ "$lang" = c ] || continue
		run gcc -x "$lang" -std="$std" -Wall -Wextra -pedantic -Werror \
			-I "$WORK/a/usr/local/include" -o x x.c \
			-L "$WORK/a/usr/local/lib" -lk80mem
		expect 0 "$rc" "$lang: $(cat out)"
		run env LD_LIBRARY_PATH="$WORK/a/usr/local/lib" ./x
		expect '/no/such: No such file or directory' "$(cat out)"
		run gcc -x "$lang" -std="$std" -I "$WORK/a/usr/local/include" \
			-o x x.c -x none "$WORK/a/usr/local/lib/libk80mem.a" \
			-pthread -ldl
		expect 0 "$rc" "$lang, static: $(cat out)"
		run ./x
		expect '/no/such: No such file or directory' "$(cat out)"
	done <<-E
		c c99
		c++ c++11
	E
	[ -x /usr/bin/python3 ] || return 0
	run /usr/bin/python3 -c 'import sys; print([p for p in sys.path
	if p.startswith("/usr/local")][0])'
	[ -e "$WORK/a$(cat out)/k80fs.py" ] || die "no module in $(cat out)"
}

# DKMS of Debian 12 and whoever calls make do not say so
test_the_module_is_built_by_what_built_the_kernel()
{
	# shellcheck disable=SC2016 # make's variable
	printf 'modules:\n\t@echo "LLVM=$(LLVM)"\n' >Makefile
	run env -u LLVM make -s -C "$TOP/kmod" KDIR="$WORK"
	expect 'LLVM=' "$(cat out)" "by gcc"
	echo CONFIG_CC_IS_CLANG=y >.config
	run env -u LLVM make -s -C "$TOP/kmod" KDIR="$WORK"
	expect 'LLVM=1' "$(cat out)" "by clang"
	run make -s -C "$TOP/kmod" KDIR="$WORK" LLVM=
	expect 'LLVM=' "$(cat out)" "by gcc, as ordered"
	mkdir -p include/config
	mv .config include/config/auto.conf
	run env -u LLVM make -s -C "$TOP/kmod" KDIR="$WORK"
	expect 'LLVM=1' "$(cat out)" "by clang, headers without .config"
}
