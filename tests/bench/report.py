# SPDX-License-Identifier: GPL-2.0-or-later
"""Text and picture of a run."""

import math
import statistics
from html import escape

import goals

BAR_PX = 300
ROW_PX = 22
LABEL_PX = 400
COLOURS = {"pass": "#2e7d32", "FAIL": "#c62828", "not measured": "#9e9e9e"}


def _middle(values):
    """median, not a number if there are none"""
    values = list(values)
    return statistics.median(values) if values else math.nan


def _median(samples, key):
    return _middle(s[key] for s in samples)


def _cells_table(cells):
    targets = list(dict.fromkeys(t for c in cells.values() for t in c))
    lines = ["", "One die that is in; medians, (median of the ratios to hp)",
             f"{'':<20}" + "".join(f"{t:>22}" for t in targets)]
    for name, by_target in cells.items():
        key, unit = ("iops", "IOPS") if name.startswith("4K") \
            else ("mib_s", "MiB/s")
        line = f"{name:<20}"
        for t in targets:
            if t not in by_target:
                line += f"{'-':>22}"
                continue
            value = f"{_median(by_target[t], key):.0f}"
            if "hp" in by_target:
                ratio = _middle(
                    a[key] / b[key]
                    for a, b in zip(by_target[t], by_target["hp"]) if b[key])
                value += f" ({ratio:.2f})"
            line += f"{value:>22}"
        lines.append(line + f"  {unit}")
    lines += ["", "p50 / p99 us, and CPU us a MiB of daemon + client",
              f"{'':<20}" + "".join(f"{t:>30}" for t in targets)]
    for name, by_target in cells.items():
        line = f"{name:<20}"
        for t in targets:
            s = by_target.get(t)
            if not s:
                line += f"{'-':>30}"
                continue
            value = (f"{_median(s, 'p50_us'):.1f} / "
                     f"{_median(s, 'p99_us'):.0f},  "
                     f"{_median(s, 'server_us_mib'):.0f}+"
                     f"{_median(s, 'client_us_mib'):.0f}")
            line += f"{value:>30}"
        lines.append(line)
    return lines


def _slot_table(slots):
    lines = ["", "Six dies, one slot; 1 MiB readers, MiB/s; a 4 KiB reader "
             "among five streams, ms", f"{'swap us':>8}{'took':>8}{'one die':>10}"
             f"{'six':>10}{'share':>8}{'five':>10}{'share':>8}{'p50':>9}"
             f"{'p99':>9}{'max':>9}{'samples':>9}   slowest/fastest of six"]
    for swap, out in slots.items():
        if not out.get("five"):
            continue
        one = _middle(out["one"])
        six = _median(out["six"], "mib_s")
        five = _median(out["five"], "mib_s")
        small = out["small_us"]
        fair = _middle(
            min(s["jobs_mib_s"]) / max(max(s["jobs_mib_s"]), 0.01)
            for s in out["six"])
        share6 = _middle(
            a["mib_s"] / b for a, b in zip(out["six"], out["one"]))
        share5 = _middle(
            a["mib_s"] / b for a, b in zip(out["five"], out["one"]))
        lines.append(
            f"{swap:>8}{_middle(out['took_us']):>8.0f}{one:>10.0f}{six:>10.0f}{share6:>8.2f}{five:>10.0f}"
            f"{share5:>8.2f}{goals.percentile(small, .5) / 1000:>9.1f}"
            f"{goals.percentile(small, .99) / 1000:>9.1f}"
            f"{max(small, default=0) / 1000:>9.1f}{len(small):>9}   {fair:.2f}")
    out = slots.get("1000", {})
    for way in ("whole read", "whole write"):
        if out.get(way):
            lines.append(f"  {way.replace('whole', 'one die,')}: "
                         f"{_middle(out[way]):.0f} MiB/s")
    for way in ("dd", "cp", "busybox cp"):
        if out.get(way):
            lines.append(f"  {way} die to die at swap 1000 us: "
                         f"{_middle(out[way]):.0f} MiB/s")
    return lines


def _net_table(net):
    lines = ["", "A whole die, by NBD on this machine and without"]
    for way, samples in net.items():
        lines.append(f"  {way + ':':<18} {_middle(samples):.0f} MiB/s")
    return lines


