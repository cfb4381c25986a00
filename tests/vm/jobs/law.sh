# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# The table of cases of simulator and module, on the module.
# time: 1200
top=$(cd "$VM/../.." && pwd)
export BARSWAP_DEVICE=$DEV
[ -e /sys/bus/pci/drivers/pci-stub ] ||
	check "pci-stub is to be had" insmod /run/mod/pci-stub.ko
check "loads" load
"$top/build/law" -k "$VM/guest/lawhook" "$top/tests/law/table" \
	2>&1 | tee "$TMPDIR/law" | sed -u 's/^/# /'
check_like "no case differs" "$(tail -1 "$TMPDIR/law")" ' 0 differ$'
check "unloads" unload
