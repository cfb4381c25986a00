# SPDX-License-Identifier: GPL-2.0-or-later
"""A whole die over NBD on this machine, beside the same by dd."""

import os
import shutil
import subprocess
import time

from targets import BenchError

PROGRAMS = ("nbdkit", "nbdcopy")


def _timed(argv, mib):
    """MiB/s of the command"""
    begin = time.monotonic()
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode:
        raise BenchError(f"{' '.join(argv)}: {done.stderr.strip()}")
    return mib / (time.monotonic() - begin)


def _ways(run, vram, data):
    """name: a command that moves a whole die; nbdcopy starts its nbdkit"""
    server = ["[", "nbdkit", "file", vram, "]"]
    block = f"bs={1 << 20}"
    count = f"count={run.vram_mib}"
    return {
        "read by dd": ["dd", f"if={vram}", "of=/dev/null", block, count],
        "read by nbdcopy": ["nbdcopy", *server, "null:"],
        "write by dd": ["dd", f"if={data}", f"of={vram}", block,
                        "conv=notrunc,fsync"],
        "write by nbdcopy": ["nbdcopy", "--destination-is-zero", "--flush",
                             data, *server],
    }


def measure(run, result, say):
    """result["net"][way] = MiB/s, a sample a round"""
    missing = [p for p in PROGRAMS if not shutil.which(p)]
    if missing:
        run.missing.append(f"{', '.join(missing)}: nothing over NBD")
        return
    data = f"{run.sim_dir}/data"
    shutil.copyfile(f"{run.sim_dir}/die1", data)
    target = run.k80fs(0)
    try:
        for i in range(run.args.rounds):
            say(f"NBD round {i + 1} of {run.args.rounds}")
            for way, argv in _ways(run, target.path(0), data).items():
                result["net"].setdefault(way, []).append(
                    _timed(argv, run.vram_mib))
    finally:
        target.close()
        os.unlink(data)
