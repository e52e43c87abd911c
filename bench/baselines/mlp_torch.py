#!/usr/bin/env python3
"""Fully connected networks in PyTorch, eager and by torch.compile, measured as 'warpwright perf mlp' measures its own.

    mlp_torch.py [--seconds N] [--rounds N] [--eager-only] FILE

FILE has a task on each line, as 'warpwright perf --file' takes it: mlp widths=64,64,64 act=relu dtype=f16 rows=1048576.
CUDA graphs of 12 launches, inputs rotated past three times L2, bursts of 8 ms after a rest of 40 ms in rotating order, then
without rest (behind 0.9 s); weights and inputs are random, scaled as ours; outputs are compared with f64, on drawn rows
where there are many. One line of JSON for each task. What no time is left for is told as such.
"""
import argparse
import json
import math
import statistics
import sys
import time

import torch

LAUNCHES = 12
TYPES = {"f16": torch.float16, "bf16": torch.bfloat16, "tf32": torch.float32, "f32": torch.float32}
TOLERANCES = {"f16": 4e-3, "bf16": 2e-2, "tf32": 2e-3, "f32": 3e-6}
CHECKED = 4096
ACTIVATIONS = {
    "relu": torch.relu,
    "gelu": torch.nn.functional.gelu,
    "silu": torch.nn.functional.silu,
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "softplus": torch.nn.functional.softplus,
    "sin": torch.sin,
    "none": lambda x: x,
}


def parse(line):
    words = line.split("#")[0].split()
    if not words or words[0] != "mlp":
        return None
    task = {"act": "relu", "dtype": "f16", "bias": "0", "seed": "1"}
    for word in words[1:]:
        key, _, value = word.partition("=")
        task[key] = value
    return {
        "line": " ".join(words),
        "widths": [int(w) for w in task["widths"].split(",")],
        "act": task["act"],
        "dtype": task["dtype"],
        "bias": task["bias"] == "1",
        "seed": int(task["seed"]),
        "rows": int(task.get("rows") or task["M"]),
    }


class Network(torch.nn.Module):
    def __init__(self, task):
        super().__init__()
        widths, act = task["widths"], ACTIVATIONS[task["act"]]
        self.act = act
        generator = torch.Generator().manual_seed(task["seed"])
        self.layers = torch.nn.ModuleList()
        z = torch.randn(1 << 16, generator=generator)
        square = 1.0
        for k, n in zip(widths, widths[1:]):
            layer = torch.nn.Linear(k, n, bias=task["bias"])
            with torch.no_grad():
                layer.weight.copy_(torch.randn(n, k, generator=generator) / math.sqrt(k * square))
                if task["bias"]:
                    layer.bias.copy_(0.1 * torch.randn(n, generator=generator))
            square = float(act(z).square().mean())
            self.layers.append(layer)

    def forward(self, x):
        for layer in self.layers[:-1]:
            x = self.act(layer(x))
        return self.layers[-1](x)


class Contestant:
    """Graphs of 12 launches that together go through all inputs."""

    def __init__(self, name, call, inputs):
        self.name = name
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            for _ in range(3):
                call(inputs[0])
        torch.cuda.current_stream().wait_stream(side)
        torch.cuda.synchronize()
        self.graphs, self.outputs = [], []
        pool = torch.cuda.graph_pool_handle()
        for g in range((len(inputs) + LAUNCHES - 1) // LAUNCHES):
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, pool=pool):
                for i in range(LAUNCHES):
                    out = call(inputs[(g * LAUNCHES + i) % len(inputs)])
            # The last output of a graph is what is compared; the others are overwritten, as in a pool.
            self.outputs.append((out, (g * LAUNCHES + LAUNCHES - 1) % len(inputs)))
            self.graphs.append(graph)
        self.next = 0
        self.run(1)
        self.burst = max(1, int(8e3 / (min(self.run(2), self.run(2)) * LAUNCHES)))

    def run(self, count):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        for _ in range(count):
            self.graphs[self.next % len(self.graphs)].replay()
            self.next += 1
        end.record()
        end.synchronize()
        return start.elapsed_time(end) * 1e3 / (count * LAUNCHES)

    def sustained(self):
        count, began, times = 4 * self.burst, time.monotonic(), []
        while time.monotonic() - began < 1.5:
            micros = self.run(count)
            if time.monotonic() - began > 0.9:
                times.append(micros)
        return statistics.median(times) if times else micros

    def error(self, network64, inputs):
        self.next = 0
        self.run(1)
        out, which = self.outputs[0]
        count = out.shape[0]
        rows = torch.arange(count, device=out.device) if count <= CHECKED else torch.randint(
            0, count, (CHECKED,), device=out.device)
        expected = network64(inputs[which][rows].double())
        return float((out[rows].double() - expected).norm() / expected.norm())


