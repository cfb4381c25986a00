# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# The table's cases of a die that is unusable, on the module.
# rig: foreign
# time: 200
# alone: yes
top=$(cd "$VM/../.." && pwd)
export BARSWAP_DEVICE=$DEV
insmod /run/mod/rng-core.ko 2>/dev/null
insmod /run/mod/virtio-rng.ko
[ -e /sys/bus/pci/drivers/pci-stub ] ||
	check "pci-stub is to be had" insmod /run/mod/pci-stub.ko
check "loads" load
"$top/build/law" -u -k "$VM/guest/lawhook" "$top/tests/law/table" \
	2>&1 | tee "$TMPDIR/law" | sed -u 's/^/# /'
check_like "no case differs" "$(tail -1 "$TMPDIR/law")" ' 0 differ$'
check "unloads" unload
