#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Whether the table says what was promised in words.
#
#	said.sh [TABLE [PROMISES]]
#
# Prints each promise that the table does not keep, then their number. Exit
# code: 0 all are kept.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

awk '
	/^#/ || !NF { next }
	FNR == NR { cases[n_cases++] = $0; next }
	{
		promises++
		hits = wrong = 0
		for (c = 0; c < n_cases; c++) {
			split(cases[c], is)
			for (i = 1; i <= 6; i++)
				if ($i != "*" && $i != is[i] &&
				    !(i == 6 && is[i] == "any"))
					break
			if (i <= 6)
				continue
			hits++
			if (is[8] == $8 && is[9] == ($9 == "." ? is[3] : $9))
				continue
			wrong++
			print "promised: " $0 "\n     has: " cases[c]
		}
		if (!hits)
			print "promised: " $0 "\n     has: no such case"
		broken += wrong || !hits
	}
	END {
		print promises + 0 " promises, " broken + 0 " not kept"
		exit broken || !promises
	}' "${1:-$here/table}" "${2:-$here/said}"
