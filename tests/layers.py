#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Who uses whom, from what was built: no use goes upward, none in a circle.

usage: layers.py [-v] [--flat] SOURCES OBJECTS

OBJECTS holds what was built from the folder SOURCES (fusefs, build/fusefs): the
folder below it is the layer. With --flat it is one folder without layers, as
the module's: no order, but no circles either. Of an object that has no source
any more nothing is said. A use is a symbol that nm finds undefined in one
object and defined in another; with layers an #include "layer/file.h" is one
too, as far as the order goes. -v prints every use. Prints a line a finding and
ends with 1 if there was one.
"""
import os
import re
import subprocess
import sys

# Lowest first; those of one line do not know each other.
ORDER = [
    {"base"},
    {"text", "cuda", "copy"},
    {"lib", "k80mem"},
    {"backend", "owner", "keeper"},
    {"sched", "mem"},
    {"engine", "compute"},
    {"options"},
    {"fuse"},
    {"main"},
]
RANK = {name: rank for rank, names in enumerate(ORDER) for name in names}


def layer(unit):
    """of a path without its ending; a file on top is a layer of its own"""
    return unit.split("/")[0]


def objects(top):
    for folder, _, files in os.walk(top):
        for name in sorted(files):
            if name.endswith(".o") and not name.endswith(".mod.o"):
                yield os.path.join(folder, name)


def symbols(path):
    """(defined, needed) of one object; a local or weak one is nobody's"""
    text = subprocess.run(["nm", path], check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    defined, needed = set(), set()
    for line in text.splitlines():
        kind, name = line.split()[-2:]
        if kind == "U":
            needed.add(name)
        elif kind in "TDBRGSC":
            defined.add(name)
    return defined, needed


def symbol_uses(sources, top):
    """{(user, used): {symbol}}, names relative to top and without ending"""
    table = {}
    for path in objects(top):
        unit = os.path.relpath(path, top)[:-2]
        if os.path.exists(f"{sources}/{unit}.c"):
            table[unit] = symbols(path)
    home = {}
    for unit, (defined, _) in table.items():
        for name in defined:
            home[name] = unit
    uses = {}
    for unit, (_, needed) in table.items():
        for name in needed & home.keys():
            if home[name] != unit:
                uses.setdefault((unit, home[name]), set()).add(name)
    return table.keys(), uses


def include_uses(top, units):
    """the same for #include "..." of the sources that the objects are from"""
    uses = {}
    for unit in units:
        folder = os.path.dirname(unit)
        sources = {f"{top}/{unit}.c"}
        if folder:
            sources |= {f"{top}/{folder}/{name}" for name
                        in os.listdir(f"{top}/{folder}") if name.endswith(".h")}
        for source in sources:
            with open(source, encoding="utf-8") as file:
                for name in re.findall(r'^#include "([a-z0-9_/]+)\.h"',
                                       file.read(), re.M):
                    if layer(name) in RANK:
                        user = os.path.relpath(source, top)[:-2]
                        uses.setdefault((user, name), set()).add(f"{name}.h")
    return uses


def circles(uses):
    """strongly connected components of more than one unit (Tarjan, 1972)"""
    below = {}
    for user, used in uses:
        below.setdefault(user, set()).add(used)
    index, low, stack, found = {}, {}, [], []

    def visit(unit):
        index[unit] = low[unit] = len(index)
        stack.append(unit)
        for other in sorted(below.get(unit, ())):
            if other not in index:
                visit(other)
                low[unit] = min(low[unit], low[other])
            elif other in stack:
                low[unit] = min(low[unit], index[other])
        if low[unit] == index[unit]:
            members = set()
            while unit not in members:
                members.add(stack.pop())
            if len(members) > 1:
                found.append(members)

    for unit in sorted(below):
        if unit not in index:
            visit(unit)
    return found


def upward(uses):
    for (user, used), names in sorted(uses.items()):
        a, b = layer(user), layer(used)
        for name in (a, b):
            if name not in RANK:
                yield f"{user}: the folder '{name}' has no place in ORDER"
                return
        if a != b and RANK[b] >= RANK[a]:
            yield f"{user} uses {used} ({', '.join(sorted(names)[:3])}), " \
                  f"which is not below {a}"


def main(args):
    verbose = "-v" in args
    flat = "--flat" in args
    args = [a for a in args if a not in ("-v", "--flat")]
    if len(args) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    units, uses = symbol_uses(*args)
    if not units:
        print(f"{args[1]}: no objects; build first")
        return 1
    findings = []
    if not flat:
        both = dict(include_uses(args[0], units))
        for pair, names in uses.items():
            both[pair] = both.get(pair, set()) | names
        findings += upward(both)
    for members in circles(uses):
        findings.append("a circle: " + ", ".join(sorted(members)))
        findings += [f"    {a} uses {b}: {', '.join(sorted(names)[:4])}"
                     for (a, b), names in sorted(uses.items())
                     if a in members and b in members]
    if verbose:
        for (user, used), names in sorted(uses.items()):
            print(f"# {user} -> {used}: {', '.join(sorted(names))}")
    for line in findings:
        print(line)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
