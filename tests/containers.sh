#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A die in a container of podman, of root's and of a user's: what is bound in
# and nothing else, what the default profile refuses, and k80fs itself in one.
# The containers share nothing with those of this machine, storage neither.
# Ends with: N passed, N failed, N skipped
set -u
top=$(cd "$(dirname "$0")/.." && pwd)
USERS_ID=65534
passed=0
failed=0

if [ "${1:-}" != inside ]; then
	[ "$(id -u)" -eq 0 ] || {
		echo 'users and their containers need root'
		exit 77
	}
	W=$(mktemp -d "${TMPDIR:-/var/tmp}/k80container.XXXXXX")
	chmod 711 "$W"
	trap 'rm -rf --one-file-system "$W"' EXIT
	unshare -mpf --kill-child --mount-proc "$0" inside "$W"
	exit
fi
W=$2

# tell NAME RC: what was printed for it is in $W/said
tell() {
	if [ "$2" -eq 0 ]; then
		passed=$((passed + 1))
		echo "ok $1"
	else
		failed=$((failed + 1))
		echo "not ok $1"
		tail -n 20 "$W/said" | sed 's/^/    /'
	fi
}

# try NAME COMMAND...
try() {
	local name=$1
	shift
	"$@" >"$W/said" 2>&1
	tell "$name" $?
}

# a root of busybox alone
make_root() {
	mkdir -p "$W/root/bin" "$W/root/die" "$W/root/proc" "$W/root/sys" \
		"$W/root/dev" "$W/root/etc" "$W/root/tmp" "$W/root/run" \
		"$W/root/usr" "$W/root/mnt" &&
		ln -s usr/lib usr/lib64 "$W/root/" &&
		cp "$(command -v busybox)" "$W/root/bin/busybox" &&
		ln -s busybox "$W/root/bin/sh" && chmod -R a+rX "$W/root"
}

podman_of() {
	local uid=$1
	shift
	setpriv --reuid="$uid" --regid="$uid" --clear-groups \
		env -i PATH="$PATH" HOME="$W/home.$uid" \
		XDG_RUNTIME_DIR="$W/run.$uid" TMPDIR="$W/home.$uid" \
		podman --root "$W/home.$uid/store" --runroot "$W/run.$uid/store" \
		--storage-driver vfs --cgroup-manager cgroupfs \
		--events-backend none "$@"
}

# in_container UID OPTION... -- COMMAND: of that shell, in a container of theirs
in_container() {
	local uid=$1 options=()
	shift
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	podman_of "$uid" run --rm --network none --cgroups disabled \
		"${options[@]}" --rootfs "$W/root" /bin/sh -c \
		"PATH=/bin; busybox --install -s /tmp 2>/dev/null; PATH=/tmp; $*"
}

# the container's bytes are on the die, and the other way
round_trip() {
	head -c 3000001 /dev/urandom >"$W/data" && chmod 644 "$W/data" &&
		in_container "$1" -v "$W/k80/die$2:/die" -v "$W/data:/data:ro" -- \
			"cat /data > /die/vram && cmp -n 3000001 /die/vram /data" &&
		cmp -n 3000001 "$W/data" "$W/k80/die$2/vram"
}

only_its_die() {
	local found
	found=$(in_container "$1" -v "$W/k80/die$2:/die" -- \
		"grep -x 'die $2' /die/status; find / -name vram 2>/dev/null")
	[ "${found//$'\n'/ }" = "die $2 /die/vram" ] && return
	echo "found: $found"
	return 1
}

# what is not the bound files' but the machine's
refused() {
	local order
	for order in "mount -t tmpfs x /tmp" "swapon /die/vram" \
		"mknod /tmp/node c 10 229"; do
		if in_container "$1" -v "$W/k80/die$2:/die" -- "$order" \
			>"$W/order" 2>&1; then
			echo "done: $order"
			return 1
		fi
		cat "$W/order"
		grep -qiE 'not permitted|permission denied' "$W/order" || return
	done
}

# k80fs in a container of root's: with the device and the right to mount
k80fs_inside() {
	in_container 0 -e TMPDIR=/tmp -v /usr:/usr:ro \
		-v "$top/build/k80fs:/bin/k80fs:ro" "$@" -- \
		"/bin/k80fs -o backend=sim,sim_vram=4M /mnt || exit
		echo inside | dd of=/mnt/die3/vram conv=notrunc &&
			head -c 6 /mnt/die3/vram && umount /mnt"
}

k80fs_refused() {
	! k80fs_inside "$@"
}

for cmd in podman busybox; do
	command -v $cmd >/dev/null || {
		echo "$cmd is not installed: mount-helpers/install-deps containers"
		exit 77
	}
done
mount --make-rprivate /
"$top/tests/drop-mounts.sh" "$W"
trap 'umount -l "$W/k80" 2>/dev/null' EXIT
trap 'exit 1' INT TERM
# crun knows the old hierarchies or the new one, not both at one time
if [ "$(stat -fc %T /sys/fs/cgroup)" != cgroup2fs ]; then
	umount -R -l /sys/fs/cgroup
	mount -t cgroup2 cgroup2 /sys/fs/cgroup
fi
for uid in 0 $USERS_ID; do
	for dir in home run; do
		mkdir -m 700 "$W/$dir.$uid" && chown "$uid:$uid" "$W/$dir.$uid"
	done
done
mkdir "$W/k80"
try "a root" make_root
try "a mount" "$top/build/k80fs" -o backend=sim,sim_vram=64M "$W/k80"
chown $USERS_ID "$W"/k80/die2/{vram,ctl}
try "root's container: bytes" round_trip 0 1
try "root's container: its die alone" only_its_die 0 1
try "a user's container: bytes" round_trip $USERS_ID 2
try "a user's container: its die alone" only_its_die $USERS_ID 2
try "root's container: mount, swap and nodes are refused" refused 0 1
try "a user's container: so they are" refused $USERS_ID 2
try "k80fs in a container is refused" k80fs_refused
try "also with the device alone" k80fs_refused --device /dev/fuse
try "with the right to mount it runs" \
	k80fs_inside --device /dev/fuse --cap-add SYS_ADMIN
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
