# SPDX-License-Identifier: GPL-2.0-or-later
"""One die that is in: throughput, small requests, CPU time."""

import os

import client

CELL_MS = 400
WARM_MS = 50

# name: client arguments, daemon's CPU, client's CPU (None: anywhere)
CELLS = {
    "seq read 1M": (["-m", "r", "-b", "1M"], None, None),
    "seq read 128K": (["-m", "r", "-b", "128K"], None, None),
    "seq write 1M": (["-m", "w", "-b", "1M"], None, None),
    "seq write 128K": (["-m", "w", "-b", "128K"], None, None),
    "4K read same CPU": (["-m", "r", "-b", "4K", "-R"], 0, 0),
    "4K write same CPU": (["-m", "w", "-b", "4K", "-R"], 0, 0),
    "4K read cross CPU": (["-m", "r", "-b", "4K", "-R"], 0, 1),
    "4K write cross CPU": (["-m", "w", "-b", "4K", "-R"], 0, 1),
    "4K read x4": (["-m", "r", "-b", "4K", "-R", "-j", "4"], None, None),
    "4K write x4": (["-m", "w", "-b", "4K", "-R", "-j", "4"], None, None),
}


def measure(run, targets, result, say):
    """result["cells"][cell][target] = a sample a round, None if not run"""
    cpus = sorted(os.sched_getaffinity(0))
    for i in range(run.args.rounds):
        say(f"throughput round {i + 1} of {run.args.rounds}")
        for name, (args, daemon, cpu) in CELLS.items():
            if daemon is not None and len(cpus) < 2:
                continue
            # in turn, and each round another one first
            k = i % len(targets)
            for target in targets[k:] + targets[:k]:
                if not name.startswith(target.cells):
                    continue
                pinned = set(cpus) if daemon is None else {cpus[daemon]}
                target.pin(pinned)
                sample = client.cell(
                    run, target, args, [target.path(0)], CELL_MS * run.scale,
                    WARM_MS, None if cpu is None else cpus[cpu])
                target.pin(set(cpus))
                result["cells"].setdefault(name, {}).setdefault(
                    target.name, []).append(sample)
