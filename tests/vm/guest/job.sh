#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# job.sh JOB-SCRIPT: the shell a job runs in
# shellcheck source=tests/vm/guest/lib.sh
. "$VM/guest/lib.sh"
# a job says its results itself; one that cannot be read must not pass
bash -n "$1" || exit 1
# shellcheck disable=SC1090
. "$1"
exit 0
