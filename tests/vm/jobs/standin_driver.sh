# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# The stand-in of the vendor's driver: it gives memory to a cold die, says
# nothing while its die is in when it needs it, and tells of every touch that
# found another.
# time: 120
# alone: yes
d0=${DIES[0]}
faults=0

# the die is lost after a fault: put it in and bind it anew
rebind()
{
	bs acquire 0 force >/dev/null
	echo "$d0" >"$SYS/$d0/driver/unbind"
	echo "$d0" >/sys/bus/pci/drivers/nvidia/bind
}

# one more touch was told, of kind $2, that found $3
tells()
{
	faults=$((faults + 1))
	echo $faults >"$TMPDIR/touches"
	check_is "$1: told" "$(told)" $faults
	check_like "$1: as what it was" "$(klog | grep ' touch at ' | tail -1)" \
		"$d0: .*: touch at $2 found $3\$"
}

# start a program of nv that waits, until it has said $1; sets pid
start()
{
	local word=$1

	shift
	: >"$TMPDIR/nv"
	"$G/nv" "$@" >"$TMPDIR/nv" 3>&- 4>&- &
	pid=$!
	await 20 grep -q "$word" "$TMPDIR/nv" || echo "not ok nv $*"
}

finish()
{
	kill -KILL $pid
	wait $pid 2>/dev/null
}

all_cold
check "a tree for modprobe" vendor_tree
check "loads" load
only 0
bs acquire 0 >/dev/null
check_is "a cold die has no memory" "$(bs info 0 state)" no_vram
check "modprobe loads the driver" modprobe nvidia
check "and nvidia-uvm" modprobe nvidia-uvm
check_is "it is bound to the die" "$(bs info 0 driver)" nvidia
check_like "and says where it is" \
	"$(cat "/proc/driver/nvidia/gpus/$d0/information")" 'Device Minor:.*0$'
check_is "a driver that nobody uses trains nothing" "$(touches trainings)" 0
exec 3<>/dev/nvidia0
check_is "the first open trains the memory" "$(touches trainings)" 1
check_like "the die says so too" "$(ctl 0 stat)" 'cold 0 trainings 1$'
exec 4<>/dev/nvidia0
check_is "a second does not" "$(touches trainings)" 1
check_is "a call" "$("$G/nv" call <&3)" ok
if rmmod nvidia_uvm nvidia 2>/dev/null; then
	echo "not ok a driver in use cannot be unloaded"
else
	echo "ok a driver in use cannot be unloaded"
fi
check "nvidia-uvm again" modprobe nvidia-uvm
check_is "out with the die" "$(bs acquire 3 force)" ok
exec 4>&-
check_is "a close that is not the last" "$(told)" 0
check_is "in with the die" "$(bs acquire 0 force)" ok
check_is "a call" "$("$G/nv" call <&3)" ok
exec 3>&-
start kept keep 0
check_is "out with the die" "$(bs acquire 3 force)" ok
check_is "its memory map has it open" "$(touches opens)" 3
check_is "nothing was told" "$(told)" 0
bs acquire 0 force >/dev/null
finish
check "the driver leaves while its die is in" rmmod nvidia_uvm nvidia
check_is "no touch was told" "$(told)" 0
check_is "the die has memory" "$(bs info 0 state)" active
check_is "a bus reset" "$(bs acquire 0 sbr)" ok
check_is "takes the memory" "$(bs info 0 state)" no_vram

check "modprobe with options" modprobe nvidia nodes=0
check "and nvidia-uvm" modprobe nvidia-uvm
check_is "nobody makes the nodes" "$(ls /dev/nvidia0 2>/dev/null)" ""
check_is "libcuda does, as the vendor's helper" \
	"$(LD_LIBRARY_PATH=$BUILD/../cuda python3 - <<'P'
import ctypes
cu = ctypes.CDLL("libcuda.so.1")
ctx = ctypes.c_void_p()
bus = ctypes.create_string_buffer(16)
print(cu.cuInit(0), cu.cuDeviceGetPCIBusId(bus, 16, 0), bus.value.decode(),
      cu.cuCtxCreate_v2(ctypes.byref(ctx), 0, 0))
P
)" "0 0 $d0 0"
check_is "a process that was alone with its die is told nothing of" \
	"$(told)" 0
check_like "and has called" "$(touches call)" '^1 '
rm -f /dev/nvidia0 /dev/nvidiactl
check "the driver leaves" rmmod nvidia_uvm nvidia

# The faults. Two dies are bound, one after the other, each while it is in.
only 0 1
modprobe nvidia
modprobe nvidia-uvm
bs acquire 1 force >/dev/null
echo "${DIES[1]}" >/sys/bus/pci/drivers/nvidia/bind
check_is "a second die is bound" "$(bs info 1 driver)" nvidia
if (exec 3<>/dev/nvidia0) 2>/dev/null; then
	echo "not ok one process opens both: refused"
else
	echo "ok one process opens both: refused"
fi
tells "one process opens both" open "die 1"
check_like "which takes the die off the bus" "$(klog)" 'Xid .PCI:.*: 79'
rebind
check_is "until it is bound anew" \
	"$( (exec 3<>/dev/nvidia0; "$G/nv" call <&3))" ok

exec 3<>/dev/nvidia0
bs acquire 3 force >/dev/null
check_is "a call while the die is out: fails" "$("$G/nv" call <&3)" EIO
tells "a call while the die is out" call "die 3"
exec 3>&-
rebind

exec 3<>/dev/nvidia0
bs acquire 3 force >/dev/null
exec 3>&-
tells "a swap before the last close" close "die 3"
rebind

exec 3<>/dev/nvidia0
ctl 0 gone >/dev/null
exec 3>&-
tells "nobody answers the last close" close all-ones
ctl 0 heal >/dev/null
rebind

start kept keep 0
bs acquire 3 force >/dev/null
finish
tells "a process killed whose die is out" close "die 3"
rebind

start added uvm 0
exec 3<>/dev/nvidia0
bs acquire 3 force >/dev/null
finish
tells "killed, and others hold the files" uvm "die 3"
exec 3>&-
rebind

exec 3<>/dev/nvidia0
"$G/nv" call <&3 >/dev/null
exec 4<>/dev/nvidia0
bs acquire 3 force >/dev/null
exec 3>&-
tells "the end of a context, others have the die open" close "die 3"
exec 4>&-
rebind

# counted apart: what the vendor's timer and interrupts do
echo 1 >/sys/module/nvidia/parameters/irq
echo 1 >/sys/module/nvidia/parameters/reader
exec 3<>/dev/nvidia0
bs acquire 3 force >/dev/null
"$G/nv" end <&3 >/dev/null
check_like "an interrupt while the die is out is counted apart" \
	"$(touches irq)" '^1 other 1 '
check "so is the reader" await 20 eval 'touches reader | grep -q "other [1-9]"'
check_is "neither is told as the others are" "$(told)" $faults
bs acquire 0 force >/dev/null
exec 3>&-

bs acquire 1 force >/dev/null
echo "${DIES[1]}" >"$SYS/${DIES[1]}/driver/unbind"
bs acquire 0 force >/dev/null
check "the driver leaves" rmmod nvidia_uvm nvidia
check "unloads" unload
