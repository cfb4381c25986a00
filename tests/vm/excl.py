#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""excl.py [--plan F] [--final F] [--dies F] TRACE - was the slot exclusive?

Replays QEMU's log of every configuration write (-d trace:pci_cfg_write; dies
and bridges in one order) through a model of COMMAND, BARs, bridge windows and
bus resets. After every single write it must hold that

 - at most one die has memory decode on with a BAR in the slot;
 - the ports with a window open over the slot lie on one path from a root
   port to a die: no port is opened while another chain is still open.

--final: config space as the guest read it at the end; the model must agree,
else its verdict would be worth nothing. --dies: the dies' own log; each write
of the trace must have reached its die, in order, and one that the die was
ordered to ignore has no effect. (One to a die that is off the bus has: QEMU
routes by its own copy of COMMAND and BARs.) --plan: names of the jobs;
marks in the trace say where each began and where a job promised that nothing
would be written ("quiet").

Prints "ok TEXT" or "not ok TEXT" lines.
"""

import argparse
import collections
import re
import sys

SLOT = [(0xC00000000, 0xFFFFFFFFF), (0xF3000000, 0xF5FFFFFF)]
BAR_SIZE = {0: 16 << 20, 1: 16 << 30, 3: 32 << 20}
BACKGROUND = (0, 0x1E, 1)
MARK_REG = 0x40
MARK_JOB, MARK_QUIET, MARK_LOUD, MARK_EXCUSE = 1, 2, 3, 4
COMMAND, BUSES, MEM_WINDOW, PREF_WINDOW, BRIDGE_CONTROL = 4, 0x18, 0x20, 0x24, 0x3E
COMMAND_MEMORY = 2
SECONDARY_RESET = 0x40
CLOSED = {0x20: 0xF0, 0x21: 0xFF, 0x24: 0xF0, 0x25: 0xFF}
SHOWN = 5  # violations printed one by one

LINE = re.compile(
    r"pci_cfg_write (\S+) ([0-9a-f]+):([0-9a-f]+)\.([0-9a-f]+)"
    r" @0x([0-9a-f]+) <- 0x([0-9a-f]+)"
)
DIE_LINE = re.compile(r" die(\d+): cfg\[([0-9a-f]+)\]/\d <- ([0-9a-f]+)( ignored)?")


class Node:
    """one die or port: what its registers were written to"""

    def __init__(self, name, parent=None, card=0):
        self.name = name
        self.parent = parent
        self.card = card
        self.children = {}
        self.reg = collections.defaultdict(int)

    @property
    def is_die(self):
        """a die has no ports below it"""
        return self.name.startswith("die")

    def get(self, off, width):
        """little-endian register value"""
        return sum(self.reg[off + i] << (8 * i) for i in range(width))

    def put(self, off, width, val):
        """write a register"""
        for i in range(width):
            self.reg[off + i] = val >> (8 * i) & 0xFF

    def ancestors(self):
        """this node and all above it"""
        node = self
        while node:
            yield node
            node = node.parent

    def clear(self):
        """a bus reset from above: registers and everything below"""
        self.reg.clear()
        if not self.is_die:
            self.reg.update(CLOSED)
        for child in self.children.values():
            child.clear()

    def ranges(self):
        """address ranges a die would answer, or a port would pass down"""
        if self.is_die:
            yield from self.bars()
            return
        mem = self.get(MEM_WINDOW, 4)
        yield (mem & 0xFFF0) << 16, mem & 0xFFF00000 | 0xFFFFF
        pref = self.get(PREF_WINDOW, 4)
        base = (pref & 0xFFF0) << 16 | self.get(0x28, 4) << 32
        limit = pref & 0xFFF00000 | 0xFFFFF | self.get(0x2C, 4) << 32
        yield base, limit

    def bars(self):
        """BAR0 is 32 bits wide, BAR1 and BAR3 64"""
        base = self.get(0x10, 4) & ~0xF
        yield base, base + BAR_SIZE[0] - 1
        for bar in (1, 3):
            off = 0x10 + 4 * bar
            base = (self.get(off, 4) & ~0xF) | self.get(off + 4, 4) << 32
            yield base, base + BAR_SIZE[bar] - 1

    def in_slot(self):
        """does any of it touch the slot?"""
        return any(
            base <= limit and base <= end and start <= limit
            for base, limit in self.ranges()
            for start, end in SLOT
        )

    def decodes_slot(self):
        """a die that would answer an access to the slot"""
        return self.is_die and self.get(COMMAND, 2) & COMMAND_MEMORY and self.in_slot()


class Machine:
    """three root ports at 00:04.0 .. 00:06.0 with a switch and two dies each"""

    def __init__(self):
        self.root = {}
        self.nodes = []
        for card in range(3):
            port = self.add(card, "rp%d" % card, None, (card + 4, 0))
            up = self.add(card, "up%d" % card, port, (0, 0))
            for k, dev in enumerate((8, 0x10)):
                down = self.add(card, "dn%d" % (2 * card + k), up, (dev, 0))
                self.add(card, "die%d" % (2 * card + k), down, (0, 0))

    def add(self, card, name, parent, devfn):
        """hang one node into the tree"""
        node = Node(name, parent, card)
        (parent.children if parent else self.root)[devfn] = node
        self.nodes.append(node)
        return node

    def find(self, bus, dev, fn):
        """who answers at this address now; None if none of ours"""
        if bus == 0:
            return self.root.get((dev, fn))
        for node in self.nodes:
            if not node.is_die and node.get(BUSES, 4) >> 8 & 0xFF == bus:
                return node.children.get((dev, fn))
        return None

    def violations(self):
        """what is wrong with the present state"""
        dies = [n.name for n in self.nodes if n.decodes_slot()]
        if len(dies) > 1:
            yield "%s decode the slot at once" % " and ".join(dies)
        ports = [n for n in self.nodes if not n.is_die and n.in_slot()]
        path = max((list(n.ancestors()) for n in ports), key=len, default=[])
        stray = [n.name for n in ports if n not in path]
        if stray:
            yield "%s open beside the chain of %s" % (stray, path[0].name)


def write_width(node, off, val):
    """The trace has no widths: those that Linux, qboot and the module use.

    Writes of 0x18 by firmware are bytes; taken as a dword they clear the other
    bus numbers, which it writes right after. Returns 0 for what is not modelled.
    """
    if off == COMMAND:
        return 2
    if node.is_die:
        return 4 if 0x10 <= off <= 0x24 and off % 4 == 0 else 0
    if off in (0x10, 0x14, BUSES, MEM_WINDOW, PREF_WINDOW, 0x28, 0x2C):
        return 4
    if off in (0x19, 0x1A):
        return 1
    if off in (0x22, 0x26, BRIDGE_CONTROL):
        return 2
    if off == 0x3C:
        return 4 if val > 0xFF else 0
    return 0


class Replay:
    """walks a trace and keeps the findings"""

    def __init__(self, plan, log=None):
        self.machine = Machine()
        self.plan = plan
        self.job = "start"
        self.quiet = None
        self.quiet_cards = 0  # mask of the cards that must stay untouched
        self.quiet_done = []
        self.excused = None  # name of a die
        self.bad = []
        self.unknown = 0
        self.writes = 0
        self.most = 0
        self.log = log  # die name -> iterator of (off, val, ignored), or None
        self.lost = []

    def mark(self, val):
        """the guest spoke through the background's scratch register"""
        kind, arg = val >> 24, val & 0xFFFFFF
        if kind == MARK_JOB:
            self.job = self.plan.get(arg, "job %d" % arg)
            self.excused = None
        elif kind == MARK_EXCUSE:
            self.excused = "die%d" % arg
        elif kind == MARK_QUIET:
            self.quiet = [self.job, arg & 0xFFFF, []]
            self.quiet_cards = arg >> 16 or 7
        elif kind == MARK_LOUD and self.quiet and self.quiet[1] == arg:
            self.quiet_done.append(self.quiet)
            self.quiet = None

    def apply(self, node, off, val):
        """one write to a node of ours"""
        width = write_width(node, off, val)
        if not width:
            return
        was = node.get(BRIDGE_CONTROL, 2)
        node.put(off, width, val)
        now = node.get(BRIDGE_CONTROL, 2)
        if not node.is_die and now & ~was & SECONDARY_RESET:
            for child in node.children.values():
                child.clear()

    def reached(self, node, off, val):
        """did the die take this write? Looked up in its log, in order"""
        if self.log is None or not node.is_die:
            return True
        # QEMU adds writes of its own at a reset: skip those
        for at, what, ignored in self.log.get(node.name, iter(())):
            if (at, what) == (off, val):
                return not ignored
        self.lost.append("%s lost %#x <- %#x" % (node.name, off, val))
        return True

    def is_excused(self, node, off):
        """the write that a job spoke of, once"""
        if node.name != self.excused or off != COMMAND:
            return False
        if not node.decodes_slot() or node.parent.in_slot():
            return False
        self.excused = None
        return True

    def write(self, number, match):
        """one line of the trace"""
        name = match[1]
        bus, dev, fn, off, val = (int(x, 16) for x in match.groups()[1:])
        if (bus, dev, fn) == BACKGROUND:
            if off == MARK_REG:
                self.mark(val)
            return
        node = self.machine.find(bus, dev, fn)
        if not node:
            ours = name in ("vfio-user-pci", "x3130-upstream", "pcie-root-port")
            self.unknown += ours
            return
        self.writes += 1
        if self.quiet and self.quiet_cards >> node.card & 1:
            self.quiet[2].append("%s @%#x" % (node.name, off))
        if self.reached(node, off, val):
            self.apply(node, off, val)
        if self.is_excused(node, off):
            return
        for text in self.machine.violations():
            self.bad.append("line %d, %s: %s" % (number, self.job, text))
        self.most = max(
            self.most, sum(bool(n.decodes_slot()) for n in self.machine.nodes)
        )

    def run(self, lines):
        """the whole trace"""
        for number, line in enumerate(lines, 1):
            match = LINE.match(line)
            if match:
                self.write(number, match)


