#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# peers.sh DIR: build libfuse's passthrough_hp into DIR from the source package
# of the installed libfuse3-dev. Kept there: the next call does nothing.
# Uses the system's own apt sources as deb-src, in a private list folder.
set -euo pipefail

dir=$1
bin=$dir/passthrough_hp
version=$(dpkg-query -W -f '${Version}' libfuse3-dev)
stamp=$dir/passthrough_hp.version

[ -x "$bin" ] && [ "$(cat "$stamp" 2>/dev/null)" = "$version" ] && exit 0
mkdir -p "$dir"

for tool in g++ dpkg-source; do
	command -v $tool >/dev/null && continue
	echo "peers: no $tool (install g++ and dpkg-dev)" >&2
	exit 1
done

work=$(mktemp -d "${TMPDIR:-/var/tmp}/peers.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/parts" "$work/lists/partial"
shopt -s nullglob
for f in /etc/apt/sources.list.d/*.sources; do
	sed 's/^Types:.*/Types: deb-src/' "$f" >"$work/parts/${f##*/}"
done
for f in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
	[ -e "$f" ] || continue
	sed -n 's/^deb[[:space:]]/deb-src /p' "$f" >"$work/parts/${f##*/}.list"
done

apt=(apt-get -q -q -o Dir::Etc::sourcelist=/dev/null
	-o "Dir::Etc::sourceparts=$work/parts"
	-o "Dir::State::Lists=$work/lists"
	-o APT::Sandbox::User=root -o APT::Get::List-Cleanup=0)
# one dead third-party source must not stop us: what counts is the next step
"${apt[@]}" update || true
(cd "$work" && "${apt[@]}" source "fuse3=$version")

src=("$work"/fuse3-*/example/passthrough_hp.cc)
[ -e "${src[0]}" ] || {
	echo "peers: the source package has no example/passthrough_hp.cc" >&2
	exit 1
}
# shellcheck disable=SC2046 # one word per flag
g++ -O2 -std=c++17 -w -o "$bin" "${src[0]}" \
	$(pkg-config --cflags --libs fuse3) -lpthread
echo "$version" >"$stamp"
