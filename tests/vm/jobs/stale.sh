# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# A mapping never shows another die's memory.
# time: 60
# check: yes
check "loads" load
"$G/stale"
check "unloads" unload
