# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC2034,SC2154 # variables are k80-doctor's
#
# Read by k80-doctor: the dies, their ports, and who else lives below these.
# The rules are those of kmod/discover.c.

DEVICES=$root/sys/bus/pci/devices
BDF='[0-9a-f]*:[0-9a-f][0-9a-f]:[0-9a-f][0-9a-f].[0-7]'
MAX_DIES=16
MAX_IDS=16

# attribute DIR NAME: of a PCI device, to $value; empty if it has none
attribute()
{
	value=''
	[ ! -r "$1/$2" ] || read -r value <"$1/$2"
}

# read_ids: 10de:102d and what ids= names, as " vvvv:dddd ", to $ids; what the
# module refuses to $bad_ids
read_ids()
{
	ids=' 10de:102d '
	bad_ids=''
	rest=$(echo "$p_ids" | tr -d \"\' | tr A-F a-f)
	n_ids=1
	while [ -n "$rest" ]; do
		id=${rest%%,*}
		vendor=0000${id%%:*}
		device=0000${id#*:}
		case $id in
		*[!0-9a-f:]* | *:*:* | :* | *: | ?????*:* | *:?????*) bad_ids=$rest ;;
		*:*) ;;
		*) bad_ids=$rest ;;
		esac
		n_ids=$((n_ids + 1))
		[ "$n_ids" -le $MAX_IDS ] || bad_ids=$rest
		[ -z "$bad_ids" ] || return
		ids="$ids${vendor#"${vendor%????}"}:${device#"${device%????}"} "
		case $rest in
		*,*) rest=${rest#*,} ;;
		*) rest='' ;;
		esac
	done
}

# id_of DIR: "vvvv:dddd" to $id
id_of()
{
	attribute "$1" vendor
	id=${value#0x}
	attribute "$1" device
	id=$id:${value#0x}
}

is_bridge()
{
	attribute "$1" class
	case $value in
	0x0604* | 0x0607*) return 0 ;;
	esac
	return 1
}

is_die()
{
	id_of "$1"
	case $ids in
	*" $id "*) ! is_bridge "$1" ;;
	*) return 1 ;;
	esac
}

# find_dies: their PCI addresses to $dies, the glob sorts them; count to $n_dies
find_dies()
{
	dies=''
	n_dies=0
	too_many=''
	for dev in "$DEVICES"/$BDF; do
		is_die "$dev" || continue
		if [ "$n_dies" -eq $MAX_DIES ]; then
			too_many="$too_many ${dev##*/}"
			continue
		fi
		dies="$dies ${dev##*/}"
		n_dies=$((n_dies + 1))
	done
}

# bus_of BDF: its bus as iomem names it
bus_of()
{
	echo "${1%:*}"
}

fact()
{
	facts="$facts@$*
"
}

add_root()
{
	case "$roots " in
	*" $1 "*) ;;
	*)
		roots="$roots $1"
		fact root "$1"
		;;
	esac
}

# stranger WHO WHAT: of the chain that is looked at; the first one counts
stranger()
{
	[ -z "$found_stranger" ] || return 0
	id_of "$dev"
	found_stranger="$1 [$id] below ${port##*/} $2"
}

# has_fixed DIR: a resource that cannot be moved, IORESOURCE_PCI_FIXED
has_fixed()
{
	[ -r "$1/resource" ] || return 1
	while read -r _ _ flags; do
		case $flags in
		*[13579bdf]?) return 0 ;;
		esac
	done <"$1/resource"
	return 1
}

# forwards_vga DIR: a bit of the bridge's control register
forwards_vga()
{
	[ -r "$1/config" ] || return 1
	control=$(od -An -tu1 -j62 -N1 "$1/config" 2>/dev/null)
	[ $((${control:-0} & 8)) -ne 0 ] && [ "$((control))" -ne 255 ]
}

# own_bars DIR: where a bridge itself answers, memory BARs and ROM
own_bars()
{
	fact bridge "${1##*/}"
	[ -r "$1/resource" ] || return 0
	n=0
	while read -r from to flags && [ $((n += 1)) -le 7 ]; do
		case $flags in
		# memory, and not unset
		*[2367abef]??) ;;
		*) continue ;;
		esac
		[ $((flags & 0x20000000)) -eq 0 ] || continue
		fact port "${1##*/}" "${from#0x}" "${to#0x}"
	done <"$1/resource"
}

# own_bus DIR: the bus behind a bridge, whose name its windows have
own_bus()
{
	attribute "$1" secondary_bus_number
	if [ -n "$value" ]; then
		bus=${1##*/}
		chain_own="$chain_own
PCI Bus ${bus%%:*}:$(printf %02x "$value")"
		return
	fi
	for bus in "$1"/pci_bus/* "$1"/$BDF; do
		[ -e "$bus" ] || continue
		case ${bus##*/} in
		*.*) bus=${bus%:*} ;;
		esac
		chain_own="$chain_own