def check_final(replay, lines):
    """registers the guest read at its end that differ from the model"""
    wrong = []
    machine = replay.machine
    for line in lines:
        bdf, _, data = line.strip().partition(" ")
        match = re.fullmatch(r"\w+:(\w+):(\w+)\.(\w)", bdf)
        node = machine.find(*(int(x, 16) for x in match.groups())) if match else None
        if not node:
            continue
        real = Node(node.name)
        for i, byte in enumerate(bytes.fromhex(data)):
            real.reg[i] = byte
        if list(real.ranges()) != list(node.ranges()):
            wrong.append("%s: ranges" % node.name)
        if (real.get(COMMAND, 2) ^ node.get(COMMAND, 2)) & COMMAND_MEMORY:
            wrong.append("%s: COMMAND" % node.name)
    return wrong


def die_logs(lines):
    """the dies' log as one iterator of (off, val, ignored) a die"""
    seen = collections.defaultdict(list)
    for line in lines:
        match = DIE_LINE.search(line)
        if match:
            write = int(match[2], 16), int(match[3], 16), bool(match[4])
            seen["die" + match[1]].append(write)
    return {die: iter(writes) for die, writes in seen.items()}


def say(good, text, details=()):
    """one result line, and why not"""
    print("%s %s" % ("ok" if good else "not ok", text))
    for line in list(details)[:SHOWN]:
        print("#   %s" % line)
    return good


