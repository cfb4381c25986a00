#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What can be checked without building.
# usage: lint.sh [--root DIR] [CHECK...]
#	DIR: the tree to check, this one by default; CHECK: spdx, ...; all of them
#
# Prints a line for each check, its findings below it, and ends with
# "N passed, N failed, N skipped". Exit code 1 if one failed.

set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(dirname "$here")
if [ "${1:-}" = --root ]; then
	top=$2
	shift 2
fi
cd "$top" || exit 2

# All files of the project: not what was built, not what git ignores.
if [ "$(git rev-parse --show-toplevel 2>/dev/null)" = "$(pwd -P)" ]; then
	mapfile -t all < <(git ls-files -co --exclude-standard | sort)
else
	mapfile -t all < <(find . -name .git -prune -o -name 'build*' -prune \
		-o -type f -print | sed 's|^\./||' | sort)
fi

# files REGEX: those of the project whose path matches
files()
{
	local f

	for f in "${all[@]}"; do
		[[ $f =~ $1 ]] && [ -f "$f" ] && printf '%s\n' "$f"
	done
}

# hits PATTERN FILE...: "file:line:text" of matches; nothing for no files
hits()
{
	local pattern=$1

	shift
	[ $# -eq 0 ] || grep -HnE -- "$pattern" "$@"
}

# Every check prints its findings. Nothing printed: passed. "skip: WHY": it
# could not be made.

lint_fuse_headers()
{
	mapfile -t list < <(files '^fusefs/.*\.[ch]$' |
		grep -vE '^fusefs/(fuse/.*|(options|main)\.[ch])$')
	hits '^[[:space:]]*#[[:space:]]*include[[:space:]]*[<"](fuse|linux/fuse)' \
		"${list[@]}"
}

# The order of the layers, and no circles: from the objects of the last build.
lint_layers()
{
	[ -d build/fusefs ] || {
		echo 'skip: build/fusefs is not built'
		return
	}
	"$here/layers.py" fusefs build/fusefs
}

lint_uapi_header()
{
	mapfile -t list < <(files '^fusefs/.*\.[ch]$' |
		grep -vx 'fusefs/lib/dev_module.c')
	hits '^[[:space:]]*#[[:space:]]*include.*bar_swap\.h' "${list[@]}"
}

lint_kernel_versions()
{
	mapfile -t list < <(files '^(kmod|fusefs)/.*\.[ch]$' |
		grep -vx 'kmod/compat.h')
	hits '\<(LINUX_VERSION_CODE|KERNEL_VERSION|RHEL_RELEASE_CODE)\>' \
		"${list[@]}"
}

# Whatever writes config space, by name or through the core.
lint_config_writes()
{
	local calls='pci_(bus_|user_|generic_)?(write_)?config_write[a-z0-9_]*'

	calls="$calls|pci_(bus_|user_)?write_config_[a-z]+"
	calls="$calls|pcie_capability_(write|set|clear)[a-z_]*"
	calls="$calls|pci_(restore_state|set_master|clear_master|update_resource)"
	calls="$calls|pci_(enable|disable)_device[a-z_]*|pci_set_power_state"
	mapfile -t list < <(files '^kmod/.*\.[ch]$' | grep -vx 'kmod/cfg.c')
	hits "\\<($calls)[[:space:]]*\\(" "${list[@]}"
}

# First line, or the second below "#!"; GPL-2.0-only in kmod.
lint_spdx()
{
	local f want

	while read -r f; do
		case $f in
		kmod/*) want='GPL-2\.0-only' ;;
		# test programs that are kernel code
		tests/vm/*) want='GPL-2\.0-(only|or-later)' ;;
		*) want='GPL-2\.0-or-later' ;;
		esac
		head -n 2 "$f" | grep -qE "SPDX-License-Identifier: $want\\>" ||
			echo "$f: no 'SPDX-License-Identifier: ${want//\\/}'"
	done < <(files . | grep -vE \
		'^(LICENSE|README\.md|\.clang-format|\.gitignore|\.gitattributes)$|^tests/unit/corpus/|\.shellcheckrc$|\.(dict|map|in|json|config)$|^mount-helpers/debian/(source/|control$|changelog$|copyright$|k80fs\.docs$|.*\.(install|links|symbols)$)')
}

lint_clang_format()
{
	command -v clang-format >/dev/null || {
		echo 'skip: no clang-format'
		return
	}
	# another version has other opinions
	clang-format --version | grep -q ' version 14\.' || {
		echo 'skip: not clang-format 14'
		return
	}
	mapfile -t list < <(files '^(fusefs|mount-helpers|tests)/.*\.[ch]$')
	[ ${#list[@]} -eq 0 ] || clang-format --dry-run -Werror "${list[@]}" 2>&1 |
		grep -E '^[^ ]+:[0-9]+:[0-9]+: error' | cut -d: -f1,2
}

# shell_scripts: by "#!" or by name
shell_scripts()
{
	local f line

	while read -r f; do
		line=''
		read -r line <"$f" 2>/dev/null
		case $f:$line in
		*.sh:* | *':#!'*/sh | *':#!'*/bash | *':#!'*' bash' | \
			*':#!'*busybox' sh') echo "$f" ;;
		esac
	done < <(files . | grep -vE '^tests/unit/corpus/|\.(c|h|md)$')
}

