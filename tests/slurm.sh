#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# mount-helpers/slurm under Slurm: a controller and two nodes on loopback, each
# with six simulated dies. All of it runs in namespaces of its own.
# Ends with: N passed, N failed, N skipped
set -u
top=$(cd "$(dirname "$0")/.." && pwd)
slow=${K80_TIME_SCALE:-1}
passed=0
failed=0

if [ "${1:-}" != inside ]; then
	[ "$(id -u)" -eq 0 ] || {
		echo 'namespaces and jobs of other users need root'
		exit 77
	}
	W=$(mktemp -d "${TMPDIR:-/var/tmp}/k80slurm.XXXXXX")
	chmod 711 "$W"
	trap 'rm -rf --one-file-system "$W"' EXIT
	unshare -mnupf --kill-child --mount-proc "$0" inside "$W"
	exit
fi
W=$2
export SLURM_CONF=$W/slurm.conf
USERS=(1 2) # daemon, bin

# tell NAME RC: what was printed for it is in $W/said
tell() {
	if [ "$2" -eq 0 ]; then
		passed=$((passed + 1))
		echo "ok $1"
	else
		failed=$((failed + 1))
		echo "not ok $1"
		tail -n 20 "$W/said" | sed 's/^/    /'
	fi
}

# try NAME COMMAND...
try() {
	local name=$1
	shift
	"$@" >"$W/said" 2>&1
	tell "$name" $?
}

# is GOT WANTED
is() {
	[ "$1" = "$2" ] || {
		echo "wanted: $2"
		echo "got:    $1"
		false
	}
}

# soon COMMAND...: until it succeeds, for at most a minute, more if slow
soon() {
	local i
	for ((i = 0; i < 600 * slow; i++)); do
		! "$@" || return 0
		sleep 0.1
	done
	echo "never: $*"
	return 1
}

die() {
	echo "$W/$1/die$2"
}

status() {
	sed -n "s/ *\$//; s/^$3 //p" "$(die "$1" "$2")/status"
}

all_dies() {
	local node d
	for node in n1 n2; do
		for d in 0 1 2 3 4 5; do
			die $node $d
		done
	done
}

# ---- a cluster -------------------------------------------------------------

configure() {
	local d
	hostname k80test
	mkdir "$W/dev" "$W/n1" "$W/n2" "$W/state" "$W/munge" || return
	mkdir -m 1777 "$W/jobs" || return
	for d in 0 1 2 3 4 5; do
		# of the simulator there is no node
		ln -s /dev/null "$W/dev/die$d"
	done
	for d in prolog epilog task-prolog; do
		ln -s "$top/mount-helpers/slurm/k80-slurm" "$W/$d"
	done
	cat >"$SLURM_CONF" <<-END
		ClusterName=k80
		SlurmctldHost=k80test(127.0.0.1)
		SlurmUser=root
		AuthType=auth/munge
		AuthInfo=socket=$W/munge/socket
		CryptoType=crypto/munge
		MpiDefault=none
		ProctrackType=proctrack/linuxproc
		TaskPlugin=task/none
		SelectType=select/cons_tres
		SelectTypeParameters=CR_CPU
		GresTypes=gpu
		PrologFlags=Alloc
		Prolog=$W/prolog
		Epilog=$W/epilog
		TaskProlog=$W/task-prolog
		ReturnToService=2
		KillWait=2
		SlurmdParameters=config_overrides
		StateSaveLocation=$W/state
		SlurmdSpoolDir=$W/spool.%n
		SlurmctldPidFile=$W/slurmctld.pid
		SlurmdPidFile=$W/slurmd.%n.pid
		SlurmctldPort=16817
		NodeName=n1 NodeHostname=k80test NodeAddr=127.0.0.1 Port=16818 CPUs=6 Gres=gpu:k80:6
		NodeName=n2 NodeHostname=k80test NodeAddr=127.0.0.1 Port=16819 CPUs=6 Gres=gpu:k80:6
		PartitionName=all Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP
	END
	echo "Name=gpu Type=k80 File=$W/dev/die[0-5]" >"$W/gres.conf"
	echo 'CgroupAutomount=no' >"$W/cgroup.conf"
}

dies_up() {
	LD_LIBRARY_PATH=$top/build/cuda STANDIN_VRAM=64M "$top/build/k80fs" \
		-o "backend=sim,compute,wait=200,sim_vram=${VRAM}M" "$W/$1"
}

