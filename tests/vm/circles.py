#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Do the object files of a folder need each other in circles?

    circles.py DIR

Who needs whom comes from the symbols that nm prints. Prints each group of
files that need each other, one a line; status 1 if there is one. The module
as a whole and what modpost makes are left out.
"""
import glob
import os
import subprocess
import sys


def symbols(path):
    """(defined, undefined) names of one object file"""
    out = subprocess.run(["nm", path], check=True, text=True,
                         stdout=subprocess.PIPE).stdout
    defined, wanted = set(), set()
    for line in out.splitlines():
        kind, name = line.split()[-2:]
        if kind == "U":
            wanted.add(name)
        elif kind.isupper():
            defined.add(name)
    return defined, wanted


def graph(folder):
    """{file: set of files that it needs}"""
    table = {}
    for path in sorted(glob.glob(os.path.join(folder, "*.o"))):
        name = os.path.basename(path)
        if name != "bar_swap.o" and not name.endswith(".mod.o"):
            table[name] = symbols(path)
    home = {s: f for f, (defined, _) in table.items() for s in defined
            if s.startswith("bs_")}
    return {f: {home[s] for s in wanted if s in home} - {f}
            for f, (_, wanted) in table.items()}


def reach(needs, start):
    """every file that start needs, directly or not"""
    seen, todo = set(), [start]
    while todo:
        for f in needs[todo.pop()] - seen:
            seen.add(f)
            todo.append(f)
    return seen


def main():
    needs = graph(sys.argv[1])
    if not needs:
        sys.exit("circles.py: no object files in " + sys.argv[1])
    far = {f: reach(needs, f) for f in needs}
    groups = {tuple(sorted(g for g in far[f] if f in far[g]))
              for f in needs if f in far[f]}
    for group in sorted(groups):
        print("need each other:", *group)
    sys.exit(1 if groups else 0)


main()
