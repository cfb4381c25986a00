# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Sourced first by every script here. A script is one behaviour: it mounts a
# tree of its own, and any command in it that fails ends it as failed. Exit
# code 0 passed, 77 cannot run here (the reason is printed), else failed.
#
# K80FS          the daemon (default: build/k80fs of this repository)
# K80FS_BACKEND  sim (default); bar_swap: the real module's dies; cuda: devices
#                of the stand-in libcuda, or real ones
# K80_LIBCUDA    the folder of the stand-in (default: build/cuda); "real": the
#                system's
# K80FS_OPTIONS  options of every mount, such as io_uring,io_uring_q_depth=64
# K80_TEST_BIN   the programs of this folder, built (default: build/mount)
# K80_TEST_WORK  an empty folder for this script (default: a temporary one)
# K80_BULK_MIB   most that one bulky copy moves; unset: as the script says
# K80_LONG       set: as often as a soak wants it (see often)
set -eEuo pipefail
export LC_ALL=C

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
repo=$(cd "$here/../.." && pwd)
export K80FS=${K80FS:-$repo/build/k80fs}
export K80FS_BACKEND=${K80FS_BACKEND:-sim}
BIN=${K80_TEST_BIN:-$repo/build/mount}

trap 'echo "${BASH_SOURCE[0]##*/}:$LINENO: exit code $?: $BASH_COMMAND" >&2' ERR

own_work=
if [ -z "${K80_TEST_WORK:-}" ]; then
	K80_TEST_WORK=$(mktemp -d "${TMPDIR:-/var/tmp}/k80test.XXXXXX")
	chmod 711 "$K80_TEST_WORK"
	own_work=1
fi
export K80_TEST_WORK
W=$K80_TEST_WORK
export TMPDIR=$W
K80FS=$(realpath "$K80FS")
BIN=$(realpath "$BIN")
# fio leaves files where it runs
cd "$W"

# Milliseconds that are far more than anything takes that waits for nobody, on
# a machine however slow or busy, and far less than the minute for which the
# scripts make others wait. What is to be faster than something else is held
# against that, measured in the same run.
SOON=20000

fail() {
	echo "FAILED: $*" >&2
	exit 1
}

skip() {
	echo "cannot run here: $*"
	exit 77
}

# need_sim WHY: the script orders something of the simulator
need_sim() {
	[ "$K80FS_BACKEND" = sim ] || skip "needs the simulator: $*"
}

# need_small_dies WHY: in a VM copies of whole dies take too long
need_small_dies() {
	[ "$K80FS_BACKEND" != bar_swap ] || skip "needs small dies: $*"
}

# need_slot WHY: the script is about dies that take turns
need_slot() {
	[ "$K80FS_BACKEND" != cuda ] || skip "needs a slot: $*"
}

need_root() {
	[ "$(id -u)" = 0 ] || skip "needs root: $*"
}

# often MANY FEW: how often to do what shows more the more often it is done
often() {
	[ -n "${K80_LONG:-}" ] && echo "$1" || echo "$2"
}

# for_anyone PROGRAM: a copy of it that other users can run, wherever the tree
# is; prints its path
for_anyone() {
	local copy=$W/for-anyone
	mkdir -p "$copy"
	chmod 755 "$copy"
	install -m 755 "$1" "$copy/"
	echo "$copy/${1##*/}"
}

# own_etc: $W/etc is what fusermount3 wants of /etc, which is to be mounted over
# it: a list of mounts, which not every system has, and a fuse.conf of our own
own_etc() {
	mkdir "$W/etc"
	cp -a /etc/passwd /etc/group /etc/ld.so.* "$W/etc/"
	ln -s ../proc/self/mounts "$W/etc/mtab"
	: >"$W/etc/fuse.conf"
}

# drop_caches WHAT: as far as this system lets root do so
drop_caches() {
	[ ! -w /proc/sys/vm/drop_caches ] || echo "$1" >/proc/sys/vm/drop_caches
}

need_cmd() {
	local c
	for c; do
		command -v "$c" >/dev/null || skip "$c is not installed"
	done
}

# ---- mounting --------------------------------------------------------------

mounts=()

# use_standin [VAR=VALUE]...: mounts with backend=cuda from now on find the
# stand-in, and it these variables (see tests/cuda/standin.h)
use_standin() {
	[ "${K80_LIBCUDA:-}" != real ] || skip "needs the stand-in libcuda"
	K80_LIBCUDA=$(realpath "${K80_LIBCUDA:-$repo/build/cuda}")
	export LD_LIBRARY_PATH=$K80_LIBCUDA
	[ -e "$K80_LIBCUDA/libcuda.so.1" ] ||
		fail "$K80_LIBCUDA/libcuda.so.1 is not built (make tests)"
	local v
	for v; do
		export "${v?}"
	done
}

