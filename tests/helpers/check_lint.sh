# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # rc comes from lib.sh
#
# tests/lint.sh: every check passes on a small good tree and fails on the
# same tree with one fault.

# put PATH: a file of ./tree, its text on stdin
put()
{
	mkdir -p "$(dirname "tree/$1")"
	cat >"tree/$1"
}

# put_c PATH LINE...: a C file with an SPDX line
put_c()
{
	local path=$1 license=GPL-2.0-or-later

	shift
	case $path in
	kmod/*) license=GPL-2.0-only ;;
	esac
	printf '%s\n' "/* SPDX-License-Identifier: $license */" "$@" | put "$path"
}

# build_c PATH LINE...: a source and its object
build_c()
{
	local object=tree/build/${1%.c}.o

	put_c "$@"
	mkdir -p "${object%/*}"
	cc -c -iquote tree/fusefs -o "$object" "tree/$1"
}

good_tree()
{
	put .clang-format <"$TOP/.clang-format"
	put_c fusefs/main.c '#include <fuse_lowlevel.h>'
	put_c fusefs/fuse/ops.c '#include <fuse_lowlevel.h>'
	put_c fusefs/base/util.h
	build_c fusefs/base/log.c "int log_level;"
	put_c fusefs/lib/dev_module.c '#include "kmod/uapi/bar_swap.h"'
	put_c tests/unit/check_x.c '#include "kmod/uapi/bar_swap.h"'
	put_c kmod/compat.h '#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)' \
		'#endif'
	put_c kmod/cfg.c 'pci_write_config_dword(a, b, c);'
	put_c kmod/main.c 'pci_read_config_dword(a, b, c);'
	put_c kmod/bs.h '#define BS_RELEASE "1.0"'
	printf '%s\n' '# SPDX-License-Identifier: GPL-2.0-only' \
		'PACKAGE_VERSION="1.0"' | put kmod/dkms.conf
	echo 'k80fs (1.0) unstable; urgency=medium' |
		put mount-helpers/debian/changelog
	put tests/run.sh <<-'EOF'
		#!/bin/sh
		# SPDX-License-Identifier: GPL-2.0-or-later
		echo "$1"
	EOF
	put Makefile <<-'EOF'
		# SPDX-License-Identifier: GPL-2.0-or-later
		VERSION := 1.0
		override CFLAGS += -iquote . -iquote fusefs -iquote tests/unit
		.PHONY: check demo-stop
		check:
		demo-stop:
	EOF
	put fusefs/k80fs.8 <<-'EOF'
		.\" SPDX-License-Identifier: GPL-2.0-or-later
		.TH K80FS 8 2026-11-29 "k80fs 1.0" "System Administration"
		.SH NAME
		k80fs \- GPU dies as files
		.SH OPTIONS
		.BI \-o\~backend= NAME
		.br
		.BI \-o\~uid= n ,gid= n
		.br
		.B \-o\~ro
	EOF
	put build/k80fs <<-'EOF'
		#!/bin/sh
		echo "  -o backend=bar_swap|sim  what"
		echo "  -o uid=N,gid=N           owner"
		echo "  -o ro                    no writing"
	EOF
	chmod 755 tree/build/k80fs
	put README.md <<-'EOF'
		Run `make check`, then `make demo-stop`.
		k80fs -o backend=sim,ro,uid=0,gid=0 /mnt
	EOF
}

# lint CHECK: run one check on ./tree
lint()
{
	run "$TOP/tests/lint.sh" --root tree "$1"
}

# finds CHECK TEXT: the check fails, says TEXT, and did not before the fault
finds()
{
	lint "$1"
	expect 1 "$rc" "$(cat out)"
	expect_line "FAILED $1" out
	expect_line "$2" out
	expect_line '0 passed, 1 failed, 0 skipped' out
}

passes()
{
	lint "$1"
	expect 0 "$rc" "$(cat out)"
	expect_line "ok $1" out
}

test_good_tree_passes_every_check()
{
	good_tree
	run "$TOP/tests/lint.sh" --root tree
	expect 0 "$rc" "$(cat out)"
	expect_no_line FAILED out
	expect_line ' 0 failed, ' out
}

test_fuse_header_outside_its_layer()
{
	good_tree
	put_c fusefs/sched/sched.c '#include "x.h"' ' # include <fuse3/fuse.h>'
	finds fuse_headers 'fusefs/sched/sched.c:3:'
}

test_fuse_header_in_the_library()
{
	good_tree
	put_c fusefs/lib/barswap.h '#include <linux/fuse.h>'
	finds fuse_headers 'fusefs/lib/barswap.h:2:'
}

test_use_of_a_higher_layer()
{
	good_tree
	passes layers
	build_c fusefs/sched/sched.c 'int f(void);' 'int g(void) { return f(); }'
	build_c fusefs/engine/io.c 'int f(void) { return 0; }'
	finds layers 'sched/sched uses engine/io (f), which is not below sched'
}

test_include_of_a_layer_beside()
{
	good_tree
	put_c fusefs/engine/io.h
	build_c fusefs/compute/ctl.c '#include "engine/io.h"'
	finds layers 'compute/ctl uses engine/io (engine/io.h), which'
}

test_two_files_that_need_each_other()
{
	good_tree
	build_c fusefs/copy/a.c 'int f(void);' 'int g(void) { return f(); }'
	build_c fusefs/copy/b.c 'int g(void);' 'int f(void) { return g(); }'
	finds layers 'a circle: copy/a, copy/b'
	rm tree/fusefs/copy/b.c
	passes layers
}

