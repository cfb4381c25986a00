# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# A rescan of the whole bus leaves managed dies alone.
# time: 60
snapshot before
check "loads" load
snapshot vacant
echo 1 >/sys/bus/pci/rescan
snapshot rescanned
check "a rescan of a vacant slot changes nothing" same vacant rescanned
check_is "acquire" "$(bs acquire 2)" ok
snapshot active
echo 1 >/sys/bus/pci/rescan
snapshot rescanned
check "a rescan with a die in changes nothing" same active rescanned
check "all six work" six_work
check "unloads" unload
snapshot after
check "everything is as before" same before after