# node_up NAME: its slurmd, for which /run and /etc/default are its own
node_up() {
	mkdir -p "$W/run.$1" "$W/default.$1" "$W/spool.$1"
	echo "K80FS_DIR=$W/$1" >"$W/default.$1/k80fs"
	# shellcheck disable=SC2016 # for the inner shell
	unshare -m --propagation slave sh -c 'mount --bind "$1" /run && mount --bind "$2" /etc/default &&
		exec slurmd -N "$3" -D' sh "$W/run.$1" "$W/default.$1" "$1" \
		>>"$W/slurmd.$1.log" 2>&1 &
	echo $! >"$W/$1.pid"
}

node_state() {
	sinfo -h -N -n "$1" -o %T
}

state_is() {
	[ "$(node_state "$1")" = "$2" ]
}

cluster_up() {
	# without an address but the loopback's, getaddrinfo() has none to give
	busybox ip link set lo up &&
		busybox ip addr add 192.0.2.1/32 dev lo &&
		head -c 1024 /dev/urandom >"$W/munge/key" &&
		chmod 600 "$W/munge/key" && chmod 755 "$W/munge" &&
		munged --socket="$W/munge/socket" --key-file="$W/munge/key" \
			--pid-file="$W/munge/pid" --log-file="$W/munge/log" \
			--seed-file="$W/munge/seed" || return
	slurmctld -D >"$W/slurmctld.log" 2>&1 &
	node_up n1
	node_up n2
	if ! soon state_is n1 idle || ! soon state_is n2 idle; then
		sinfo -N -l
		tail -n 20 "$W"/*.log
		return 1
	fi
}

# ---- jobs ------------------------------------------------------------------

# submit USER ARGUMENT...: a batch job of that user; prints its number
submit() {
	local uid=$1
	shift
	(cd "$W/jobs" && setpriv --reuid="$uid" --regid="$uid" --clear-groups \
		sbatch --parsable -n 1 -o "$W/jobs/%j.out" "$@")
}

job_state() {
	scontrol show job "$1" | sed -n 's/.*JobState=\([A-Z_]*\).*/\1/p'
}

state_of_job_is() {
	[ "$(job_state "$1")" = "$2" ]
}

# nothing runs and no epilog does
all_quiet() {
	[ -z "$(squeue -h)" ] && state_is n1 idle && state_is n2 idle
}

# written for each job: the user's program
make_jobs() {
	# who am I, is it all zeros, am I the only one; when all are there, write
	cat >"$W/work" <<-END
		#!/bin/bash
		set -e
		set -- \$K80_DIES
		[ \$# -eq 1 ]
		[ "\$(stat -c %u "\$1/vram")" = "\$(id -u)" ]
		cmp -n $((VRAM << 20)) "\$1/vram" /dev/zero
		echo "\$1" >"$W/jobs/die.\$SLURM_JOB_ID"
		for die in $W/n?/die?; do
			[ "\$die" = "\$1" ] || ! : <"\$die/vram" || exit 3
		done 2>"$W/jobs/refused.\$SLURM_JOB_ID"
		until [ "\$(ls $W/jobs | grep -c '^die')" -ge "\$N" ]; do
			sleep 0.1
		done
		head -c $((VRAM << 20)) /dev/urandom >"$W/jobs/data.\$SLURM_JOB_ID"
		cp "$W/jobs/data.\$SLURM_JOB_ID" "\$1/vram"
		cmp "$W/jobs/data.\$SLURM_JOB_ID" "\$1/vram"
		rm "$W/jobs/data.\$SLURM_JOB_ID"
	END
	# holds its die in each way there is, and so does a child that gets away
	cat >"$W/hold" <<-END
		#!/bin/bash
		set -e
		set -- \$K80_DIES
		head -c $((VRAM << 20)) /dev/urandom >"\$1/vram"
		chmod 666 "\$1/vram"
		echo online >"\$1/compute/ctl"
		exec 3>"\$1/ctl" 4<>"\$1/vram"
		echo pin >&3
		echo lease >&3
		setsid env -u SLURM_JOB_ID sleep 1000 &
		disown
		echo "\$!" >"$W/jobs/child.\$SLURM_JOB_ID"
		echo "\$1" >"$W/jobs/held.\$SLURM_JOB_ID"
		sleep 1000
	END
	chmod 755 "$W/work" "$W/hold"
}

# twelve USER: twelve jobs on twelve dies, all there at one time
twelve() {
	local i id ids=() rc=0
	rm -f "$W"/jobs/die.*
	for ((i = 0; i < 12; i++)); do
		id=$(N=12 submit "$1" --gres=gpu:k80:1 "$W/work") || return
		ids+=("$id")
	done
	for id in "${ids[@]}"; do
		soon job_ended "$id" || return
		if ! state_of_job_is "$id" COMPLETED; then
			scontrol show job "$id"
			cat "$W/jobs/$id.out"
			rc=1
		fi
	done
	[ $rc -eq 0 ] || tail -n 5 "$W"/slurmd.n?.log
	[ $rc -eq 0 ] && is "$(sort "$W"/jobs/die.*)" "$(all_dies)"
}

job_ended() {
	case $(job_state "$1") in
	PENDING | CONFIGURING | RUNNING | COMPLETING) false ;;
	esac
}

