#!/usr/bin/env python3
"""Decoder layers in PyTorch, eager and by torch.compile, measured as 'warpwright perf layer' measures its own.

    layer_torch.py [--seconds N] [--rounds N] [--eager-only] FILE

FILE has a task on each line, as 'warpwright perf --file' takes it: layer rows=1 HQ=32 HKV=8 D=128 H=14336 S=1024 dtype=bf16.
A step of decoding: one new token for each row, whose keys and values are written into a cache of S tokens, as a static cache
has it. Projections of queries, keys and values are one product, gate and up another. CUDA graphs of 12 launches, inputs rotated
past three times L2, bursts of 8 ms after a rest of 40 ms in rotating order, then without rest (behind 0.9 s); the weights are to
be larger than L2. Outputs are compared with f64. One line of JSON for each task. What no time is left for is told as such.
"""
import sys

import torch
import torch.nn.functional as F

import mlp_torch


def parse(line):
    words = line.split("#")[0].split()
    if not words or words[0] != "layer":
        return None
    task = dict(word.partition("=")[::2] for word in words[1:])
    heads, kv, size = int(task["HQ"]), int(task["HKV"]), int(task["D"])
    hidden, keys, model = int(task["H"]), int(task["S"]), heads * size
    return {
        "line": " ".join(words),
        "widths": [model, model],
        "multiply_adds": model * (2 * model + 2 * kv * size + 3 * hidden) + 2 * heads * size * keys,
        "heads": heads,
        "kv": kv,
        "size": size,
        "hidden": hidden,
        "keys": keys,
        "dtype": task.get("dtype", "bf16"),
        "seed": int(task.get("seed", "1")),
        "rows": int(task.get("rows") or task["M"]),
    }


def turned(x, cos, sin):
    first, second = x.chunk(2, dim=-1)
    return x * cos + torch.cat((-second, first), dim=-1) * sin


class Layer(torch.nn.Module):
    """With a cache of its own, in which the new token's place is the last."""

    def __init__(self, task):
        super().__init__()
        self.heads, self.kv, self.size, self.keys = task["heads"], task["kv"], task["size"], task["keys"]
        model, hidden, rows = self.heads * self.size, task["hidden"], task["rows"]
        generator = torch.Generator(device="cuda").manual_seed(task["seed"])

        def linear(inputs, outputs):
            layer = torch.nn.Linear(inputs, outputs, bias=False, device="cuda")
            with torch.no_grad():
                layer.weight.normal_(0, inputs ** -0.5, generator=generator)
            return layer

        def buffer(name, *shape):
            self.register_buffer(name, torch.randn(*shape, device="cuda", generator=generator))

        self.qkv = linear(model, model + 2 * self.kv * self.size)
        self.out = linear(model, model)
        self.gate_up = linear(model, 2 * hidden)
        self.down = linear(hidden, model)
        buffer("norm1", model)
        buffer("norm2", model)
        buffer("cache_k", rows, self.kv, self.keys, self.size)
        buffer("cache_v", rows, self.kv, self.keys, self.size)
        angle = (self.keys - 1) * 1e4 ** (-torch.arange(0, self.size, 2, device="cuda") / self.size)
        self.register_buffer("cos", torch.cat((angle, angle)).cos())
        self.register_buffer("sin", torch.cat((angle, angle)).sin())

    def forward(self, x):
        rows = x.shape[0]
        width, narrow = self.heads * self.size, self.kv * self.size
        q, k, v = self.qkv(F.rms_norm(x, x.shape[-1:], self.norm1, 1e-5)).split([width, narrow, narrow], dim=-1)
        q = turned(q.view(rows, self.heads, 1, self.size), self.cos, self.sin)
        k = turned(k.view(rows, self.kv, 1, self.size), self.cos, self.sin)
        self.cache_k[:, :, -1:] = k
        self.cache_v[:, :, -1:] = v.view(rows, self.kv, 1, self.size)
        y = F.scaled_dot_product_attention(q, self.cache_k, self.cache_v, enable_gqa=True)
        h = x + self.out(y.view(rows, width))
        gate, up = self.gate_up(F.rms_norm(h, h.shape[-1:], self.norm2, 1e-5)).chunk(2, dim=-1)
        return h + self.down(F.silu(gate) * up)


if __name__ == "__main__":
    sys.exit(mlp_torch.main(__doc__, parse, Layer))
