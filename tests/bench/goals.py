# SPDX-License-Identifier: GPL-2.0-or-later
"""The figures that have a target, and what this run made of them."""

import math
import statistics

# a median within this part of its target passes
SLACK = 0.05


def _ratios(cells, cell, target, other, key="mib_s"):
    a = cells.get(cell, {}).get(target, [])
    b = cells.get(cell, {}).get(other, [])
    return [x[key] / y[key] for x, y in zip(a, b) if y[key]]


def _cpu_ratios(cells, cell, target, other):
    def cost(s):
        return s["client_us_mib"] + s["server_us_mib"]
    a = cells.get(cell, {}).get(target, [])
    b = cells.get(cell, {}).get(other, [])
    return [cost(x) / cost(y) for x, y in zip(a, b) if cost(y)]


def percentile(values, p):
    """of a list; not a number if it is empty"""
    if not values:
        return math.nan
    values = sorted(values)
    return values[min(int(len(values) * p), len(values) - 1)]


class Goal:
    """one row: samples (a figure a round) against a target"""

    def __init__(self, name, samples, fuse, uring, low_is_good=False,
                 note=""):
        self.name = name
        self.samples = samples
        self.targets = {"fuse": fuse, "uring": uring}
        self.low_is_good = low_is_good
        self.note = note

    def row(self, transport):
        target = self.targets[transport]
        row = {"name": self.name, "target": target, "note": self.note,
               "low_is_good": self.low_is_good, "n": len(self.samples)}
        if not self.samples:
            return row | {"verdict": "not measured"}
        median = statistics.median(self.samples)
        if self.low_is_good:
            ok = median <= target * (1 + SLACK)
        else:
            ok = median >= target * (1 - SLACK)
        return row | {"median": median, "min": min(self.samples),
                      "max": max(self.samples),
                      "verdict": "pass" if ok else "FAIL"}


FUSE = "k80fs swap 0 us"
RING = "k80fs io_uring swap 0 us"


def _throughput(cells, me):
    for cell, fuse, uring in (
            ("seq read 1M", 2.5, 2.5), ("seq read 128K", 1.1, 1.35),
            ("seq write 1M", 1.7, 2.2), ("seq write 128K", 2.0, 2.3)):
        yield Goal(f"{cell} / hp", _ratios(cells, cell, me, "hp"), fuse,
                   uring)
    for cell, fuse, uring in (("seq read 1M", .42, .40),
                              ("seq write 1M", .55, .75)):
        yield Goal(f"{cell} / memcpy", _ratios(cells, cell, me, "memcpy"),
                   fuse, uring)
    for cell, fuse, uring in (
            ("4K read same CPU", 1.4, 1.6), ("4K write same CPU", 1.4, 1.6),
            ("4K read x4", 1.3, 2.8), ("4K write x4", 1.3, 3.7),
            ("4K read cross CPU", 1.1, 12), ("4K write cross CPU", 1.1, 12)):
        yield Goal(f"{cell} / hp", _ratios(cells, cell, me, "hp", "iops"),
                   fuse, uring)
    for cell, fuse, uring in (("seq read 1M", .45, .45),
                              ("seq write 1M", .60, .45)):
        yield Goal(f"CPU time a MiB, {cell} / hp",
                   _cpu_ratios(cells, cell, me, "hp"), fuse, uring, True)


def _rate(samples):
    return [s["mib_s"] for s in samples]


def _shares(part, whole):
    return [a / b for a, b in zip(part, whole) if b]


def _slot(swap, out):
    """six_goal and small_goal are those of the swap costs they exist for"""
    six_goal = {200: .90, 1000: .87, 5000: .92}.get(swap)
    small_goal = {200: 12, 1000: 25, 5000: 130}.get(swap)
    if six_goal is None:
        return
    yield Goal(f"six dies / one die, swap {swap} us",
               _shares(_rate(out.get("six", [])), out.get("one", [])),
               six_goal, six_goal)
    small = out.get("small_us", [])
    yield Goal(f"p99 ms of a 4K reader among five streams, swap {swap} us",
               [percentile(small, .99) / 1000] if small else [],
               small_goal, small_goal, True,
               f"{len(small)} samples" if len(small) >= 500 else
               f"only {len(small)} samples")
    yield Goal(f"five streams beside it / one die, swap {swap} us",
               _shares(_rate(out.get("five", [])), out.get("one", [])),
               .82, .82)


def _copies(out):
    ideal = [1 / (1 / r + 1 / w) for r, w in
             zip(out.get("whole read", []), out.get("whole write", []))
             if r and w]
    for way in ("dd", "cp", "busybox cp"):
        if way in out or way != "busybox cp":
            yield Goal(f"{way} die to die / 1/(1/R + 1/W), swap 1000 us",
                       _shares(out.get(way, []), ideal), .8, .8)


def _storm(out):
    stat = out.get("stat", [])
    yield Goal("stat p99 ms while six dies stream",
               [s["p99_us"] / 1000 for s in stat], 5, 5, True,
               "4 clients, 2 ms pause")
    yield Goal("stat max ms while six dies stream",
               [max(s["max_us"] for s in stat) / 1000] if stat else [], 20,
               20, True)
    yield Goal("six streams with stat storm / without",
               _shares(_rate(out.get("six with stat", [])),
                       _rate(out.get("six", []))), .9, .9)


def _memory(slots):
    rss = [out["rss"] for out in slots.values() if "rss" in out]
    yield Goal("RssAnon of the daemon, MiB",
               [r["after_kib"] / 1024 for r in rss], 128, 128, True,
               f"{sum(r['written_mib'] for r in rss) / 1024:.1f} GiB written"
               if rss else "")


def rows(result):
    """every goal as a dict, in the order of the table"""
    uring = "uring" in result.get("transport", "")
    cells = result["cells"]
    ring = any(RING in cell for cell in cells.values())
    goals = list(_throughput(cells, RING if uring and ring else FUSE))
    for swap in (200, 1000, 5000):
        goals += _slot(swap, result["slot"].get(str(swap), {}))
    at_1ms = result["slot"].get("1000", {})
    goals += list(_copies(at_1ms)) + list(_storm(at_1ms))
    goals += list(_memory(result["slot"]))
    out = [g.row("uring" if uring else "fuse") for g in goals]
    if ring and not uring:
        out += [row | {"name": f"io_uring: {row['name']}"} for row in
                (g.row("uring") for g in _throughput(cells, RING))]
    return out