def _number(value):
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"


def _goal_lines(rows):
    lines = ["", f"{'Goal':<60}{'target':>9}{'median':>9}{'min':>9}"
             f"{'max':>9}  verdict"]
    for r in rows:
        sign = "<=" if r["low_is_good"] else ">="
        line = f"{r['name']:<60}{sign + ' ' + _number(r['target']):>9}"
        if "median" in r:
            line += "".join(f"{_number(r[k]):>9}"
                            for k in ("median", "min", "max"))
        else:
            line += " " * 27
        note = f"  ({r['note']})" if r["note"] else ""
        lines.append(f"{line}  {r['verdict']}{note}")
    n = {v: sum(r["verdict"] == v for r in rows) for v in COLOURS}
    lines.append(f"{n['pass']} pass, {n['FAIL']} fail, "
                 f"{n['not measured']} not measured; a median within 5 % of "
                 "its target passes")
    return lines


def text(result, rows):
    lines = ["k80fs benchmark", ""]
    lines += [f"{k + ':':<20} {v}" for k, v in result["facts"].items()]
    lines.append(f"{'transport:':<20} {result.get('transport', 'none')}, "
                 f"copy {result.get('copy', 'none')}")
    lines.append(f"{'run:':<20} {result['rounds']} rounds, "
                 f"{result['seconds']} s"
                 + (", QUICK: NOT A MEASUREMENT" if result["quick"] else ""))
    lines += [f"MISSING: {m}" for m in result["missing"]]
    if "error" in result:
        lines.append(f"STOPPED: {result['error']}")
    if result["cells"]:
        lines += _cells_table(result["cells"])
    if result["slot"]:
        lines += _slot_table(result["slot"])
    if result["net"]:
        lines += _net_table(result["net"])
    return "\n".join(lines + _goal_lines(rows)) + "\n"


def _bar(y, r):
    """a bar is measured/target, or its inverse where low is good"""
    label = (f'<text x="{LABEL_PX - 8}" y="{y + 15}" text-anchor="end">'
             f'{escape(r["name"])}</text>')
    colour = COLOURS[r["verdict"]]
    if "median" not in r:
        return label + (f'<text x="{LABEL_PX + 6}" y="{y + 15}" '
                        f'fill="{colour}">not measured</text>')
    score = r["median"] / r["target"]
    if r["low_is_good"]:
        score = 1 / score if score else 2
    width = min(score, 2) / 2 * BAR_PX
    sign = "≤" if r["low_is_good"] else "≥"
    return label + (
        f'<rect x="{LABEL_PX}" y="{y + 3}" width="{width:.1f}" '
        f'height="{ROW_PX - 6}" fill="{colour}"/>'
        f'<text x="{LABEL_PX + BAR_PX + 8}" y="{y + 15}">'
        f'{_number(r["median"])} ({sign} {_number(r["target"])})</text>')


def svg(result, rows):
    height = 70 + ROW_PX * len(rows)
    middle = LABEL_PX + BAR_PX / 2
    body = [f'<text x="8" y="20" font-size="15">k80fs against its goals, '
            f'{escape(result.get("transport", "no transport"))}</text>',
            f'<text x="8" y="38">{escape(result["facts"]["cpu"])}, Linux '
            f'{escape(result["facts"]["kernel"])}, {result["rounds"]} '
            'rounds; the line is the goal, longer is better</text>']
    body += [_bar(50 + ROW_PX * i, r) for i, r in enumerate(rows)]
    body.append(f'<line x1="{middle}" x2="{middle}" y1="46" '
                f'y2="{height - 14}" stroke="#000" stroke-dasharray="4 3"/>')
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="860" '
            f'height="{height}" font-family="sans-serif" font-size="12">'
            '<rect width="100%" height="100%" fill="#fff"/>'
            + "\n".join(body) + "</svg>\n")


def write(result, folder):
    """report.txt and report.svg; adds the goals to the result"""
    rows = goals.rows(result)
    result["goals"] = rows
    page = text(result, rows)
    with open(f"{folder}/report.txt", "w", encoding="utf-8") as f:
        f.write(page)
    with open(f"{folder}/report.svg", "w", encoding="utf-8") as f:
        f.write(svg(result, rows))
    return page
