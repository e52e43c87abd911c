#!/usr/bin/env python3
"""Attention by torch's scaled_dot_product_attention, each back end, timed as 'warpwright perf attention' times its own.

    attention_torch.py [--rounds N] FILE

FILE has a task on each line: attention B=1 HQ=32 HKV=8 D=128 T=1 S=16384 dtype=bf16 [causal=1]. Contiguous caches, all entries full.
CUDA graphs of some 20 ms that go through so many sets of inputs that three times the L2 passes before one comes again; back ends in
rotating order; medians. Results are compared with f64 on some entries' heads. Without causal masks the heads of a group are given as
rows of one head, too ("rows"), which is what decoding with few K/V heads is fastest by. One line of JSON for each task.
"""
import argparse
import json
import statistics

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.attention.bias import causal_lower_right

DTYPES = {"bf16": torch.bfloat16, "f16": torch.float16}
TOLERANCE = {"bf16": 2e-2, "f16": 4e-3}
BACKENDS = {
    "flash": SDPBackend.FLASH_ATTENTION,
    "cudnn": SDPBackend.CUDNN_ATTENTION,
    "efficient": SDPBackend.EFFICIENT_ATTENTION,
}


def parse(line):
    words = line.split("#")[0].split()
    if not words or words[0] != "attention":
        return None
    task = dict(word.partition("=")[::2] for word in words[1:])
    numbers = {key: int(task.get(key, default)) for key, default in
               {"B": 1, "HQ": 0, "HKV": task.get("HQ", 0), "D": 0, "T": 1, "S": 0, "causal": 0, "page": 0}.items()}
    return {**numbers, "dtype": task.get("dtype", "bf16"), "line": " ".join(words)}


def reference(task, q, k, v):
    """The first and the last entry's last K/V head, in f64."""
    group = task["HQ"] // task["HKV"]
    some = []
    for b in {0, task["B"] - 1}:
        rows = q[b, -group:].double()
        scores = rows @ k[b, -1].double().T / task["D"] ** 0.5
        if task["causal"]:
            seen = torch.ones(task["T"], task["S"], dtype=torch.bool, device="cuda").tril(task["S"] - task["T"])
            scores.masked_fill_(~seen, float("-inf"))
        some.append((b, scores.softmax(-1) @ v[b, -1].double()))
    return some


def ways(task):
    group = task["HQ"] // task["HKV"]
    square = task["T"] == task["S"]
    mask = causal_lower_right(task["T"], task["S"]) if task["causal"] and not square else None

    def heads(q, k, v):
        return F.scaled_dot_product_attention(
            q, k, v, attn_mask=mask, is_causal=bool(task["causal"]) and square, enable_gqa=group > 1)

    def rows(q, k, v):
        o = F.scaled_dot_product_attention(q.view(task["B"], task["HKV"], group * task["T"], task["D"]), k, v)
        return o.view(q.shape)

    for name, backend in BACKENDS.items():
        yield name, backend, heads
        if group > 1 and not task["causal"]:
            yield name + " rows", backend, rows


class Way:
    def __init__(self, name, backend, function, sets):
        self.name = name
        with sdpa_kernel(backend):
            self.result = function(*sets[0])
            for each in sets:
                function(*each)
            torch.cuda.synchronize()
            start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            start.record()
            for each in sets:
                function(*each)
            end.record()
            end.synchronize()
            rounds = max(1, min(200, int(20 / max(start.elapsed_time(end), 1e-3))))
            self.launches = rounds * len(sets)
            self.graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self.graph):
                for i in range(self.launches):
                    self.last = function(*sets[i % len(sets)])
        self.micros = []

    def turn(self):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        self.graph.replay()
        end.record()
        end.synchronize()
        return start.elapsed_time(end) * 1e3 / self.launches


def measure(task, rounds):
    dtype = DTYPES[task["dtype"]]
    generator = torch.Generator(device="cuda").manual_seed(1)

    def random(heads, rows, factor=1.0):
        shape = (task["B"], heads, rows, task["D"])
        return (torch.rand(shape, generator=generator, device="cuda") * 2 - 1).mul_(factor).to(dtype)

    q, k, v = random(task["HQ"], task["T"], 6), random(task["HKV"], task["S"]), random(task["HKV"], task["S"])
    size = sum(x.numel() * x.element_size() for x in (q, k, v))
    l2 = torch.cuda.get_device_properties(0).L2_cache_size
    sets = [(q, k, v)] + [(q.clone(), k.clone(), v.clone()) for _ in range(max(1, min(63, -(-3 * l2 // size) - 1)))]
    expected = reference(task, q, k, v)
    group = task["HQ"] // task["HKV"]
    peers, timed = [], []
    for name, backend, function in ways(task):
        try:
            way = Way(name, backend, function, sets)
        except RuntimeError as e:
            peers.append({"name": "torch " + name, "failure": str(e).splitlines()[0][:160]})
            continue
        error = max(float((way.result[b, -group:].double() - o).norm() / o.norm()) for b, o in expected)
        timed.append((way, error))
    for turn in range(-2, rounds):
        for i in range(len(timed)):
            way = timed[(turn + i) % len(timed)][0]
            micros = way.turn()
            if turn >= 0:
                way.micros.append(micros)
    for way, error in timed:
        peers.append({
            "name": "torch " + way.name,
            "timeUs": statistics.median(way.micros),
            "relError": error,
            "verified": error <= TOLERANCE[task["dtype"]],
        })
    return {"workload": task["line"], "torch": torch.__version__, "device": torch.cuda.get_device_name(), "peers": peers}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("file")
    arguments = parser.parse_args()
    with open(arguments.file, encoding="utf-8") as lines:
        tasks = [task for task in map(parse, lines) if task and not task["page"]]
    for task in tasks:
        print(json.dumps(measure(task, arguments.rounds)), flush=True)
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
