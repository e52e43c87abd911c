#!/usr/bin/env python3
"""Puts what attention.sh measured into one table, losses first: attention.py OUT FILE, a file of 'tune --json' in OUT."""
import os
import sys

from networks import documents


def key(text):
    """Of ours, 'attention B=1 … causal page=16 bf16', and of a task's line."""
    words = text.split()[1:]
    values = dict(w.split("=", 1) for w in words if "=" in w)
    causal = "causal" in words or values.get("causal") == "1"
    dtype = values.get("dtype") or next((w for w in words if w in ("bf16", "f16")), "bf16")
    numbers = (("B", "1"), ("HQ", "0"), ("HKV", values.get("HQ", "0")), ("D", "0"), ("T", "1"), ("S", "0"), ("page", "0"))
    return tuple(int(values.get(k, d)) for k, d in numbers) + (causal, dtype)


def main():
    out = sys.argv[1]
    torch = {key(d["workload"]): d["peers"] for d in documents(os.path.join(out, "torch.jsonl"))}
    lines = []
    for d in documents(os.path.join(out, sys.argv[2])):
        right = [p for p in torch.get(key(d["text"]), []) if p.get("timeUs") and p["verified"]]
        best = min(right, key=lambda p: p["timeUs"], default=None)
        mine = d.get("timeUs")
        ratio = mine / best["timeUs"] if mine and best else 0
        lines.append((ratio, [
            d["text"], f"{mine:.2f}" if mine else d.get("failure", "-")[:40], f"{d['leastUs']:.2f}",
            f"{best['timeUs']:.2f} {best['name']}" if best else "-", f"{ratio:.3f}" if ratio else "-", d["config"]]))
    rows = [["attention", "ours", "bound", "best of torch", "ratio", "configuration"]] + [
        line for _, line in sorted(lines, key=lambda pair: -pair[0])]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())


if __name__ == "__main__":
    main()
