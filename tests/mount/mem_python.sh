#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The Python module beside numpy: safetensors files on k80fs and what it makes
# of them, what it saves, what it refuses
. "$(dirname "$0")/lib.sh"
VRAM=256M mount_mem
python_mem -c 'import numpy' 2>/dev/null || skip "python3-numpy is not installed"
total=$(number 0 memory_total)
python_mem "$here/mem_python.py" "$(mem 0)"
expect_equal "$(ls -A "$(mem 0)")" ""
wait_status 0 memory_free "$total"