PCI Bus ${bus##*/}"
		return
	done
}

# look_at DIR IS-BRIDGE: one function below a root port, or the port
look_at()
{
	dev=$1
	! has_fixed "$dev" || stranger "${dev##*/}" 'has a fixed resource'
	chain_own="$chain_own
${dev##*/}"
	if [ -n "$2" ]; then
		own_bars "$dev"
		own_bus "$dev"
		! forwards_vga "$dev" || stranger "${dev##*/}" 'forwards VGA'
		return
	fi
	if ! is_die "$dev"; then
		stranger "${dev##*/}" 'is not a die'
	elif is_shared "$dev"; then
		stranger "${dev##*/}" 'shares its port'
	fi
}

# is_shared DIR: has its bus a second function
is_shared()
{
	n_there=0
	for other in "${1%:*}":*; do
		[ ! -d "$other" ] || n_there=$((n_there + 1))
	done
	[ "$n_there" -gt 1 ]
}

# look_below DIR: all functions below a bridge, depth first. No variable of the
# caller may be needed after the call: sh has none of a function's own.
look_below()
{
	for below in "$1"/$BDF; do
		[ -d "$below" ] || continue
		set -- "$1" "$below"
		is_inner=''
		for inner in "$below"/$BDF; do
			[ ! -d "$inner" ] || is_inner=1
		done
		! is_bridge "$below" || is_inner=1
		look_at "$below" "$is_inner"
		[ -z "$is_inner" ] || look_below "$2"
	done
}

# look_at_chain PORT: a root port with dies below it
look_at_chain()
{
	port=$1
	found_stranger=''
	chain_own=''
	look_at "$port" 1
	look_below "$port"
	if [ -n "$found_stranger" ]; then
		chain_faults="${chain_faults}unusable: $found_stranger
"
		return
	fi
	n_chains=$((n_chains + 1))
	while read -r name; do
		[ -z "$name" ] || fact own "$name"
	done <<-EOF
		$chain_own
	EOF
}

# find_chains: the facts for places.awk to $facts, root buses to $roots, and
# what the module would say of single dies to $chain_faults, one a line
find_chains()
{
	facts=''
	roots=''
	chain_faults=''
	n_chains=0
	ports=''
	die_roots=''
	for bdf in $dies; do
		path=$(cd "$DEVICES/$bdf" && pwd -P)
		below=${path##*/pci}
		case $path in
		*/sys/devices*"/pci$below") ;;
		*)
			guess_chain "$bdf"
			continue
			;;
		esac
		top=${path%"/$below"}
		n=$(echo "$below" | tr -cd / | wc -c)
		bus=${below%%/*}
		if [ "$n" -lt 2 ]; then
			chain_faults="$chain_faults$bdf ignored: no bridge above it
"
			continue
		elif [ "$n" -gt 9 ]; then
			chain_faults="$chain_faults$bdf ignored: too many bridges above it
"
			continue
		fi
		add_root "$bus"
		die_roots="$die_roots $bdf@$bus"
		below=${below#*/}
		port=${path%"/$below"}/${below%%/*}
		case "$ports " in
		*" $port "*) continue ;;
		esac
		ports="$ports $port"
		look_at_chain "$port"
	done
	[ -n "$dies" ] || no_chain
}

# no_chain: without a die, would there be room? Of all bridges' windows.
no_chain()
{
	fact own-any
	buses=$(sed -n 's/^[^ ].* : PCI Bus //p' "$root/proc/iomem" 2>/dev/null)
	for bus in $buses; do
		add_root "$bus"
	done
}

# guess_chain BDF: of a tree that was copied without its links, only the numbers
# of buses are known: the lowest is the root's, and one with nothing on it but
# bridges and dies is theirs.
guess_chain()
{
	for dev in "$DEVICES/${1%%:*}":*; do
		bus=${dev##*/}
		bus=${bus%:*}
		break
	done
	lowest=$bus
	if [ "${1%:*}" = "$lowest" ]; then
		chain_faults="$chain_faults$1 ignored: no bridge above it
"
		return
	fi
	add_root "$lowest"
	if is_shared "$DEVICES/$1"; then
		id_of "$DEVICES/$1"
		chain_faults="${chain_faults}unusable: $1 [$id] shares its port
"
		return
	fi
	n_chains=$((n_chains + 1))
	for dev in "$DEVICES/${1%%:*}":*; do
		bus=${dev##*/}
		bus=${bus%:*}
		[ "$bus" != "$lowest" ] || continue
		if is_bridge "$dev"; then
			own_bars "$dev"
		elif ! is_die "$dev"; then
			continue
		fi
		fact own "PCI Bus $bus"
		fact own "${dev##*/}"
	done
}
