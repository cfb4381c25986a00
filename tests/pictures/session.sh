#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What the README's first picture shows, typed and answered: prints each command
# behind a prompt and what it really printed. Root, for a mount at /mnt/k80 that
# nobody else sees. Build first.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)

if [ "${1:-}" != inside ]; then
	exec unshare -m "$0" inside
fi
mount --make-rprivate /
mount -t tmpfs none /mnt
mkdir /mnt/k80 /mnt/home
cd /mnt/home
trap 'fusermount3 -u /mnt/k80' EXIT
PATH=$top/build:$PATH
head -c 256M /dev/urandom >model.bin

type_it()
{
	echo "# $1"
	bash -c "$1" 2>&1
}

type_it 'k80fs -o backend=sim /mnt/k80'
type_it 'ls -C /mnt/k80 /mnt/k80/die3'
type_it 'dd if=model.bin of=/mnt/k80/die3/vram bs=1M conv=fsync status=none'
type_it 'dd if=/mnt/k80/die3/vram of=/mnt/k80/die0/vram bs=1M count=256 status=none'
type_it 'sha256sum < model.bin'
type_it 'head -c 256M /mnt/k80/die0/vram | sha256sum'
type_it 'echo pin > /mnt/k80/die5/ctl'
type_it 'grep -E "^(state|hold|holder|vram_bytes|bar1) " /mnt/k80/die5/status'