# every die is root's, as it was mounted, nobody holds it, it has no context and
# is all zeros
all_is_given_back() {
	local node d f
	for node in n1 n2; do
		for d in 0 1 2 3 4 5; do
			is "$(status $node $d hold)" none || return
			is "$(sed -n 's/ *$//; s/^state //p' \
				"$(die $node $d)/compute/status")" offline ||
				return
			for f in vram ctl compute/in; do
				is "$(stat -c '%u %a' "$(die $node $d)/$f")" \
					'0 660' || return
			done
			cmp -n $((VRAM << 20)) "$(die $node $d)/vram" /dev/zero ||
				return
		done
	done
	is "$(ls "$W"/run.n?/k80-slurm)" \
		"$(printf '%s:\n\n%s:' "$W"/run.n{1,2}/k80-slurm)"
}

# start_on NODE USER: a job that does nothing; its number in $job
start_on() {
	job=$(submit "$2" -w "$1" --gres=gpu:k80:1 --wrap true)
}

# hold NODE USER: a job there that holds a die; its number in $job
hold() {
	job=$(submit "$2" -w "$1" --no-requeue --gres=gpu:k80:1 "$W/hold") ||
		return
	if ! soon test -s "$W/jobs/held.$job"; then
		cat "$W/jobs/$job.out"
		return 1
	fi
	held=$(<"$W/jobs/held.$job")
	child=$(<"$W/jobs/child.$job")
	is "$(sed -n 's/ *$//; s/^hold //p' "$held/status")" pin &&
		kill -0 "$child"
}

# beside NODE USER: another job there; its die cannot be cleared while the slot
# is held, which must not be a failure
beside() {
	start_on "$1" "$2" && soon state_of_job_is "$job" COMPLETING &&
		soon grep -q '^last_error .*a pin of' "$W/$1"/die?/status
}

let_go() {
	soon all_quiet || return
	if kill -0 "$child" 2>/dev/null; then
		echo "process $child still has it open"
		return 1
	fi
	all_is_given_back
}

# crash NODE: all that runs there is gone at once
crash() {
	local pid slurmd
	slurmd=$(<"$W/$1.pid")
	for pid in "$slurmd" $(pgrep slurmstepd) $(pgrep -f "$W/hold") \
		"$child"; do
		kill -KILL "$pid" || echo "no $pid"
	done
	wait "$slurmd" 2>/dev/null
	return 0
}

back() {
	node_up "$1"
	soon state_is "$1" idle
}

for cmd in slurmctld slurmd munged sbatch; do
	command -v $cmd >/dev/null || {
		echo "$cmd is not installed: mount-helpers/install-deps slurm"
		exit 77
	}
done
VRAM=16
mount --make-rprivate /
"$top/tests/drop-mounts.sh" "$W"
# what is mounted and unmounted there is so for the nodes
mount --bind "$W" "$W" && mount --make-shared "$W" || exit 1
trap 'umount -l "$W/n1" "$W/n2" "$W" 2>/dev/null' EXIT
trap 'exit 1' INT TERM
configure || exit 1
try "six dies" dies_up n1
try "six more" dies_up n2
try "munged, slurmctld, two slurmd" cluster_up
make_jobs
try "twelve jobs, a die each" twelve "${USERS[0]}"
try "behind them all is given back" soon all_quiet
try "and clear" all_is_given_back
try "twelve of the next user find zeros" twelve "${USERS[1]}"
try "a job holds a die" hold n1 "${USERS[0]}"
holder=$job
try "another, which ends, waits for it" beside n1 "${USERS[1]}"
try "scancel" scancel "$holder"
try "of what was killed nothing is held" let_go
try "a node without its dies" umount "$W/n1"
try "a job there" start_on n1 "${USERS[0]}"
try "drains it" soon state_is n1 drained
try "it has them again" dies_up n1
try "and is told so" scontrol update nodename=n1 state=resume
# as Slurm does with one whose prolog has failed
try "the job, which is held, may go on" soon scontrol release "$job"
try "and runs" soon state_of_job_is "$job" COMPLETED
try "a job holds a die of the other node" hold n2 "${USERS[1]}"
try "a node goes down" crash n2
try "so Slurm is told" scontrol update nodename=n2 state=down reason=test
try "the job has failed" soon state_of_job_is "$job" NODE_FAIL
try "the node comes back" back n2
try "twelve of another user find zeros" twelve "${USERS[0]}"
try "in the end all is given back" soon all_quiet
try "and clear as before" all_is_given_back
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
