#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Eight threads, all dies, random operations against a model
# timeout: 900
. "$(dirname "$0")/lib.sh"
VRAM=12G mount_sim wait=60000 sim_swap_us=100

"$BIN/randops" "$M" "${K80_SEED:-20240607}" "${K80_RANDOPS_SECONDS:-$(often 600 10)}" 8 \
	$((N < 6 ? N : 6)) ||
	fail "$(grep -H "last_error [^n]" "$M"/die*/status)"
# nothing but clears that found another die held
case $(root_status last_error) in
none | *": refused without waiting: "*) ;;
*) fail "last_error: $(root_status last_error)" ;;
esac
