#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Random operations of eight threads against a model, on CUDA devices
# timeout: 900
. "$(dirname "$0")/lib.sh"
[ "${K80_LIBCUDA:-}" = real ] || use_standin STANDIN_COPY_US=200
VRAM=1G mount_cuda wait=60000
"$BIN/randops" "$M" "${K80_SEED:-20240607}" "${K80_RANDOPS_SECONDS:-$(often 600 10)}" 8 \
	$((N < 6 ? N : 6)) ||
	fail "$(grep -H "last_error [^n]" "$M"/die*/status)"
expect_status root last_error none
