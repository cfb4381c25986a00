#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Draw text as a terminal's window: terminal.py TITLE < text > picture.svg

Lines that begin with "# " or "$ " are what was typed and stand out.
"""
import sys
from html import escape

LINE = 20  # px, of 14 px type
CHAR = 8.43  # px, advance of a 14 px monospaced face (0.602 em)
MARGIN = 16
BAR = 34  # px, the window's title


def main():
    title = sys.argv[1]
    lines = sys.stdin.read().rstrip("\n").expandtabs(8).split("\n")
    width = int(max(map(len, lines)) * CHAR) + 2 * MARGIN
    height = BAR + len(lines) * LINE + MARGIN
    out = [
        '<!-- SPDX-License-Identifier: GPL-2.0-or-later -->',
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" '
        f'height="{height}" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="{escape(title)}">',
        f'<rect width="{width}" height="{height}" rx="8" fill="#1c2128"/>',
        f'<text x="{width // 2}" y="22" text-anchor="middle" fill="#8b949e" '
        f'font-family="sans-serif" font-size="13">{escape(title)}</text>',
        '<g font-family="ui-monospace,Menlo,Consolas,monospace" '
        'font-size="14" fill="#c9d1d9" xml:space="preserve">',
    ]
    for number, line in enumerate(lines):
        y = BAR + number * LINE + 14
        if line[:2] in ("# ", "$ "):
            body = (f'<tspan fill="#7ee787">{escape(line[0])}</tspan>'
                    f'<tspan fill="#ffffff">{escape(line[1:])}</tspan>')
        else:
            body = escape(line)
        out.append(f'<text x="{MARGIN}" y="{y}">{body}</text>')
    out += ["</g>", "</svg>"]
    print("\n".join(out))


if __name__ == "__main__":
    main()
