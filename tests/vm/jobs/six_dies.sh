# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# The script of the README, as it stands there, from six cold dies: six kernels
# at once while every die is out of the slot, six right results.
# time: 240
# ci: 6.1
# alone: yes
top=$(cd "$VM/../.." && pwd)
# a step of the delay loop is a millisecond
export LD_LIBRARY_PATH=$top/build/cuda STANDIN_VRAM=64M STANDIN_STEP_NS=1000000
m=$TMPDIR/k80
long=$((5000 * ${SLOW:-1}))

# input0 ... input5, and what must come of them
make_files()
{
	(cd "$TMPDIR" && python3 - <<'P'
from array import array
n = 1 << 20
all = array("f", range(n + 6 + 1000))
for d in range(6):
    with open(f"input{d}", "wb") as f:
        all[d:d + n].tofile(f)
    with open(f"wanted{d}", "wb") as f:
        all[d + 1000:d + 1000 + n].tofile(f)
P
	)
}

# what compute/status of each die has as $1
compute_all()
{
	sed -n "s/ *\$//; s/^$1 //p" "$m"/die*/compute/status | xargs
}

all_run()
{
	[ "$(compute_all state)" = \
		"running running running running running running" ]
}

# the compute script of the README with DELAY $1
six_dies()
{
	(cd "$TMPDIR" && exec bash ./six-dies "$m" "$1")
}

sed -n '/tests run this: six-dies/,/^[^ <]/s/^    //p' "$top/README.md" \
	>"$TMPDIR/six-dies"
check "the README has the script" grep -q 'launch k80_add' "$TMPDIR/six-dies"
check "input" make_files
all_cold
check "a tree for modprobe" vendor_tree
cp "$top/mount-helpers/bar_swap.conf" /etc/modprobe.d/
check "loads" load first_sbr=auto
check "warm all" sh -c "echo warm all | $top/build/k80-owner >$TMPDIR/warm" ||
	sed 's/^/#   /' "$TMPDIR/warm"
mkdir -p "$m"
check "k80fs mounts" "$top/build/k80fs" -o compute "$m"
six_dies "$long" >"$TMPDIR/said" 2>&1 &
script=$!
check "six kernels run" await 60 all_run
# whoever waits for die 0 looks at it now and then, and holds nobody up: what
# comes in meanwhile has put out all others
check_is "die 0 makes room" "$(bs acquire 1 force)" ok
check_is "die 1 makes room" "$(bs acquire 2 force)" ok
check_is "the others are out" "$(for die in 1 3 4 5; do
	bs info $die state
done | xargs)" "idle idle idle idle"
check "and six kernels run" all_run
if wait $script; then
	echo "ok the script ends well"
else
	echo "not ok the script ends well"
	sed 's/^/#   /' "$TMPDIR/said"
fi
for die in 0 1 2 3 4 5; do
	check "die $die: PASS" cmp "$TMPDIR/result$die" "$TMPDIR/wanted$die"
done
check_is "no touch was told" "$(told)" 0
check "unmounts" umount "$m"
check "the workers end" await 30 workers_gone
check "the driver leaves" driver_leaves
check_is "no touch was told" "$(told)" 0
check "unloads" await 5 unload
