#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# job.sh JOB-SCRIPT: the shell a job runs in
# shellcheck source=tests/vm/guest/lib.sh
. "$VM/guest/lib.sh"
# shellcheck disable=SC1090
. "$1"
