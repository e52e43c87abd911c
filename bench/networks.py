#!/usr/bin/env python3
"""Puts what networks.sh measured into one table: networks.py OUT."""
import json
import os
import sys


def documents(path):
    """The JSON documents of a file: one, or one on each line; none if it is not there or broken."""
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except OSError:
        return []
    try:
        whole = json.loads(text)
        return whole.get("results", [whole])
    except json.JSONDecodeError:
        found = []
        for line in text.splitlines():
            try:
                found.append(json.loads(line))
            except json.JSONDecodeError:
                pass
        return found


def key(workload):
    """A workload without what has a default or does not decide: 'widths act dtype rows'."""
    words = dict(w.split("=", 1) for w in workload.split()[1:] if "=" in w)
    return tuple(words.get(k, d) for k, d in (("widths", ""), ("act", "relu"), ("dtype", "f16"), ("rows", "")))


def us(peer):
    if peer is None:
        return "-"
    if peer.get("timeUs") is None:
        return peer.get("reason") or "failed"
    if peer.get("verified") is False:
        return "WRONG"
    return f"{peer['timeUs']:.2f}" if peer["timeUs"] < 100 else f"{peer['timeUs']:.1f}"


def name(k):
    widths = k[0].split(",")
    same = len(set(widths)) == 1
    short = f"W{widths[0]} L{len(widths) - 1}" if same else "-".join(widths)
    return f"{short} {k[1]} {k[2]} {k[3]}"


def main():
    out = sys.argv[1]
    table = {}
    for document in documents(os.path.join(out, "warpwright.json")):
        peers = {p["name"]: p for p in document.get("peers", [])}
        table.setdefault(key(document["workload"]), {}).update({
            "ours": document, "old": peers.get("shared chaining"), "peers": peers})
    for document in documents(os.path.join(out, "torch.jsonl")) + documents(os.path.join(out, "tcnn.jsonl")):
        row = table.setdefault(key(document["workload"]), {})
        for peer in document.get("peers", []):
            row[peer["name"]] = peer
    columns = ["torch eager", "torch.compile", "FullyFusedMLP", "CutlassMLP"]
    head = ["network", "ours", "sustained", "bound", "of bound", "shared", *columns, "strategy"]
    lines = [head]
    for k, row in table.items():
        ours = row.get("ours") or {}
        sustained, bound, ratio = ours.get("sustainedUs"), ours.get("boundUs"), ours.get("ofBound")
        lines.append([
            name(k),
            us(ours) if ours else "-",
            f"{sustained:.1f}" if sustained else "-",
            f"{bound:.1f}" if bound else "-",
            f"{ratio:.2f}" if ratio else "-",
            us(row.get("old")) if ours.get("strategy") != "shared chaining" else "=",
            *[us(row.get(c)) for c in columns],
            str(ours.get("strategy") or ours.get("failure") or "")[:60],
        ])
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    for line in lines:
        print("  ".join(
            cell.ljust(w) if i in (0, len(head) - 1) else cell.rjust(w)
            for i, (cell, w) in enumerate(zip(line, widths))).rstrip())


if __name__ == "__main__":
    main()
