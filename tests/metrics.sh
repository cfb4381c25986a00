#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The metrics file by those who read such files: promtool's check, and Debian's
# node_exporter, whose textfile collector finds it by a link. Both are unpacked
# from their packages, not installed: that would start services.
# Ends with: N passed, N failed, N skipped
set -u
cd "$(dirname "$0")/.." || exit 2
command -v apt-get >/dev/null || {
	echo 'no apt-get here'
	exit 77
}
W=$(mktemp -d "${TMPDIR:-/var/tmp}/k80metrics.XXXXXX")
pid=
passed=0
failed=0

clean_up() {
	[ -z "$pid" ] || kill "$pid"
	! mountpoint -q "$W/m" || umount "$W/m"
	rm -rf --one-file-system "$W"
}
trap clean_up EXIT
trap 'exit 1' INT TERM

# tell NAME RC: what was printed for it is in $W/log
tell() {
	if [ "$2" -eq 0 ]; then
		passed=$((passed + 1))
		echo "ok $1"
	else
		failed=$((failed + 1))
		echo "not ok $1"
		tail -n 20 "$W/log" | sed 's/^/    /'
	fi
}

fetch() {
	local package
	(cd "$W" && for package in prometheus prometheus-node-exporter; do
		apt-get -qq download $package && dpkg -x $package*_*.deb "$W" ||
			exit 1
	done && ls "$W/usr/bin/promtool" "$W/usr/bin/prometheus-node-exporter")
}

# scraped ADDRESS: what node_exporter makes of it, once it answers
scraped() {
	local i
	for ((i = 0; i < 300; i++)); do
		python3 -c 'import sys, urllib.request
with urllib.request.urlopen("http://" + sys.argv[1] + "/metrics") as r:
    sys.stdout.write(r.read().decode())' "$1" >"$W/log" 2>"$W/error" && break
		sleep 0.1
	done
	grep -qx 'node_textfile_scrape_error 0' "$W/log" &&
		[ "$(grep -c '^k80fs_' "$W/log")" -eq \
			"$(grep -c '^k80fs_' "$W/m/metrics")" ]
}

fetch >"$W/log" 2>&1
tell "the packages" $?
mkdir "$W/m" "$W/text"
build/k80fs -o backend=sim,sim_vram=64M "$W/m" >"$W/log" 2>&1
tell "a mount" $?
dd if=/dev/zero of="$W/m/die0/vram" bs=1M count=4 conv=notrunc status=none
dd if="$W/m/die1/vram" of=/dev/null bs=1M count=4 status=none
"$W/usr/bin/promtool" check metrics <"$W/m/metrics" >"$W/log" 2>&1
tell "promtool check metrics" $?
ln -s "$W/m/metrics" "$W/text/k80fs.prom"
address=127.0.0.1:$(python3 -c 'import socket
s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
"$W/usr/bin/prometheus-node-exporter" --web.listen-address="$address" \
	--collector.disable-defaults --collector.textfile \
	--collector.textfile.directory="$W/text" >"$W/exporter" 2>&1 &
pid=$!
scraped "$address"
tell "node_exporter reads all of it" $?
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
