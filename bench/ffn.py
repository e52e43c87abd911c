#!/usr/bin/env python3
"""Puts what ffn.sh measured into one table, losses first: ffn.py OUT."""
import os
import statistics
import sys

from networks import documents, us

COLUMNS = ["cuBLASLt", "torch eager", "torch.compile"]


def key(workload):
    words = dict(w.split("=", 1) for w in workload.split()[1:] if "=" in w)
    if workload.startswith("layer"):
        return ("layer", *(words[k] for k in ("HQ", "HKV", "D", "H", "S")), words.get("dtype", "bf16"), words.get("rows") or words["M"])
    gated = words.get("gated", words.get("gate", "0"))
    return (
        int(words.get("D") or words.get("K")), int(words.get("H") or words.get("N")), gated == "1",
        words.get("act", "silu" if gated == "1" else "gelu"), words.get("dtype", "bf16"), int(words.get("M") or words.get("rows")))


def name(k):
    if k[0] == "layer":
        return "layer HQ={} HKV={} D={} H={} S={} {} rows={}".format(*k[1:])
    return f"{k[0]}-{k[1]} {'gated ' if k[2] else ''}{k[3]} {k[4]} M={k[5]}"


def best(row):
    """The fastest of the others that are right; None if there is none."""
    times = [p["timeUs"] for p in row["others"].values() if p.get("timeUs") and p.get("verified") is not False]
    return min(times, default=None)


def main():
    out = sys.argv[1]
    table = {}
    for document in documents(os.path.join(out, "warpwright.json")):
        row = table.setdefault(key(document["workload"]), {"ours": {}, "others": {}})
        row["ours"] = document
        for peer in document.get("peers", []):
            if peer["name"].startswith("cuBLASLt"):
                row["others"]["cuBLASLt"] = peer
    for document in documents(os.path.join(out, "torch.jsonl")):
        row = table.setdefault(key(document["workload"]), {"ours": {}, "others": {}})
        for peer in document.get("peers", []):
            row["others"][peer["name"]] = peer
    lines, ratios = [], []
    for k, row in table.items():
        mine, other = row["ours"].get("timeUs"), best(row)
        ratio = mine / other if mine and other else None
        if ratio:
            ratios.append(ratio)
        lines.append((ratio or 0, [
            name(k),
            us(row["ours"]) if row["ours"] else "-",
            f"{row['ours']['boundUs']:.1f}" if row["ours"].get("boundUs") else "-",
            *[us(row["others"].get(c)) for c in COLUMNS],
            f"{ratio:.3f}" if ratio else "-",
            str(row["ours"].get("strategy") or row["ours"].get("failure") or "")[:70],
        ]))
    lines = [["block", "ours", "bound", *COLUMNS, "of the best", "strategy"]] + [
        line for _, line in sorted(lines, key=lambda pair: -pair[0])]
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    for line in lines:
        print("  ".join(
            cell.ljust(w) if i in (0, len(line) - 1) else cell.rjust(w)
            for i, (cell, w) in enumerate(zip(line, widths))).rstrip())
    if ratios:
        print(f"median {statistics.median(ratios):.3f}, geometric mean {statistics.geometric_mean(ratios):.3f},"
              f" lost {sum(r > 1 for r in ratios)} of {len(ratios)}")


if __name__ == "__main__":
    main()
