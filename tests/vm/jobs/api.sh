# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# The published contract, one call after the other.
# time: 60
# check: yes
check "loads" load
"$G/api"
check_is "the node is root's alone" "$(stat -c '%a %U' "$DEV")" "600 root"
check "unloads" unload
