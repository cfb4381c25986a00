# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Random calls, as root and as a user of the group.
# time: 120
seed=$(date +%s)
check "loads" load
"$G/fuzz" 15 "$seed"
chown root:4711 "$DEV"
chmod 660 "$DEV"
as_group 4711 "$G/fuzz" 15 "$seed"
for die in 0 1 2 3 4 5; do
	check_is "no lease is stuck: die $die" \
		"$(timeout $((20 * SLOW)) "$G/bs" acquire $die)" ok
done
check "all six work" six_work
check "unloads" unload
