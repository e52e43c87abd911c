#!/usr/bin/env python3
"""A feed-forward block split over GPUs in PyTorch with NCCL, measured as 'warpwright perf ffn … --gpus N' measures its own.

    tensor_parallel_torch.py [--gpus N] [--rounds N] D H M [M …]

The first layer is split by columns, the second by rows of its weight, bf16, GELU between; results are added by all_reduce, in one piece and
in two parts of the rows of which one is added while the next is computed. A process a GPU; CUDA graphs (eager where the capture fails),
bursts of 10 runs, medians; one GPU with the whole block in the same run. Compared with f64 on drawn rows. One line of JSON for each M.
"""
import argparse
import json
import os
import statistics
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

RUNS = 10
CHECKED = 16


def timed(work, rounds):
    """Microseconds of a run, by a graph if it can be captured, and how."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            work()
    torch.cuda.current_stream().wait_stream(side)
    torch.cuda.synchronize()
    how = "graph"
    try:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            work()
        run = graph.replay
    except RuntimeError:
        how, run = "eager", work
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    micros = []
    for burst in range(rounds + 1):
        if dist.get_world_size() > 1:
            dist.barrier()
        torch.cuda.synchronize()
        start.record()
        for _ in range(RUNS):
            run()
        end.record()
        torch.cuda.synchronize()
        if burst:
            micros.append(start.elapsed_time(end) * 1e3 / RUNS)
    return statistics.median(micros), how


def block(x, up, down, out):
    torch.mm(torch.nn.functional.gelu(x @ up.t()), down.t(), out=out)


def worker(rank, given, port, result):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", rank=rank, world_size=given.gpus)
    generator = torch.Generator(device="cuda").manual_seed(1)
    d, h, share = given.D, given.H, given.H // given.gpus

    def random(*shape):
        return torch.randn(*shape, device="cuda", dtype=torch.bfloat16, generator=generator)

    up, down = random(h, d).mul_(d**-0.5), random(d, h).mul_(h**-0.5)
    own_up = up[rank * share : (rank + 1) * share].contiguous()
    own_down = down[:, rank * share : (rank + 1) * share].contiguous()
    side = torch.cuda.Stream()
    for m in given.M:
        x, out = random(m, d), torch.empty(m, d, device="cuda", dtype=torch.bfloat16)

        def whole():
            block(x, own_up, own_down, out)
            dist.all_reduce(out)

        def halves():
            here = torch.cuda.current_stream()
            for part, sum_of in zip(x.chunk(2), out.chunk(2)):
                block(part, own_up, own_down, sum_of)
                side.wait_stream(here)
                with torch.cuda.stream(side):
                    dist.all_reduce(sum_of)
            here.wait_stream(side)

        line = {"name": "torch " + torch.__version__, "nccl": ".".join(map(str, torch.cuda.nccl.version())),
                "device": torch.cuda.get_device_name(), "gpus": given.gpus, "D": d, "H": h, "M": m, "ways": []}
        one, how = timed(lambda: block(x, up, down, out), given.rounds)
        line["oneGpuUs"], line["oneGpuHow"] = one, how
        for name, work in (("whole", whole), ("two parts", halves)):
            if m < 2 * given.gpus and work is halves:
                continue
            micros, how = timed(work, given.rounds)
            out.fill_(float("nan"))
            work()
            torch.cuda.synchronize()
            rows = torch.randint(m, (CHECKED,), device="cuda", generator=generator)
            hidden = torch.nn.functional.gelu(x[rows].double() @ up.double().t())
            right = hidden @ down.double().t()
            error = ((out[rows].double() - right).norm() / right.norm()).item()
            line["ways"].append({"way": name, "how": how, "timeUs": micros, "ratio": micros / one,
                                 "relError": error, "verified": error <= 2e-2})
            del hidden, right
            torch.cuda.empty_cache()
        if rank == 0:
            result.put(line)
    dist.barrier()
    dist.destroy_process_group()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gpus", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--port", type=int, default=29517)
    parser.add_argument("D", type=int)
    parser.add_argument("H", type=int)
    parser.add_argument("M", type=int, nargs="+")
    given = parser.parse_args()
    if torch.cuda.device_count() < given.gpus:
        sys.exit(f"{given.gpus} GPUs are needed, there are {torch.cuda.device_count()}")
    if given.H % given.gpus:
        sys.exit(f"H={given.H} is no multiple of {given.gpus}")
    result = mp.get_context("spawn").SimpleQueue()
    context = mp.spawn(worker, (given, given.port, result), given.gpus, join=False)
    wrong = False
    for _ in given.M:
        while result.empty() and not context.join(timeout=0.2):
            pass
        if result.empty():
            sys.exit("a process ended early")
        line = result.get()
        wrong |= not all(way["verified"] for way in line["ways"])
        print(json.dumps(line), flush=True)
    while not context.join():
        pass
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