lint_shellcheck()
{
	command -v shellcheck >/dev/null || {
		echo 'skip: no shellcheck'
		return
	}
	# SC2187: busybox is checked as dash
	shell_scripts | tr '\n' '\0' | xargs -0 -r -n 8 -P "$(nproc)" \
		shellcheck -x -S info -e SC2187 -f gcc
}

lint_man_pages()
{
	local f

	command -v man >/dev/null || {
		echo 'skip: no man'
		return
	}
	while read -r f; do
		# a page of one ".so" line names a page that only "man" finds
		! grep -q '^\.so ' "$f" || continue
		LC_ALL=C.UTF-8 MANROFFSEQ='' MANWIDTH=80 \
			man --warnings -E UTF-8 -l -Tutf8 -Z "$f" 2>&1 >/dev/null |
			sed "s|^|$f: |"
		! command -v mandoc >/dev/null ||
			mandoc -Tlint -W warning "$f" |
			grep -v 'missing date, using ""'
	done < <(files '\.[1-8]$')
}

# Options and targets that the README names exist; k80fs(8) has every option.
lint_readme_options()
{
	local name help

	[ -f README.md ] || {
		echo 'README.md: missing'
		return
	}
	[ -x build/k80fs ] || {
		echo 'skip: build/k80fs is not built'
		return
	}
	help=$(build/k80fs --help)
	grep -oE -- '-o [a-z_]+[=a-z0-9_,/.]*' README.md | cut -c4- |
		tr ',' '\n' | sed 's/[= ].*//' | sort -u | while read -r name; do
		case $name in
		# of other programs and of mount(8)
		'' | nofail | noauto | x-* | remount | loop | vers) continue ;;
		esac
		grep -qE -- "(^|[ ,])(-o )?$name([=, |]|\$)" <<<"$help" ||
			echo "README.md: k80fs --help has no '$name'"
	done
	grep -oE -- '^ +-o [a-z_]+(=[^ ]*)?' <<<"$help" | tr ',' '\n' |
		sed -E 's/^ *(-o )?//; s/=.*//' | while read -r name; do
		sed 's/\\~/ /g; s/\\-/-/g' fusefs/k80fs.8 |
			grep -qE "[ ,]$name([= \"]|\$)" ||
			echo "fusefs/k80fs.8: has no option '$name'"
	done
}

# The Makefile's VERSION is the truth.
lint_version()
{
	local version

	version=$(sed -n 's/^VERSION := //p' Makefile)
	grep -qx "PACKAGE_VERSION=\"$version\"" kmod/dkms.conf ||
		echo "kmod/dkms.conf: PACKAGE_VERSION is not $version"
	grep -qE "^#define BS_RELEASE +\"$version\"" kmod/bs.h ||
		echo "kmod/bs.h: BS_RELEASE is not $version"
	head -n 1 mount-helpers/debian/changelog | grep -qF "($version)" ||
		echo "mount-helpers/debian/changelog: its first entry is not $version"
	files '\.[1-8]$' | xargs grep -H '^\.TH ' |
		grep -vF "\"k80fs $version\"" | sed 's/$/: not of this version/'
	grep -n 'bar_swap[-/][0-9]' README.md | grep -vE "bar_swap[-/]$version\\>" |
		sed 's/^/README.md:/'
}

lint_readme_targets()
{
	local name

	[ -f README.md ] || {
		echo 'README.md: missing'
		return
	}
	# shellcheck disable=SC2016 # the backquote is Markdown's
	grep -oE '`make [a-z-]+' README.md | cut -d' ' -f2 | sort -u |
		while read -r name; do
			grep -qE "^$name:|^\\.PHONY:.* $name( |\$)" Makefile ||
				echo "README.md: Makefile has no target '$name'"
		done
}

# No two files answer to one #include, and none to a system header's name.
# "-iquote" folders are searched for "..." alone, "-I" folders for <...> too.
lint_include_path()
{
	local dir f kind
	local -A seen

	while read -r kind dir; do
		dir=${dir#./}
		[ "$dir" != . ] || continue
		for f in "$dir"/*.h; do
			[ -e "$f" ] || continue
			[ -z "${seen[${f##*/}]:-}" ] ||
				echo "$f: also ${seen[${f##*/}]}"
			seen[${f##*/}]=$f
			[ "$kind" != -I ] || [ ! -e "/usr/include/${f##*/}" ] ||
				echo "$f: hides <${f##*/}>, use -iquote"
		done
	done < <(grep -oE -- '(-iquote +|-I *)[A-Za-z0-9_./]+' Makefile 2>/dev/null |
		sed -E 's/^(-iquote|-I) */\1 /' | sort -u)
}

n_pass=0
n_fail=0
n_skip=0
[ $# -gt 0 ] || mapfile -t checks < <(declare -F | sed -n 's/^declare -f lint_//p')
[ $# -eq 0 ] || checks=("$@")
for name in "${checks[@]}"; do
	found=$("lint_$name")
	case $found in
	'')
		n_pass=$((n_pass + 1))
		echo "ok $name"
		;;
	'skip: '*)
		n_skip=$((n_skip + 1))
		echo "skipped $name: ${found#skip: }"
		;;
	*)
		n_fail=$((n_fail + 1))
		echo "FAILED $name"
		printf '    %s\n' "${found//$'\n'/$'\n'    }"
		;;
	esac
done
echo "$n_pass passed, $n_fail failed, $n_skip skipped"
[ "$n_fail" -eq 0 ]
