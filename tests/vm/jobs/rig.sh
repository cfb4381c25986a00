# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# The rig itself, without the module: what it shows is what a K80 shows.
# time: 60
check "six dies, moved by hand, hold their data" "$G/poke"
