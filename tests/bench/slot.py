# SPDX-License-Identifier: GPL-2.0-or-later
"""Six dies in one slot, at several swap costs."""

import filecmp
import os
import shutil
import subprocess
import time

import client
from targets import DIES, BenchError

ONE_MS = 400
WARM_MS = 300
SMALL_THINK_US = 2000
STAT_THINK_US = 2000
STAT_CLIENTS = 4
# samples of the small reader over all rounds, and the longest round for them
SMALL_SAMPLES = 500
SMALL_FIRST_MS = 2000
SMALL_MAX_MS = 15000
# at this cost the copies and the storm of stat are measured too
COPY_SWAP_US = 1000
MEMORY_JOBS = 32
MEMORY_MS = 5000

STREAM = ["-m", "r", "-b", "1M"]


def six_ms(swap_us):
    """a few turns of all dies, slices of 20 swaps and at least 5 ms"""
    return max(1500, 4 * DIES * max(5, 21 * swap_us / 1000))


def one_die(run, mount, args):
    return client.cell(run, mount, args, [mount.path(0)], ONE_MS * run.scale,
                       WARM_MS)


def streams(run, mount, dies, ms):
    """a command that reads so many dies at once"""
    return client.command(run, mount, STREAM + ["-j", str(len(dies))],
                          [mount.path(d) for d in dies], ms, WARM_MS)


def small_reader(run, mount, out, index, ms):
    """one 4 KiB reader of die 5 among five streams"""
    log = f"{run.work}/latencies-{mount.swap_us}-{index}"
    five = client.start(streams(run, mount, range(5), ms))
    one = client.start(client.command(
        run, mount, ["-m", "r", "-b", "4K", "-R", "-T", str(SMALL_THINK_US),
                     "-L", log], [mount.path(5)], ms, WARM_MS))
    out.setdefault("small", []).append(client.finish(one))
    out.setdefault("five", []).append(client.finish(five))
    with open(log, encoding="ascii") as f:
        out.setdefault("small_us", []).extend(float(x) for x in f)


def small_ms(run, out):
    """how long the next round must be for its share of the samples"""
    if not out.get("small"):
        return SMALL_FIRST_MS * run.scale
    last = out["small"][-1]
    each = 1000 / max(last["iops"], 0.2)
    left = run.args.rounds - len(out["small"])
    need = (SMALL_SAMPLES - len(out["small_us"])) / max(left, 1) * each * 1.1
    return min(max(need, SMALL_FIRST_MS), SMALL_MAX_MS) * run.scale


def stat_storm(run, mount, out):
    """clients that stat while six dies stream"""
    ms = six_ms(mount.swap_us) * run.scale
    six = client.start(streams(run, mount, range(DIES), ms))
    storm = client.start(client.command(
        run, mount, ["-m", "s", "-T", str(STAT_THINK_US), "-j",
                     str(STAT_CLIENTS)],
        [os.path.join(mount.folder, f"die{d}", "status")
         for d in range(DIES)], ms, WARM_MS))
    out.setdefault("stat", []).append(client.finish(storm))
    out.setdefault("six with stat", []).append(client.finish(six))


def copy_rate(run, mount, argv):
    """MiB/s of a command that copies all of die 0 to die 1"""
    src = f"{run.sim_dir}/die0"
    with open(src, "r+b") as f:  # so that the copy has something to do
        f.write(os.urandom(1 << 20))
    start = time.monotonic()
    done = subprocess.run(argv, capture_output=True, text=True, check=False,
                          timeout=600)
    secs = time.monotonic() - start
    if done.returncode:
        raise BenchError(f"{' '.join(argv)}: {done.stderr.strip()}")
    if not filecmp.cmp(src, f"{run.sim_dir}/die1", shallow=False):
        raise BenchError(f"{' '.join(argv)}: the copy differs")
    return run.vram_mib / secs


def copies(run, mount, out):
    a, b = mount.path(0), mount.path(1)
    # over the same bytes as the copies
    whole = ["-b", "1M", "-s", f"{run.vram_mib}M"]
    for name, path, mode in ("whole read", a, "r"), ("whole write", b, "w"):
        out.setdefault(name, []).append(
            client.cell(run, mount, ["-m", mode] + whole, [path],
                        ONE_MS * run.scale, WARM_MS)["mib_s"])
    ways = {"dd": ["dd", f"if={a}", f"of={b}", "bs=1M",
                   "conv=notrunc,fsync"],
            "cp": ["cp", a, b]}
    if shutil.which("busybox"):
        ways["busybox cp"] = ["busybox", "cp", a, b]
    for name, argv in ways.items():
        out.setdefault(name, []).append(copy_rate(run, mount, argv))


def one_round(run, mount, out, index):
    before = one_die(run, mount, STREAM)
    six = client.finish(client.start(
        streams(run, mount, range(DIES), six_ms(mount.swap_us) * run.scale)))
    # what the simulator's own work adds to the swap that was ordered
    out.setdefault("took_us", []).extend(
        int(mount.status("last_swap_ns", die)) / 1000 for die in range(DIES))
    after = one_die(run, mount, STREAM)
    out.setdefault("one", []).append(
        (before["mib_s"] + after["mib_s"]) / 2)
    out.setdefault("six", []).append(six)
    small_reader(run, mount, out, index, small_ms(run, out))
    if mount.swap_us == COPY_SWAP_US:
        copies(run, mount, out)
        stat_storm(run, mount, out)


def memory(run, mount, out):
    """private memory of the daemon before and after a lot of writing"""
    before = mount.rss_anon_kib()
    wrote = client.cell(
        run, mount, ["-m", "w", "-b", "1M", "-j", str(MEMORY_JOBS)],
        [mount.path(d) for d in range(DIES)], MEMORY_MS * run.scale)
    out["rss"] = {"before_kib": before, "after_kib": mount.rss_anon_kib(),
                  "clients": MEMORY_JOBS, "written_mib":
                  wrote["mib_s"] * MEMORY_MS * run.scale / 1000}


def start_all(run, swaps, mounts, say):
    """all daemons at once, the pages of all dies mapped"""
    for swap in swaps:
        say(f"mount, swap {swap} us; touching its dies")
        mount = run.k80fs(swap)
        mounts.append(mount)
        for die in range(DIES):
            mount.touch(die, run.vram_mib if swap == COPY_SWAP_US and die < 2
                        else run.set_mib)


def measure(run, swaps, result, say):
    """result["slot"][swap] = what one_round() collects"""
    mounts = []
    try:
        start_all(run, swaps, mounts, say)
        result["transport"] = mounts[0].status("transport")
        result["copy"] = mounts[0].status("copy")
        for i in range(run.args.rounds):
            for mount in mounts:
                say(f"slot round {i + 1} of {run.args.rounds}, "
                    f"swap {mount.swap_us} us")
                out = result["slot"].setdefault(str(mount.swap_us), {})
                one_round(run, mount, out, i)
        for mount in mounts:
            memory(run, mount, result["slot"][str(mount.swap_us)])
    finally:
        for mount in mounts:
            mount.close()