def read_lines(path):
    """a log may hold anything"""
    with open(path, errors="replace") as f:
        return f.readlines()


def read_plan(path):
    """job number -> name"""
    return {int(n): name for n, name, *_ in map(str.split, read_lines(path))}


def main():
    """replay and report"""
    parser = argparse.ArgumentParser()
    parser.add_argument("trace")
    parser.add_argument("--plan")
    parser.add_argument("--final")
    parser.add_argument("--dies")
    args = parser.parse_args()
    replay = Replay(
        read_plan(args.plan) if args.plan else {},
        die_logs(read_lines(args.dies)) if args.dies else None,
    )
    replay.run(read_lines(args.trace))
    good = say(
        not replay.bad and replay.writes and not replay.unknown,
        "exclusive at each of %d config writes (most dies at once: %d)"
        % (replay.writes, replay.most),
        replay.bad + ["%d writes to unknown devices" % replay.unknown] * bool(replay.unknown),
    )
    for job, number, writes in replay.quiet_done:
        good &= say(not writes, "%s: no config write in quiet %d" % (job, number), writes)
    if replay.quiet:
        good &= say(False, "%s: quiet %d never ended" % tuple(replay.quiet[:2]))
    if args.final:
        wrong = check_final(replay, read_lines(args.final))
        good &= say(not wrong, "the checker's model ended as the machine did", wrong)
    if args.dies:
        text = "every config write reached its die, in order"
        good &= say(not replay.lost, text, replay.lost)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
