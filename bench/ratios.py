#!/usr/bin/env python3
"""Draws the table of ratios of a document of docs/benchmarks as SVG: bench/ratios.py DOCUMENT FILE.svg

Reads rows "| figure | result | lost | geometric mean | median (quartiles) | least | compared |" and draws for each figure the
quartiles as a box, the median as a line, the geometric mean as a dot and the least as a tick; 1 is the best baseline's time.
"""
import re
import sys

NAMES = {
    "f32-nt": "f32, SIMT", "bf16-nt": "bf16", "f16-nt": "f16", "bf16-nn": "bf16, NN", "bf16-tn": "bf16, TN",
    "bf16-tt": "bf16, TT", "tf32-nt": "tf32", "fp8-nt": "e4m3", "untuned": "bf16 untuned, of tuned",
}
rows = []
for line in open(sys.argv[1], encoding="utf-8"):
    cells = [c.strip() for c in line.strip().strip("|").split("|")]
    if len(cells) == 7 and cells[0] in NAMES:
        median, low, high = map(float, re.findall(r"\d+\.\d+", cells[4]))
        rows.append((NAMES[cells[0]], float(cells[3]), median, low, high, float(cells[5]), cells[6]))
if not rows:
    sys.exit("ratios.py: no row of figures in " + sys.argv[1])
left, right, step, top = 190, 640, 30, 58
lowest, highest = 0.9, 1.2
x = lambda v: left + (min(max(v, lowest), highest) - lowest) / (highest - lowest) * (right - left)
bottom = top + step * len(rows)
out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 {bottom + 44}" font-family="system-ui, sans-serif" font-size="13">',
       f'<rect width="760" height="{bottom + 44}" fill="#ffffff"/>',
       '<text x="20" y="24" font-size="15" font-weight="600" fill="#1a1a1a">GEMMs on an H200: time of the best baseline by ours</text>',
       '<text x="20" y="43" fill="#555">cuBLAS and every suggestion of cuBLASLt, in the same run; right of 1.00 we are faster</text>']
for tick in (0.9, 0.95, 1.0, 1.05, 1.1, 1.15, 1.2):
    out.append(f'<line x1="{x(tick):.1f}" y1="{top}" x2="{x(tick):.1f}" y2="{bottom}" stroke="{"#333" if tick == 1 else "#ddd"}"/>'
               f'<text x="{x(tick):.1f}" y="{bottom + 18}" text-anchor="middle" fill="#555">{tick:.2f}</text>')
for i, (name, mean, median, low, high, least, compared) in enumerate(rows):
    y = top + step * i + step / 2
    out.append(f'<text x="{left - 12}" y="{y + 4:.1f}" text-anchor="end" fill="#1a1a1a">{name}</text>'
               f'<line x1="{x(least):.1f}" y1="{y:.1f}" x2="{x(low):.1f}" y2="{y:.1f}" stroke="#8aa"/>'
               f'<line x1="{x(least):.1f}" y1="{y - 5:.1f}" x2="{x(least):.1f}" y2="{y + 5:.1f}" stroke="#8aa"/>'
               f'<rect x="{x(low):.1f}" y="{y - 8:.1f}" width="{x(high) - x(low):.1f}" height="16" fill="#9cc5d6"/>'
               f'<line x1="{x(median):.1f}" y1="{y - 8:.1f}" x2="{x(median):.1f}" y2="{y + 8:.1f}" stroke="#0b4f6c" stroke-width="2"/>'
               f'<circle cx="{x(mean):.1f}" cy="{y:.1f}" r="4" fill="#d1495b"/>'
               f'<text x="{right + 12}" y="{y + 4:.1f}" fill="#555">{compared}</text>')
out.append(f'<text x="20" y="{bottom + 36}" fill="#555">box: quartiles; line: median; dot: geometric mean; tick: least; right: how many were compared</text></svg>')
open(sys.argv[2], "w", encoding="utf-8").write("\n".join(out) + "\n")
