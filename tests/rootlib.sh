# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Fresh roots of Debian, from the archive that this machine's apt uses. Sourced
# by roots.sh and deb.sh. Needs root, and debootstrap.

# root_can_be_made: 77 and the reason, if none can
root_can_be_made() {
	[ "$(id -u)" -eq 0 ] || {
		echo 'making a root needs root'
		return 77
	}
	command -v debootstrap >/dev/null || {
		echo 'debootstrap is not installed'
		return 77
	}
	[ -n "$(root_mirror)" ] || {
		echo "no Debian archive in apt's configuration"
		return 77
	}
}

root_mirror() {
	# shellcheck disable=SC2016 # apt's variables
	apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' |
		grep -E '/debian/?$' | head -n 1
}

# root_make DIR RELEASE: minimal, with this machine's way to the archive
root_make() {
	debootstrap --variant=minbase "$2" "$1" "$(root_mirror)" >"$1.log" 2>&1 || {
		tail -n 5 "$1.log" | sed 's/^/# /'
		return 1
	}
	chmod 700 "$1/root"
	cp /etc/resolv.conf "$1/etc/"
	# a proxy, and what this archive needs
	apt-config dump Acquire | grep -E '^Acquire::(http|https|Check)' \
		>"$1/etc/apt/apt.conf.d/90host"
	return 0
}
