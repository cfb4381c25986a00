# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # rc comes from lib.sh
#
# install-deps, with a fake apt; libfuse3-dev is what is missing.

# tools_present: everything the groups build and module look for is there,
# except that fuse3 shows up only once ./installed exists
tools_present()
{
	local name

	export WORK
	for name in gcc make fusermount3 modprobe; do
		echo : | fake "$name"
	done
	fake pkg-config <<-'EOF'
		[ "$*" != '--exists fuse3' ] || [ -e "$WORK/installed" ]
	EOF
	fake apt-get <<-'EOF'
		echo "apt-get $*" >>"$WORK/log"
		case "$*" in
		*" install "*) touch "$WORK/installed" ;;
		esac
	EOF
	echo : | fake apt-cache
}

deps()
{
	run "$HELPERS/install-deps" "$@"
}

# deps_alone ARGS...: with ./bin and the plain tools of the script in PATH only
deps_alone()
{
	local name

	for name in sh sed sort tr cut cat uname id env touch; do
		[ -e "bin/$name" ] || ln -s "$(command -v "$name")" bin/
	done
	run env PATH="$WORK/bin" "$HELPERS/install-deps" "$@"
}

# be_user [sudo]: not root; with sudo, it needs no password
be_user()
{
	echo 'echo 1000' | fake id
	if [ "${1:-}" = sudo ]; then
		fake sudo <<-'EOF'
			echo "sudo $*" >>"$WORK/log"
			[ "$1" = -n ] && exit 0
			shift
			exec "$@"
		EOF
	else
		echo 'exit 1' | fake sudo
	fi
}

# be_root: also where the tests run as a user
be_root()
{
	echo 'echo 0' | fake id
}

test_nothing_missing_is_quiet_and_leaves_apt_alone()
{
	tools_present
	be_root
	touch installed
	deps build
	expect 0 "$rc"
	expect '' "$(cat out)"
	[ ! -e log ] || die "$(cat log)"
}

test_root_installs_what_is_missing_and_no_more()
{
	tools_present
	be_root
	deps build
	expect 0 "$rc" "$(cat out)"
	expect_line ' update' log
	expect_line '--no-install-recommends libfuse3-dev' log
	expect_no_line gcc log
}

test_default_group_is_build()
{
	tools_present
	be_root
	deps
	expect_line '--no-install-recommends libfuse3-dev' log
}

test_user_with_sudo_installs_through_it()
{
	tools_present
	be_user sudo
	deps build
	expect 0 "$rc" "$(cat out)"
	expect_line 'sudo -- env DEBIAN_FRONTEND=noninteractive apt-get' log
}

test_user_without_sudo_is_told_the_command()
{
	tools_present
	be_user
	deps build
	expect 1 "$rc"
	expect_line 'apt-get install --no-install-recommends libfuse3-dev' out
	[ ! -e log ] || die "$(cat log)"
}

test_failed_update_does_not_stop_the_install()
{
	tools_present
	be_root
	fake apt-get <<-'EOF'
		case "$*" in
		*update*) exit 100 ;;
		esac
		touch "$WORK/installed"
	EOF
	deps build
	expect 0 "$rc" "$(cat out)"
}

test_failed_install_is_exit_code_1()
{
	tools_present
	be_root
	echo 'exit 100' | fake apt-get
	deps build
	expect 1 "$rc"
}

test_install_without_effect_is_exit_code_1()
{
	tools_present
	be_root
	echo 'exit 0' | fake apt-get
	deps build
	expect 1 "$rc"
	expect_line 'still missing after apt-get: libfuse3-dev' out
}

test_first_name_known_to_apt_is_taken()
{
	tools_present
	be_root
	rm bin/pkg-config
	fake apt-cache <<-'EOF'
		[ "$*" = "show pkgconf" ]
	EOF
	deps_alone build
	expect_line 'pkgconf' log
	expect_no_line 'pkg-config' log
}

test_elsewhere_the_packages_are_named()
{
	tools_present
	rm bin/apt-get
	deps_alone build
	expect 1 "$rc"
	expect_no_line gcc out
	expect_line 'no apt here' out
	expect_line libfuse3-dev out
}

test_print_lists_and_installs_nothing()
{
	tools_present
	be_root
	deps --print build
	expect 1 "$rc"
	expect libfuse3-dev "$(cat out)"
	[ ! -e log ] || die "$(cat log)"
}

test_unknown_group_is_exit_code_2()
{
	deps build nonsense
	expect 2 "$rc"
	expect_line 'no such group: nonsense' out
}

test_headers_of_the_running_kernel_are_asked_for()
{
	tools_present
	touch installed
	echo 'echo 1.2.3-test' | fake uname
	deps --print module
	expect linux-headers-1.2.3-test "$(cat out)"
}

test_every_package_is_known_to_apt_here()
{
	local line name found

	command -v apt-cache >/dev/null || skip "no apt here"
	apt-cache pkgnames | sort >known
	grep -qx libc6-dev known || skip "apt has no lists"
	# the script's own table, without the kernel this machine happens to run
	sed -n 's/^\t\t\(build\|test\|more\|vm\|slurm\|containers\) \([^ ]*\) .*/\2/p' \
		"$HELPERS/install-deps" >names
	[ -s names ] || die "no table in install-deps"
	while read -r line; do
		found=
		for name in ${line//|/ }; do
			! grep -qx "$name" known || found=1
		done
		[ -n "$found" ] || die "apt does not know $line"
	done <names
}
