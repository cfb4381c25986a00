#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Builds the Debian packages of this tree into build/deb; `make deb` runs it.
#
#   build.sh VERSION
#
# A commit that is tagged vVERSION, without changes, makes packages of that
# version, and so does a tree without git. Any other makes one that says which
# it is and comes between VERSION and the next: VERSION+gitDATE.HASH.
set -eu
cd "$(dirname "$0")/../.."
version=$1
out=$PWD/build/deb

die() {
	echo "make deb: $*" >&2
	exit 1
}

in_git() {
	[ -e .git ] && git rev-parse -q --verify HEAD >/dev/null 2>&1
}

package_version() {
	local tag changes

	in_git || {
		echo "$version"
		return
	}
	tag=$(git tag --points-at HEAD 'v*' | head -n 1)
	changes=$(git status --porcelain)
	if [ -n "$tag" ] && [ -z "$changes" ]; then
		[ "$tag" = "v$version" ] ||
			die "the tag is $tag, VERSION in the Makefile is $version"
		echo "$version"
		return
	fi
	git log -1 --date=format:%Y%m%d%H%M \
		--format="$version+git%cd.%h${changes:+.changed}"
}

# the sources: what git knows or would take, else all but what was built
sources() {
	if in_git; then
		git ls-files -z --cached --others --exclude-standard |
			while IFS= read -r -d '' file; do
				[ ! -e "$file" ] || printf '%s\0' "$file"
			done
	else
		find . -mindepth 1 \( -path './build' -o -path './build-*' \) \
			-prune -o ! -type d -print0
	fi
}

full=$(package_version)
tree=$out/k80fs-$full
rm -rf "$out"
mkdir -p "$tree"
sources | tar -cf - --null -T - | tar -C "$tree" -xf -
mv "$tree/mount-helpers/debian" "$tree/debian"
if [ "$(dpkg-parsechangelog -l "$tree/debian/changelog" -S Version)" != "$full" ]; then
	{
		cat <<-END
			k80fs ($full) unstable; urgency=medium

			  * Built from the source between two versions.

			 -- k80fs developers <k80fs@users.noreply.example>  $(date -R)

		END
		cat "$tree/debian/changelog"
	} >"$out/changelog"
	mv "$out/changelog" "$tree/debian/changelog"
fi
cd "$tree"
dpkg-buildpackage -us -uc -b >"$out/log" 2>&1 || {
	tail -n 30 "$out/log" >&2
	die "failed, see $out/log"
}
rm -rf "$tree"
for file in "$out"/*.deb; do
	echo "build/deb/${file##*/}"
done
