#!/usr/bin/env python3
"""Reads what bench/search.sh left in a folder; prints tables and writes search.svg there.

Speed is the least time that any run found for a product, by the best time of a run so far.
"""
import glob
import json
import math
import os
import sys

WAYS = ("random", "analytic", "learning", "usual")
AFTER = (4, 8, 16, 32, 48, 64)
COLOURS = {"random": "#888888", "analytic": "#3477c1", "learning": "#1d8f5f", "usual": "#c2572b"}

folder = sys.argv[1]
runs = []
for path in sorted(glob.glob(os.path.join(folder, "*.json"))):
    way, _, seed = os.path.basename(path)[: -len(".json")].rpartition("-")
    if way not in WAYS:
        continue
    try:
        with open(path) as file:
            document = json.load(file)
    except ValueError:
        print(f"{path}: no JSON; left out", file=sys.stderr)
        continue
    for product in document.get("results", [document]):
        runs.append((way, int(seed), product["key"], product["curve"], product["trials"], product["seconds"]))

final = {}
for _, _, key, curve, _, _ in runs:
    final[key] = min(final.get(key, math.inf), curve[-1]["timeUs"])


def best(curve, limit, of):
    """The best time with at most so many trials, or seconds."""
    times = [step["timeUs"] for step in curve if step[of] <= limit]
    return min(times) if times else math.inf


def mean(values):
    return math.exp(sum(math.log(v) for v in values) / len(values)) if values else math.nan


def speeds(way, limit, of="trial"):
    return [final[key] / best(curve, limit, of) for w, _, key, curve, _, _ in runs if w == way and best(curve, limit, of) < math.inf]


print("Speed of the final, geometric mean over products and seeds (least in brackets), after so many trials:\n")
print("| | " + " | ".join(f"{n}" for n in AFTER) + " | after 60 s | trials to 95 %, median (most) | seconds to 95 %, median (most) | never |")
print("|---|" + "---|" * (len(AFTER) + 4))
for way in WAYS:
    mine = [run for run in runs if run[0] == way]
    if not mine:
        continue
    cells = []
    for n in AFTER:
        s = speeds(way, n)
        cells.append(f"{mean(s):.3f} ({min(s):.2f})" if s else "–")
    s = speeds(way, 60, "seconds")
    cells.append(f"{mean(s):.3f} ({min(s):.2f})" if s else "–")
    for of, digits in (("trial", 0), ("seconds", 1)):
        needed = sorted(
            next((step[of] for step in curve if step["timeUs"] * 0.95 <= final[key]), math.inf) for _, _, key, curve, _, _ in mine
        )
        reached = [n for n in needed if n < math.inf]
        cells.append(f"{needed[len(needed) // 2]:.{digits}f} ({max(reached):.{digits}f})" if reached else "–")
    cells.append(f"{len(needed) - len(reached)} of {len(needed)}")
    print(f"| {way} | " + " | ".join(cells) + " |")

print("\nBest of each run in microseconds, and after how many trials and seconds 95 % of the final speed was there:\n")
print("| product | final | " + " | ".join(WAYS) + " |")
print("|---|---|" + "---|" * len(WAYS))
for key in final:
    row = []
    for way in WAYS:
        cells = []
        for w, _, k, curve, _, _ in runs:
            if w == way and k == key:
                first = next((step for step in curve if step["timeUs"] * 0.95 <= final[key]), None)
                when = f"{first['trial']}, {first['seconds']:.1f} s" if first else "never"
                cells.append(f"{curve[-1]['timeUs']:.2f} ({when})")
        row.append("; ".join(cells) or "–")
    print(f"| {key} | {final[key]:.2f} | " + " | ".join(row) + " |")

# The curves of the means over trials.
width, height, left, bottom = 640, 360, 60, 40
most = max(AFTER)
lines = []
low = min((mean(speeds(way, 1)) for way in WAYS if speeds(way, 1)), default=0.5)
low = max(0.0, math.floor(low * 10) / 10 - 0.1)


def place(trial, speed):
    x = left + (trial - 1) / (most - 1) * (width - left - 100)
    y = height - bottom - (max(speed, low) - low) / (1 - low) * (height - bottom - 20)
    return f"{x:.1f},{y:.1f}"


for i in range(int(round((1 - low) * 10)) + 1):
    speed = low + i / 10
    x, y = place(1, speed).split(",")
    lines.append(f'<line x1="{x}" y1="{y}" x2="{width - 100}" y2="{y}" stroke="#dddddd"/>')
    lines.append(f'<text x="{left - 8}" y="{float(y) + 4:.1f}" text-anchor="end">{speed:.1f}</text>')
for trial in (1, 16, 32, 48, 64):
    x, _ = place(trial, low).split(",")
    lines.append(f'<text x="{x}" y="{height - bottom + 18}" text-anchor="middle">{trial}</text>')
for i, way in enumerate(WAYS):
    points = [place(n, mean(s)) for n in range(1, most + 1) if (s := speeds(way, n))]
    if points:
        lines.append(f'<polyline fill="none" stroke-width="2" stroke="{COLOURS[way]}" points="{" ".join(points)}"/>')
        lines.append(f'<text x="{width - 92}" y="{40 + 18 * i}" fill="{COLOURS[way]}">{way}</text>')
lines.append(f'<text x="{(width - 40) / 2}" y="{height - 6}" text-anchor="middle">trials</text>')
lines.append(f'<text x="14" y="{height / 2}" text-anchor="middle" transform="rotate(-90 14 {height / 2})">speed of the final</text>')
with open(os.path.join(folder, "search.svg"), "w") as file:
    file.write(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">\n'
        f'<rect width="{width}" height="{height}" fill="white"/>\n' + "\n".join(lines) + "\n</svg>\n"
    )
