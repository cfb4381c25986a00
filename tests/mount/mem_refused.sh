#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A device whose memory cannot be shared has no mem folder, and says which call failed
. "$(dirname "$0")/lib.sh"
use_mem
for call in cuMemCreate cuMemExportToShareableHandle cuMemMap \
	cuMemImportFromShareableHandle; do
	STANDIN_FAIL=$call:1:801 mount_mem
	[[ $(status 0 mem) = "no: "*"$call: CUDA_ERROR_NOT_SUPPORTED"* ]] ||
		fail "$call: mem is '$(status 0 mem)'"
	[ ! -e "$(mem 0)" ] || fail "$call: there is a folder"
	unmount
done
# what is there already is proof enough
mount_mem
expect_status 0 mem yes
echo text >"$(mem 0)/f"
unmount
STANDIN_FAIL=cuMemCreate:1:801 mem_again
expect_equal "$(cat "$(mem 0)/f")" text "a file of before"
