# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Leases.
# time: 60
# check: yes
check "loads" load
"$G/lease"
check "unloads" unload