# mount_cuda [OPTION]...: a fresh tree of CUDA devices at $M. DIES and VRAM, set
# before, choose what the stand-in has; a real device gives VRAM of its memory.
mount_cuda() {
	local opts=backend=cuda
	M=$W/mnt${#mounts[@]}
	if [ "${K80_LIBCUDA:-}" = real ]; then
		opts+=,cuda_vram=${VRAM:-256M}
	else
		# a device has a little more than it gives
		use_standin "STANDIN_DEVICES=${DIES:-6}" STANDIN_VRAM=64G
		opts+=,cuda_vram=${VRAM:-256M}
	fi
	mount_at "$M" "$opts$(without_sim_options "$@")"
	CAP=$(status 0 vram_bytes)
	# shellcheck disable=SC2034 # for the scripts
	N=$(root_status dies)
}

# mount_mem [OPTION]...: a tree at $M of the stand-in's devices whose memory is
# that of files, with a keeper of its own. DIES and VRAM, set before, choose the
# devices; their memory is there until the script ends.
mount_mem() {
	M=$W/mnt${#mounts[@]}
	use_mem
	mount_at "$M" "$(mem_options)$(printf ',%s' "$@")"
	# shellcheck disable=SC2034 # for the scripts
	N=$(root_status dies)
}

mem_ledger=
use_mem() {
	[ "$K80FS_BACKEND" != bar_swap ] || skip "no CUDA for the module's dies"
	[ -n "$mem_ledger" ] || mem_ledger=$(mktemp -d /dev/shm/k80test.XXXXXX)
	use_standin "STANDIN_DEVICES=${DIES:-1}" "STANDIN_VRAM=${VRAM:-256M}" \
		"STANDIN_LEDGER=$mem_ledger"
	KEEPER=$W/keeper.sock
}

mem_options() {
	echo "backend=cuda,mem,mem_keeper=$KEEPER"
}

# mem_again [OPTION]...: the same tree at $M again, whose daemon has gone
mem_again() {
	mount_at "$M" "$(mem_options)$(printf ',%s' "$@")"
}

# mem_kill: the daemon is killed, and the mount taken away
mem_kill() {
	local pid
	pid=$(daemon_pid "$M")
	kill -9 "$pid"
	await is_gone "$pid" || fail "daemon $pid is still there"
	umount -l "$M"
}

# is_gone PID: no thread of it is left, though its parent may not know yet
is_gone() {
	local states
	states=$(cat "/proc/$1/task"/*/status 2>/dev/null |
		sed -n 's/^State:[[:space:]]*//p')
	[[ -z $states || $states = "Z (zombie)" ]]
}

# mem DIE: its folder
mem() {
	echo "$M/die$1/mem"
}

# python_mem ARG...: the system's python3, with the module of such files
python_mem() {
	mem_python "$@"
	"${mem_command[@]}"
}

mem_python() {
	mem_command=(env "PYTHONPATH=$repo/mount-helpers/python"
		PYTHONDONTWRITEBYTECODE=1 "K80_TEST_HERE=$here"
		"K80FS_LIBK80MEM=$(dirname "$K80FS")/libk80mem.so.1"
		/usr/bin/python3 "$@")
}

# prog NAME: start a program that maps files, see mem_prog.py; ask NAME
# COMMAND...: what it answers; prog_end NAME [SIGNAL]: end it
declare -A prog_pid prog_in prog_out
prog() {
	local in out
	mkfifo "$W/$1.in" "$W/$1.out"
	mem_python "$here/mem_prog.py"
	"${mem_command[@]}" <"$W/$1.in" >"$W/$1.out" 2>"$W/$1.err" &
	prog_pid[$1]=$!
	exec {in}>"$W/$1.in" {out}<"$W/$1.out"
	prog_in[$1]=$in
	prog_out[$1]=$out
}

ask() {
	local name=$1 line
	shift
	echo "$*" >&"${prog_in[$name]}"
	read -r -t 60 line <&"${prog_out[$name]}" ||
		fail "$name does not answer '$*': $(cat "$W/$name.err")"
	echo "$line"
}

prog_end() {
	local in=${prog_in[$1]} out=${prog_out[$1]}
	kill "-${2:-TERM}" "${prog_pid[$1]}"
	exec {in}>&- {out}<&-
	wait "${prog_pid[$1]}" || :
	rm "$W/$1.in" "$W/$1.out"
}

# freed DIE: all its memory is free, once the kernel has forgotten what was removed
freed() {
	await is_freed "$1" ||
		fail "$(number "$1" mem_bytes) bytes are taken, of $(number "$1" \
			memory_total) $(number "$1" memory_free) are free"
}

is_freed() {
	[ "$(number "$1" mem_bytes)" = 0 ] &&
		[ "$(number "$1" memory_free)" = "$(number "$1" memory_total)" ]
}

# keeper ARG...: the program's answer
keeper() {
	"$(dirname "$K80FS")/k80-keeper" -s "$KEEPER" "$@"
}

keeper_pid() {
	keeper -S | sed -n '1s/^k80-keeper \([0-9]*\) .*/\1/p'
}

# end_keeper: with all that it holds
end_keeper() {
	local pid
	pid=$(keeper_pid 2>/dev/null)
	[ -z "$pid" ] || kill "$pid"
}

# mount_compute [OPTION]...: a fresh tree whose dies compute; MODE, set before,
# is contexts or streams.
mount_compute() {
	[ "$K80FS_BACKEND" != bar_swap ] || skip "no CUDA for the module's dies"
	[ "${K80_LIBCUDA:-}" = real ] || use_standin
	VRAM=${VRAM:-64M} mount_sim "compute${MODE:+=$MODE}" "$@"
}

# compute DIE COMMAND...: one write of the words as a line to compute/ctl
compute() {
	local file=$M/die$1/compute/ctl
	shift
	echo "$*" >"$file"
}

# compute_errno DIE ERRNO COMMAND...: the write must fail so
compute_errno() {
	local file=$M/die$1/compute/ctl errno=$2
	shift 2
	t "$file" w "puts,$*\n:$errno"
}

# compute_status DIE KEY; expect_compute DIE KEY VALUE
compute_status() {
	sed -n "s/ *\$//; s/^$2 //p" "$M/die$1/compute/status"
}

expect_compute() {
	expect_equal "$(compute_status "$1" "$2")" "$3" "compute of die $1: $2"
}

# logged DIE TEXT: the log has it in some line
logged() {
	grep -qF -- "$2" "$M/die$1/compute/log" ||
		fail "log of die $1 has no '$2': $(cat "$M/die$1/compute/log")"
}

# floats FILE EXPRESSION: a buffer full, of i = 0, 1, ...
floats() {
	python3 -c "
import array
array.array('f', ($2 for i in range(1 << 20))).tofile(open('$1', 'wb'))"
}

# cuda_order ORDER...: what the stand-in's next calls give, instead of what was
# ordered before (see tests/cuda/standin.h); use_standin STANDIN_ORDERS=... comes
# before the mount
cuda_order() {
	echo "$@" >"$STANDIN_ORDERS.new"
	mv "$STANDIN_ORDERS.new" "$STANDIN_ORDERS"
}

# mount_at DIR [OPTIONS]: start the daemon there and register it for clean-up
mount_at() {
	local dir=$1 opts=${2:-}
	opts+=${K80FS_OPTIONS:+${opts:+,}$K80FS_OPTIONS}
	mkdir -p "$dir"
	mounts+=("$dir")
	"$K80FS" ${opts:+-o "$opts"} "$dir"
}

# mount_sim [OPTION]...: a fresh private tree at $M, with the dies' socket for
# orders at $SOCK. DIES and VRAM, set before, choose the simulator's size. In
# a VM the same call mounts the module's dies. Sets CAP (a die's bytes), N.
mount_sim() {
	local opts
	if [ "$K80FS_BACKEND" = cuda ]; then
		mount_cuda "$@"
		return
	fi
	M=$W/mnt${#mounts[@]}
	SOCK=$M.sock
	opts=backend=$K80FS_BACKEND
	if [ "$K80FS_BACKEND" = sim ]; then
		opts+=,sim_dies=${DIES:-6},sim_vram=${VRAM:-256M},sim_ctl=$SOCK
		opts+=$(printf ',%s' "$@")
		opts=${opts%,}
	else
		opts+=$(without_sim_options "$@")
	fi
	mount_at "$M" "$opts"
	# the module keeps a die in from one daemon to the next
	if [ "$K80FS_BACKEND" != sim ] && [[ ,$opts, != *,ro,* ]]; then
		echo release >"$M/ctl"
	fi
	CAP=$(status 0 vram_bytes)
	# shellcheck disable=SC2034 # for the scripts
	N=$(root_status dies)
}

without_sim_options() {
	local o
	for o; do
		case $o in
		sim_*) ;;
		*) printf ',%s' "$o" ;;
		esac
	done
}

# uring_on: whether this daemon and this kernel can use io_uring; it is switched
# on in the kernel until the script ends, and WHY_NO_URING says what is missing.
# The switch is this script's alone until then.
URING_SWITCH=/sys/module/fuse/parameters/enable_uring
uring_was_off=
WHY_NO_URING=
uring_on() {
	if ! "$K80FS" --version | grep -q '^transport .*io_uring'; then
		WHY_NO_URING=libfuse
	elif [ ! -e "$URING_SWITCH" ]; then
		WHY_NO_URING="the kernel has none"
	fi
	[ -z "$WHY_NO_URING" ] || return 1
	if [ -z "${uring_lock:-}" ]; then
		exec {uring_lock}<"$URING_SWITCH"
		flock "$uring_lock"
	fi
	if [ "$(cat "$URING_SWITCH")" = Y ]; then
		return 0
	elif [ ! -w "$URING_SWITCH" ]; then
		WHY_NO_URING="off in the kernel"
	else
		uring_was_off=1
		echo Y >"$URING_SWITCH"
	fi
	[ -z "$WHY_NO_URING" ]
}

# daemon_pids DIR: the processes serving the mount at DIR
daemon_pids() {
	local p
	for p in $(grep -lzxF -- "$1" /proc/[0-9]*/cmdline 2>/dev/null ||
		:); do
		p=${p%/cmdline}
		[ "$p/exe" -ef "$K80FS" ] && echo "${p#/proc/}"
	done
	return 0
}

daemon_pid() {
	local pids
	pids=$(daemon_pids "${1:-$M}")
	[[ $pids =~ ^[0-9]+$ ]] ||
		fail "wanted one daemon at ${1:-$M}, found: ${pids:-none}"
	echo "$pids"
}

is_mounted() {
	awk -v d="$1" '$5 == d { found = 1 } END { exit !found }' \
		/proc/self/mountinfo
}

# threads_of PID: what each thread of a process that hangs is doing
threads_of() {
	local task
	for task in "/proc/$1/task"/*; do
		echo "thread ${task##*/}: $(cat "$task/comm") in" \
			"$(cat "$task/wchan"), system call $(cat "$task/syscall")"
	done
	if command -v gdb >/dev/null; then
		gdb -p "$1" -batch -ex "thread apply all bt 12" 2>/dev/null |
			grep -E '^(#|Thread)'
	fi
}

# unmount [DIR]: take it away and wait until its daemon is gone
unmount() {
	local dir=${1:-$M} i
	for ((i = 0; ; i++)); do
		umount "$dir" 2>"$W/umount.err" && break
		[ "$i" -lt 600 ] || fail "umount: $(cat "$W/umount.err")"
		sleep 0.1
	done
	# the kernel frees gigabytes of unlinked files on its way out
	for ((i = 0; i < 1200; i++)); do
		[ -n "$(daemon_pids "$dir")" ] || return 0
		sleep 0.1
	done
	threads_of "$(daemon_pids "$dir")" >&2
	fail "the daemon of $dir is still there two minutes after umount"
}

# Runs at the end of every script: no mount and no daemon may stay behind
finish() {
	local rc=$? dir pid
	trap - EXIT ERR
	set +e
	exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-
	for pid in $(jobs -p); do
		kill -CONT "$pid" 2>/dev/null
		kill "$pid" 2>/dev/null
	done
	for dir in "${mounts[@]}"; do
		for pid in $(daemon_pids "$dir"); do
			kill -CONT "$pid"
		done
	done
	for dir in "${mounts[@]}"; do
		is_mounted "$dir" || continue
		(unmount "$dir") && continue
		rc=1
		for pid in $(daemon_pids "$dir"); do
			kill -9 "$pid"
		done
		umount -l "$dir"
	done
	wait
	[ -z "$mem_ledger" ] || end_keeper
	[ -z "$mem_ledger" ] || rm -rf --one-file-system "$mem_ledger"
	[ -z "$uring_was_off" ] || echo N >"$URING_SWITCH"
	[ -z "$own_work" ] || rm -rf --one-file-system "$W"
	exit "$rc"
}
trap finish EXIT

# ---- the tree --------------------------------------------------------------

die() {
	echo "$M/die$1"
}

# status DIE KEY, root_status KEY: the value, which may hold spaces; counters
# are padded to a fixed width
status() {
	sed -n "s/ *\$//; s/^$2 //p" "$M/die$1/status"
}

root_status() {
	sed -n "s/ *\$//; s/^$1 //p" "$M/status"
}

# number DIE KEY: a counter as a plain number
number() {
	local n
	n=$(status "$1" "$2")
	echo $((10#$n))
}

# expect_status DIE KEY VALUE; DIE "root" is the root's
expect_status() {
	local got
	if [ "$1" = root ]; then
		got=$(root_status "$2")
	else
		got=$(status "$1" "$2")
	fi
	[ "$got" = "$3" ] || fail "status of $1: $2 is '$got', wanted '$3'"
}

# wait_status DIE KEY VALUE: the same, soon
wait_status() {
	await is_status "$1" "$2" "$3" || :
	expect_status "$1" "$2" "$3"
}

is_status() {
	[ "$(status "$1" "$2")" = "$3" ]
}

# wait_waiters DIE N: until so many requests wait for it, no less
wait_waiters() {
	await has_waiters "$1" "$2" ||
		fail "$(number "$1" waiters) requests wait for die $1, not $2"
}

has_waiters() {
	[ "$(number "$1" waiters)" -ge "$2" ]
}

# ctl DIE COMMAND...: one write of the words as a line; DIE "root" is the root's
ctl() {
	local file=$M/die$1/ctl
	[ "$1" != root ] || file=$M/ctl
	shift
	echo "$*" >"$file"
}

# ctl_errno DIE ERRNO COMMAND...: the write must fail so
ctl_errno() {
	local die=$1 errno=$2
	shift 2
	t "$(die "$die")/ctl" w "puts,$*\n:$errno"
}

# sim ORDER...: order something of the simulator (bs_sim_order in barswap.h)
sim() {
	t "$SOCK" path "order,$*"
}

# ---- checking --------------------------------------------------------------

# t FILE FLAGS OP...: system calls with the exact results; see tool.c
t() {
	"$BIN/tool" "$@"
}

now_ms() {
	local t=${EPOCHREALTIME/./}
	echo $((t / 1000))
}

# await COMMAND...: until it succeeds, soon
await() {
	local end=$(($(now_ms) + SOON))
	until "$@"; do
		[ "$(now_ms)" -lt "$end" ] || return 1
		sleep 0.02
	done
}

# soon COMMAND...: it succeeds and waits for nobody
soon() {
	within "$SOON" "$@"
}

# soon_after START WHAT: it is not long since START, now_ms at that time
soon_after() {
	local took=$(($(now_ms) - $1))
	shift
	[ "$took" -lt "$SOON" ] || fail "$* took $took ms"
}

# in_contrast COMMAND...: what must not take as long as something else does,
# which it is told to let last 3, then 12, then 48 seconds: a machine may be too
# busy for the first of them
in_contrast() {
	local seconds
	for seconds in 3 12 48; do
		! "$@" "$seconds" || return 0
	done
	fail "not even in $seconds s: $*"
}

# within MS COMMAND...: it succeeds in that time
within() {
	local limit=$1 start took
	shift
	start=$(now_ms)
	"$@" || fail "exit code $?: $*"
	took=$(($(now_ms) - start))
	[ "$took" -le "$limit" ] || fail "took $took ms, wanted $limit: $*"
}

# expect_error TEXT COMMAND...: it fails and says TEXT on stderr
expect_error() {
	local text=$1
	shift
	if "$@" 2>"$W/stderr"; then
		fail "succeeded, wanted '$text': $*"
	fi
	grep -qF -- "$text" "$W/stderr" ||
		fail "wanted '$text' from: $*; got: $(cat "$W/stderr")"
}

expect_equal() {
	[ "$1" = "$2" ] || fail "${3:-compare}: got '$1', wanted '$2'"
}

sum() {
	sha256sum | cut -d' ' -f1
}

# random_file NAME BYTES [SEED]: not zero, not compressible, the same each time
random_file() {
	openssl enc -aes-128-ctr -pass "pass:${3:-k80}" -nosalt -md sha256 \
		-in /dev/zero 2>/dev/null | head -c "$2" >"$1" || [ -s "$1" ]
	expect_equal "$(stat -c %s "$1")" "$2" "size of $1"
}

# bulk MIB: MiB that a bulky copy moves: less on a small die, less in a VM
bulk() {
	local mib=$1 most=$((CAP / 1048576 / 2))
	[ "$K80FS_BACKEND" = sim ] || most=$((most < 16 ? most : 16))
	[ -z "${K80_BULK_MIB:-}" ] || most=$K80_BULK_MIB
	echo $((mib < most ? mib : most))
}
