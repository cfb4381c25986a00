#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Draws a trace file of k80fs as SVG: timeline.py TITLE < trace > timeline.svg

A row a die: when it was in the slot, its copies within, and below them how many
of its requests waited.
"""
import json
import sys
from html import escape

WIDTH, LEFT, ROW, TOP = 880, 60, 44, 40
COLORS = {"in the slot": "#9ec5e8", "swap": "#e0a030", "read": "#1f6fb2",
          "write": "#1f6fb2"}


def spans(events):
    began = {}
    for e in events:
        if e["ph"] == "X":
            yield e["name"], (e["tid"] - 1) // 2, e["ts"], e["ts"] + e["dur"]
        elif e["ph"] == "b":
            began[e["id"]] = e
        elif e["ph"] == "e":
            b = began.pop(e["id"])
            yield b["name"], (b["tid"] - 1) // 2, b["ts"], e["ts"]


def box(x, y, w, h, color, text):
    return (f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(w, 0.4):.1f}" '
            f'height="{h}" fill="{color}"><title>{escape(text)}</title></rect>')


def main():
    all_spans = list(spans(json.load(sys.stdin)["traceEvents"]))
    dies = sorted({die for _, die, _, _ in all_spans})
    start = min(s for _, _, s, _ in all_spans)
    end = max(e for _, _, _, e in all_spans)
    scale = (WIDTH - LEFT - 30) / (end - start)
    height = TOP + ROW * len(dies) + 30
    out = ['<!-- SPDX-License-Identifier: GPL-2.0-or-later -->',
           f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" '
           f'height="{height}" role="img" aria-label="{escape(sys.argv[1])}" '
           'font-family="sans-serif" font-size="12">',
           f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
           f'<text x="10" y="20" font-size="14">{escape(sys.argv[1])}</text>']
    for row, die in enumerate(dies):
        y = TOP + ROW * row
        out.append(f'<text x="10" y="{y + 18}">die {die}</text>')
        out.append(f'<line x1="{LEFT}" x2="{WIDTH - 10}" y1="{y + ROW - 4}" '
                   f'y2="{y + ROW - 4}" stroke="#dddddd"/>')
    # what lies within others comes last
    order = ["wait", "in the slot", "swap", "read", "write"]
    for name, die, s, e in sorted(all_spans, key=lambda t: order.index(t[0])
                                  if t[0] in order else -1):
        if name not in order:
            continue
        y = TOP + ROW * dies.index(die)
        x, w = LEFT + (s - start) * scale, (e - s) * scale
        text = f"{name}: {(e - s) / 1000:.2f} ms"
        if name == "wait":
            out.append(box(x, y + 30, w, 4, "#c8c8c8", text))
        elif name == "in the slot":
            out.append(box(x, y + 2, w, 26, COLORS[name], text))
        else:
            out.append(box(x, y + 6, w, 18, COLORS[name], text))
    for i in range(6):
        t = (end - start) * i / 5
        x = LEFT + t * scale
        out.append(f'<text x="{x:.0f}" y="{height - 10}" '
                   f'text-anchor="middle">{t / 1000:.0f} ms</text>')
    x = LEFT
    for label, color in (("in the slot", COLORS["in the slot"]),
                         ("swap", COLORS["swap"]), ("copy", COLORS["read"]),
                         ("somebody waits", "#c8c8c8")):
        x += 110
        out.append(box(x + 260, 10, 12, 12, color, label))
        out.append(f'<text x="{x + 276}" y="20">{label}</text>')
    out.append("</svg>")
    print("\n".join(out))


main()
