#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""One run of the benchmark: mounts, rounds, samples. run.sh calls it."""

import argparse
import json
import os
import shutil
import signal
import sys
import tempfile
import time

import facts
import net
import report
import throughput
import slot
from targets import DIES, BenchError, Files, K80fs, Mount

TOUCH_BLOCK = 1 << 20


def parse_args():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--client", required=True, help="the cb program")
    p.add_argument("--k80fs", required=True, help="the daemon")
    p.add_argument("--hp", required=True, help="passthrough_hp")
    p.add_argument("--out", required=True, help="folder for the report")
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--vram", type=int, default=256, metavar="MIB",
                   help="memory of each die (halved until it fits)")
    p.add_argument("--swaps", default="0,200,1000,5000", metavar="US,...",
                   help="swap costs to try")
    p.add_argument("--only", choices=("throughput", "slot", "net"),
                   help="one part of the run")
    p.add_argument("--shm", default="/dev/shm", help="a tmpfs")
    p.add_argument("--options", default="", metavar="OPT,...",
                   help="further mount options of k80fs")
    p.add_argument("--io-uring", action="store_true",
                   help="throughput also over io_uring, which must be on")
    p.add_argument("--quick", action="store_true",
                   help="shorter cells: a smoke test, not a measurement")
    return p.parse_args()


def fitting_vram(want_mib, shm):
    """largest want/2^n of which six leave half of the free memory alone"""
    with open("/proc/meminfo", encoding="ascii") as f:
        avail = next(int(line.split()[1]) // 1024 for line in f
                     if line.startswith("MemAvailable"))
    st = os.statvfs(shm)
    avail = min(avail, st.f_bavail * st.f_frsize >> 20) // 2
    while want_mib * DIES > avail and want_mib > 64:
        want_mib //= 2
    return want_mib


def make_dies(folder, vram_mib):
    """die files, each page written twice: first touches are slow"""
    block = os.urandom(TOUCH_BLOCK)
    for die in range(DIES):
        for flags in (os.O_WRONLY | os.O_CREAT, os.O_WRONLY):
            fd = os.open(f"{folder}/die{die}", flags, 0o600)
            for i in range(vram_mib):
                os.pwrite(fd, block, i * TOUCH_BLOCK)
            os.close(fd)


class Run:
    """what every cell needs"""

    def __init__(self, args):
        self.args = args
        self.client = args.client
        self.scale = 0.25 if args.quick else 1
        self.sim_dir = tempfile.mkdtemp(prefix="k80bench.", dir=args.shm)
        self.work = tempfile.mkdtemp(prefix="k80bench.")
        self.vram_mib = fitting_vram(args.vram, args.shm)
        # more than a cache holds; of more, a virtual machine whose page tables
        # are shadowed forgets a part at each swap, which no die does
        self.set_mib = min(64, self.vram_mib)
        self.missing = []

    def hp(self):
        if not os.access(self.args.hp, os.X_OK):
            self.missing.append("passthrough_hp (could not be built): "
                                "no ratio to it")
            return None
        return Mount("hp", [self.args.hp, "--foreground", self.sim_dir,
                            f"{self.work}/hp"], f"{self.work}/hp",
                     f"{self.args.out}/hp.log")

    def k80fs(self, swap_us, extra=None):
        return K80fs(self.args.k80fs, self.sim_dir, f"{self.vram_mib}M",
                     swap_us, self.work, f"{self.args.out}/k80fs.log",
                     self.args.options if extra is None else extra)

    def k80fs_ring(self):
        """the same over io_uring; BenchError if that cannot be had"""
        target = self.k80fs(0, "io_uring,io_uring_q_depth=8")
        if target.status("transport") != "io_uring":
            target.close()
            raise BenchError("io_uring cannot be had here: see k80fs.log")
        target.touch(0, self.set_mib)
        return target

    def files(self):
        # mapping its pages takes long where page faults are slow, and its
        # 4 KiB figures say nothing
        memcpy = Files("memcpy", self.sim_dir,
                       ["-M", "-s", f"{min(256, self.set_mib)}M"], "seq")
        return [memcpy, Files("tmpfs", self.sim_dir)]

    def clean(self):
        shutil.rmtree(self.sim_dir, ignore_errors=True)
        shutil.rmtree(self.work, ignore_errors=True)


def say(text):
    print(f"bench: {text}", file=sys.stderr, flush=True)


def measure(run, result):
    swaps = [int(s) for s in run.args.swaps.split(",")]
    if not os.access(run.args.k80fs, os.X_OK):
        run.missing.append(f"k80fs ({run.args.k80fs} is not built): "
                           "only its peers were measured")
    say(f"{DIES} dies of {run.vram_mib} MiB, touching them")
    make_dies(run.sim_dir, run.vram_mib)
    has_k80fs = os.access(run.args.k80fs, os.X_OK)
    if run.args.only in (None, "throughput"):
        targets = run.files()
        try:
            for mount in (run.hp, lambda: run.k80fs(0)):
                if mount == run.hp or has_k80fs:
                    target = mount()
                    if target:
                        targets.append(target)
            if has_k80fs:
                targets[-1].touch(0, run.set_mib)
                result["transport"] = targets[-1].status("transport")
                result["copy"] = targets[-1].status("copy")
                targets.append(run.k80fs(0, "cache"))
                targets[-1].touch(0, run.set_mib)
                if run.args.io_uring:
                    targets.append(run.k80fs_ring())
            throughput.measure(run, targets, result, say)
        finally:
            for target in targets:
                target.close()
    if run.args.only in (None, "slot") and has_k80fs:
        slot.measure(run, swaps, result, say)
    if run.args.only in (None, "net") and has_k80fs:
        net.measure(run, result, say)


def stop(signum, _frame):
    """what was measured until now is still reported"""
    raise BenchError(signal.Signals(signum).name)


def main():
    args = parse_args()
    for sig in (signal.SIGTERM, signal.SIGINT):
        signal.signal(sig, stop)
    result = {"facts": facts.collect(), "rounds": args.rounds,
              "quick": args.quick, "cells": {}, "slot": {}, "net": {}}
    run = Run(args)
    result["facts"]["dies"] = f"{DIES} x {run.vram_mib} MiB on {args.shm}"
    start = time.monotonic()
    try:
        measure(run, result)
    except BenchError as e:
        result["error"] = str(e)
        say(f"STOPPED: {e}")
    finally:
        run.clean()
    result["missing"] = run.missing
    result["seconds"] = round(time.monotonic() - start)
    result["facts"]["load at end"] = " ".join(
        f"{x:.2f}" for x in os.getloadavg())
    text = report.write(result, args.out)
    with open(f"{args.out}/report.json", "w", encoding="utf-8") as f:
        json.dump(result, f, indent=1)
    print(text)


if __name__ == "__main__":
    main()