def measure(task, make, rounds, modes):
    dtype = TYPES[task["dtype"]]
    torch.backends.cuda.matmul.allow_tf32 = task["dtype"] == "tf32"
    torch.manual_seed(task["seed"])
    network = make(task).to("cuda", dtype).eval()
    # In f64, with the weights as they were rounded.
    network64 = make(task).to("cuda", dtype).double().eval()
    widths, rows = task["widths"], task["rows"]
    bytes_of = (widths[0] + widths[-1]) * rows * torch.finfo(dtype).bits // 8
    l2 = torch.cuda.get_device_properties(0).L2_cache_size
    sets = min(4096, max(2, -(-3 * l2 // bytes_of)))
    inputs = [torch.randn(rows, widths[0], device="cuda", dtype=dtype) for _ in range(sets)]
    flops = 2.0 * rows * task.get("multiply_adds", sum(k * n for k, n in zip(widths, widths[1:])))
    contestants, failures = [], []
    for name in modes:
        try:
            call = network if name == "torch eager" else torch.compile(
                network, mode="max-autotune-no-cudagraphs", dynamic=False)
            contestants.append(Contestant(name, call, inputs))
        except Exception as e:  # whatever a compiler throws costs this one only
            failures.append({"name": name, "failure": str(e).splitlines()[0][:200] if str(e) else repr(e)})
    bursts = {c.name: [] for c in contestants}
    for r in range(rounds + 1):
        for i in range(len(contestants)):
            c = contestants[(r + (i if r % 2 == 0 else -i)) % len(contestants)]
            time.sleep(0.04)
            micros = c.run(c.burst)
            if r > 0:
                bursts[c.name].append(micros)
    results = []
    for c in contestants:
        times = sorted(bursts[c.name])
        median = statistics.median(times)
        error = c.error(network64, inputs)
        results.append({
            "name": c.name,
            "timeUs": median,
            "spread": {"lowUs": times[len(times) // 4], "highUs": times[(3 * len(times)) // 4], "minUs": times[0]},
            "sustainedUs": c.sustained(),
            "tflops": flops / median / 1e6,
            "gbps": bytes_of / median / 1e3,
            "relError": error,
            "verified": error <= TOLERANCES[task["dtype"]],
        })
    return results + failures, sets


def main(description, parse_line, make):
    options = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("file")
    options.add_argument("--seconds", type=float, default=1e9, help="begin no task after so long")
    options.add_argument("--rounds", type=int, default=9)
    options.add_argument("--eager-only", action="store_true")
    given = options.parse_args()
    if not torch.cuda.is_available():
        sys.exit("PyTorch sees no GPU")
    modes = ["torch eager"] if given.eager_only else ["torch eager", "torch.compile"]
    began = time.monotonic()
    wrong = False
    with open(given.file, encoding="utf-8") as lines:
        tasks = [t for t in map(parse_line, lines) if t]
    for task in tasks:
        document = {"workload": task["line"], "torch": torch.__version__, "device": torch.cuda.get_device_name(0)}
        if time.monotonic() - began > given.seconds:
            document["skipped"] = "no time left"
        else:
            try:
                with torch.no_grad():
                    document["peers"], document["sets"] = measure(task, make, given.rounds, modes)
                wrong |= any(p.get("verified") is False for p in document["peers"])
            except Exception as e:
                document["failure"] = str(e).splitlines()[0][:200] if str(e) else repr(e)
            torch.compiler.reset()
            torch.cuda.empty_cache()
        print(json.dumps(document), flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(__doc__, parse, Network))
