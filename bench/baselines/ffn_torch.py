#!/usr/bin/env python3
"""Feed-forward blocks in PyTorch, eager and by torch.compile, measured as 'warpwright perf ffn' measures its own.

    ffn_torch.py [--seconds N] [--rounds N] [--eager-only] FILE

FILE has a task on each line, as 'warpwright perf --file' takes it: ffn M=16 D=4096 H=14336 gated=1 dtype=bf16.
CUDA graphs of 12 launches, inputs rotated past three times L2, bursts of 8 ms after a rest of 40 ms in rotating order, then
without rest (behind 0.9 s); weights and inputs are random, scaled as ours; outputs are compared with f64, on drawn rows
where there are many. One line of JSON for each task. What no time is left for is told as such.
"""
import sys

import torch

import mlp_torch


def parse(line):
    words = line.split("#")[0].split()
    if not words or words[0] != "ffn":
        return None
    task = dict(word.partition("=")[::2] for word in words[1:])
    gated = task.get("gated", task.get("gate", "0")) == "1"
    model, hidden = int(task.get("D") or task["K"]), int(task.get("H") or task["N"])
    return {
        "line": " ".join(words),
        "widths": [model, model],
        "multiply_adds": model * hidden * (3 if gated else 2),
        "model": model,
        "hidden": hidden,
        "gated": gated,
        "act": task.get("act", "silu" if gated else "gelu"),
        "dtype": task.get("dtype", "bf16"),
        "bias": task.get("bias", "0") == "1",
        "seed": int(task.get("seed", "1")),
        "rows": int(task.get("M") or task["rows"]),
    }


class Block(torch.nn.Module):
    """Both projections of a gate are one product, as people who care compute them."""

    def __init__(self, task):
        super().__init__()
        self.act = mlp_torch.ACTIVATIONS[task["act"]]
        self.gated = task["gated"]
        generator = torch.Generator(device="cuda").manual_seed(task["seed"])
        model, hidden, bias = task["model"], task["hidden"], task["bias"]
        with torch.device("cuda"):
            self.up = torch.nn.Linear(model, hidden * (2 if self.gated else 1), bias=bias)
            self.down = torch.nn.Linear(hidden, model, bias=bias)
        with torch.no_grad():
            for layer in (self.up, self.down):
                layer.weight.normal_(0, layer.in_features ** -0.5, generator=generator)
                if bias:
                    layer.bias.normal_(0, 0.1, generator=generator)

    def forward(self, x):
        h = self.up(x)
        if self.gated:
            gate, up = h.chunk(2, dim=-1)
            return self.down(self.act(gate) * up)
        return self.down(self.act(h))


if __name__ == "__main__":
    sys.exit(mlp_torch.main(__doc__, parse, Block))