test_circle_of_a_flat_folder()
{
	good_tree
	build_c kmod/a.c 'int f(void);' 'int g(void) { return f(); }'
	build_c kmod/b.c 'int h(void);' 'int f(void) { return h(); }'
	run "$TOP/tests/layers.py" --flat tree/kmod tree/build/kmod
	expect 0 "$rc" "$(cat out)"
	build_c kmod/c.c 'int g(void);' 'int h(void) { return g(); }'
	run "$TOP/tests/layers.py" --flat tree/kmod tree/build/kmod
	expect 1 "$rc"
	expect_line 'a circle: a, b, c' out
}

test_folder_that_is_no_layer()
{
	good_tree
	build_c fusefs/misc/a.c "extern int log_level;" "int f(void) { return log_level; }"
	finds layers "the folder 'misc' has no place in ORDER"
}

test_uapi_header_outside_its_layer()
{
	good_tree
	put_c fusefs/backend/slot.c '#include "kmod/uapi/bar_swap.h"'
	finds uapi_header 'fusefs/backend/slot.c:2:'
}

test_kernel_version_outside_compat()
{
	good_tree
	put_c kmod/mmap.c '#if LINUX_VERSION_CODE < 1' '#endif'
	finds kernel_versions 'kmod/mmap.c:2:'
}

test_config_write_outside_cfg()
{
	local call

	good_tree
	for call in pci_write_config_word pci_bus_write_config_byte \
		pci_restore_state pcie_capability_set_word pci_set_master \
		pci_enable_device_mem pci_user_write_config_dword; do
		put_c kmod/chain.c "	$call(pdev, 4, 0);"
		finds config_writes "kmod/chain.c:2:	$call"
	done
	put_c kmod/chain.c '	pci_read_config_word(pdev, 4, &v);'
	passes config_writes
}

test_file_without_license()
{
	good_tree
	echo 'int x;' | put fusefs/x.c
	finds spdx "fusefs/x.c: no 'SPDX-License-Identifier: GPL-2.0-or-later'"
}

test_license_of_the_other_half()
{
	good_tree
	echo '/* SPDX-License-Identifier: GPL-2.0-or-later */' | put kmod/x.c
	finds spdx "kmod/x.c: no 'SPDX-License-Identifier: GPL-2.0-only'"
}

test_badly_formatted_source()
{
	command -v clang-format >/dev/null || skip "needs clang-format"
	clang-format --version | grep -q ' version 14\.' ||
		skip "needs clang-format 14"
	good_tree
	put_c fusefs/x.c '' 'int x( void ){ return 0; }'
	finds clang_format 'fusefs/x.c:3'
}

test_fault_in_a_shell_script()
{
	command -v shellcheck >/dev/null || skip "needs shellcheck"
	good_tree
	put mount-helpers/mount.x <<-'EOF'
		#!/bin/sh
		# SPDX-License-Identifier: GPL-2.0-or-later
		echo $1
	EOF
	finds shellcheck 'mount-helpers/mount.x:3:6'
}

test_fault_in_a_manual_page()
{
	command -v man >/dev/null || skip "needs man"
	good_tree
	printf '.nosuchmacro\n' >>tree/fusefs/k80fs.8
	finds man_pages nosuchmacro
}

test_readme_names_an_option_that_is_not_there()
{
	good_tree
	echo 'k80fs -o backend=sim,sim_swap=3 /mnt' >>tree/README.md
	finds readme_options "k80fs --help has no 'sim_swap'"
}

test_option_that_the_manual_does_not_have()
{
	good_tree
	sed -i 's/,gid=/,grp=/' tree/fusefs/k80fs.8
	finds readme_options "fusefs/k80fs.8: has no option 'gid'"
}

test_readme_options_are_skipped_before_the_build()
{
	good_tree
	rm tree/build/k80fs
	lint readme_options
	expect 0 "$rc"
	expect_line 'skipped readme_options' out
}

test_places_of_another_version()
{
	good_tree
	sed -i 's/1[.]0/1.1/' tree/Makefile
	finds version 'kmod/dkms.conf: PACKAGE_VERSION is not 1.1'
	finds version 'kmod/bs.h: BS_RELEASE is not 1.1'
	finds version 'changelog: its first entry is not 1.1'
	finds version '"k80fs 1.0" "System Administration": not of this version'
}

test_readme_names_a_target_that_is_not_there()
{
	good_tree
	# shellcheck disable=SC2016 # Markdown
	echo 'Then `make coffee`.' >>tree/README.md
	finds readme_targets "Makefile has no target 'coffee'"
}

test_two_headers_of_one_name()
{
	good_tree
	put_c fusefs/support.h
	put_c tests/unit/support.h
	finds include_path 'tests/unit/support.h: also fusefs/support.h'
}

test_header_that_hides_a_system_header()
{
	good_tree
	put_c fusefs/sched.h
	passes include_path
	sed -i 's/-iquote fusefs /-I fusefs /' tree/Makefile
	finds include_path 'fusefs/sched.h: hides <sched.h>'
}

test_ignored_and_built_files_are_not_checked()
{
	good_tree
	echo 'no license' | put build/x.c
	passes spdx
	git -C tree init -q
	echo 'ignored.c' | put .gitignore
	echo 'no license' | put ignored.c
	echo '/build/' >>tree/.gitignore
	passes spdx
	echo 'no license' | put seen.c
	finds spdx seen.c
}
