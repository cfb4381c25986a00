# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# What "make check-hw" runs, from cold dies with nothing loaded, its questions
# answered on a terminal: with no, then with yes, in a whole pass.
# time: 600
# ci: no
# alone: yes
top=$(cd "$VM/../.." && pwd)
# a kernel of the step "six" takes some seconds
export LD_LIBRARY_PATH=$top/build/cuda STANDIN_VRAM=256M
export STANDIN_STEP_NS=$((60 * ${SLOW:-1}))
# what the module wants, as its user has it
export K80_BUILD=$top/build
asks='acquire warm persist speed probe compute reload six idle reset unload'

# hw ANSWER REPORT [STEP...]: on a terminal; each question is answered so. What
# was asked goes to $TMPDIR/asked, all that was said to $TMPDIR/said.
hw()
{
	local answer=$1 report=$2

	shift 2
	python3 - "$answer" "$TMPDIR/asked" "$TMPDIR/said" \
		"$top/tests/hw/run.sh" -m 8 -s 1000000 -o "$report" "$@" <<'P'
import os, pty, re, sys
answer, asked, said, *cmd = sys.argv[1:]
pid, fd = pty.fork()
if not pid:
    os.execv(cmd[0], cmd)
text, questions, seen = "", [], 0
while True:
    try:
        data = os.read(fd, 4096)
    except OSError:
        break
    if not data:
        break
    text += data.decode(errors="replace")
    while (at := text.find("run it? [y/N] ", seen)) >= 0:
        questions.append(re.findall(r"^== (\w+):", text[:at], re.M)[-1])
        seen = at + 1
        os.write(fd, (answer + "\n").encode())
with open(asked, "w") as f:
    f.write(" ".join(questions) + "\n")
with open(said, "w") as f:
    f.write(text.replace("\r", ""))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
P
}

# results REPORT: "STEP RESULT" of each step, in order
results()
{
	sed -n 's/^-- \([a-z]*\): \(PASS\|FAIL\|not run\).*/\1 \2/p' "$1"
}

all_cold
check "a tree for modprobe" vendor_tree
cp "$top/mount-helpers/bar_swap.conf" /etc/modprobe.d/

hw n "$TMPDIR/no" acquire warm reset unload
check_is "no: nothing has failed" $? 0
check_is "no: each was asked for" "$(cat "$TMPDIR/asked")" \
	"acquire warm reset unload"
check_is "no: none was run" "$(results "$TMPDIR/no" | cut -d' ' -f2- |
	sort | uniq -c | xargs)" "4 not run"
check_like "no: it says so" "$(cat "$TMPDIR/said")" \
	'^0 passed, 0 failed, 4 not run'
check_is "no: nothing was loaded" \
	"$(ls -d /sys/module/{bar_swap,nvidia*} 2>/dev/null)" ""
check_is "no: the dies are cold" "$(ctl 0 stat | grep -o 'cold [01]')" "cold 1"

hw y "$TMPDIR/report"
rc=$?
check_is "what it asks for" "$(cat "$TMPDIR/asked")" "$asks"
check_is "a result for each step, in order" \
	"$(results "$TMPDIR/report" | cut -d' ' -f1 | xargs)" \
	"$("$top/tests/hw/run.sh" -l | cut -d' ' -f1 | xargs)"
# this machine was not made for the doctor: it may find something
check_is "all but the doctor's PASS" \
	"$(results "$TMPDIR/report" | grep -v -e '^doctor ' -e ' PASS$')" "" ||
	sed 's/^/#   /' "$TMPDIR/report"
check_is "its status" "$rc" \
	"$(results "$TMPDIR/report" | grep -c '^doctor FAIL')"
for text in '^k80fs on hardware, 20' '^\$ uname -a' '^Linux ' '^k80fs [0-9]' \
	'^filename: .*bar_swap.ko' '^\$ lspci -nn' '\[10de:102d\]' \
	'^\$ dmesg ' 'bar_swap: die 5: ' 'Capabilities: ' \
	'^\$ lspci -vvv -nn -s 0000:0c:00.0' 'PASS: die 0' \
	'online 5: bind' 'one die [0-9.]* s, 6 dies [0-9.]* s' \
	'k80-owner warm 0'; do
	check "the report has $text" grep -qE -- "$text" "$TMPDIR/report"
done
check_is "no touch was told" "$(told)" 0
check_is "nothing is left loaded" \
	"$(ls -d /sys/module/{bar_swap,nvidia*} 2>/dev/null)" ""
check_is "nor mounted" "$(grep -c fuse.k80fs /proc/mounts)" 0
check_is "nor in the folder of the report" \
	"$(find "$TMPDIR" -maxdepth 1 \( -name 'report*' -o -name 'tmp.*' \) \
		-printf '%f\n')" report
grep -E '^(==|--|   one)' "$TMPDIR/report" | sed 's/^/# /'

# the module was there before
check "loads" modprobe bar_swap
hw y "$TMPDIR/again" module unload
check_is "loaded before: the last step has its two states" \
	"$(results "$TMPDIR/again" | xargs)" "module PASS unload PASS" ||
	sed 's/^/#   /' "$TMPDIR/again"
