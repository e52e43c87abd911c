#!/usr/bin/env python3
"""Sets predicted counters beside measured ones: tables in Markdown, then how many are within the bounds.

Usage: counters.py MEASURED_FOLDER PREDICTED_FOLDER, folders that bench/counters.sh wrote without and with --predict.
Exit code 1 if a bound is missed.
"""

import csv
import json
import pathlib
import statistics
import sys

NAMES = {
    "sm90-2048": "gemm_bf16_sm90 2048³",
    "sm90-4096": "gemm_bf16_sm90 4096³ grouped:8",
    "sm90-4096-row": "gemm_bf16_sm90 4096³ row",
    "sm90-4096-column": "gemm_bf16_sm90 4096³ column",
    "sm90-4096-hilbert": "gemm_bf16_sm90 4096³ hilbert",
    "sm80-1024": "gemm_bf16_sm80 1024³",
    "sm80-4096": "gemm_bf16_sm80 4096³ grouped:8",
    "sm80-4096-row": "gemm_bf16_sm80 4096³ row",
    "simt-1024": "gemm_f32_simt 1024³",
    "simt-2048": "gemm_f32_simt 2048³",
    "m16": "gemm_bf16_sm90_m16 16×14336×4096",
    "skinny": "gemm_bf16_sm90_skinny 64×14336×4096",
    "digits-f16": "digits-relu-128-64 f16",
    "digits-f32": "digits-relu-128-64 f32",
    "siren-f16": "image-siren-64x4 f16",
    "siren-tf32": "image-siren-64x4 tf32",
    "residual-bf16": "ffn-gelu-residual-128 bf16",
    "swiglu-f16": "ffn-swiglu-128-352 f16",
    "ladder-1024": "ladder 1024³: ",
    "ladder-2048": "ladder 2048³: ",
}
GLOBAL = "l1tex__t_sectors_pipe_lsu_mem_global_op_"
SHARED = "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_"
L2_BOUND = CONFLICTS_BOUND = 0.05
DRAM_MEDIAN, DRAM_WORST = 0.10, 0.25


def launches(path):
    """The launches of one file of ncu's raw page: kernel name and metrics in bytes, sectors, wavefronts."""
    rows = [row for row in csv.reader(path.open()) if len(row) > 10]
    names, units = rows[0], rows[1]
    scale = {"Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9, "usecond": 1e3, "us": 1e3, "ms": 1e6}
    for row in rows[2:]:
        values = {}
        for name, unit, value in zip(names, units, row):
            try:
                values[name] = float(value.replace(",", "")) * scale.get(unit, 1)
            except ValueError:
                pass
        yield row[names.index("Kernel Name")], values


def pairs(measured, predicted):
    """Name, measured and predicted counters of each kernel of each case that both folders have."""
    for case, name in NAMES.items():
        if not (measured / f"{case}.csv").exists() or not (predicted / f"{case}.json").exists():
            print(f"{case}: not in both folders", file=sys.stderr)
            continue
        seen = dict(launches(measured / f"{case}.csv"))
        for kernel in json.loads((predicted / f"{case}.json").read_text())["kernels"]:
            found = [v for k, v in seen.items() if k.split("(")[0] == kernel["name"]]
            if len(found) != 1:
                sys.exit(f"{case}: {kernel['name']} is among {sorted(seen)} {len(found)} times")
            rung = kernel["name"].removeprefix("matmul_").replace("_", "-")
            yield name + (rung if name.endswith(": ") else ""), found[0], kernel


def figure(value):
    return f"{value / 1e6:.4g} M" if value >= 1e6 else f"{value:.0f}"


def off(predicted, measured):
    """Relative error; where nothing was measured, anything predicted is an error without bound."""
    return 0.0 if predicted == measured else predicted / measured - 1 if measured else float("inf")


def cells(predicted, measured):
    return f"{figure(predicted)} | {figure(measured)} | {100 * off(predicted, measured):+.1f} %"


def main(measured, predicted):
    loads, stores, read, written, l2, dram, conflicts = ({} for _ in range(7))
    print(
        "| kernel | L2 → L1, bytes | measured | | L1 → L2, bytes | measured | | DRAM read, bytes | measured | "
        "| µs by counters | measured | bound |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|---|---|")
    kernels = list(pairs(measured, predicted))
    for name, seen, kernel in kernels:
        counters = kernel["counters"]
        bytes_l2 = seen["l1tex__m_xbar2l1tex_read_bytes.sum"]
        bytes_write = seen["l1tex__m_l1tex2xbar_write_bytes.sum"]
        bytes_dram = seen["dram__bytes_read.sum"]
        asked = counters["globalLoadSectors"] + counters["asyncLoadSectors"]
        loads[name] = off(asked, seen[GLOBAL + "ld.sum"])
        stores[name] = off(counters["globalStoreSectors"], seen[GLOBAL + "st.sum"])
        read[name] = off(counters["l2ToL1Bytes"], bytes_l2)
        written[name] = off(counters["l2WriteBytes"], bytes_write)
        l2[name] = off(counters["l2ToL1Bytes"] + counters["l2WriteBytes"], bytes_l2 + bytes_write)
        dram[name] = off(counters["dramReadBytes"], bytes_dram)
        micros = seen["gpu__time_duration.sum"] / 1e3
        print(
            f"| {name} | {cells(counters['l2ToL1Bytes'], bytes_l2)} | {cells(counters['l2WriteBytes'], bytes_write)} "
            f"| {cells(counters['dramReadBytes'], bytes_dram)} | {kernel['predictedUs']:.1f} | {micros:.1f} | {kernel['leastUs']:.1f} |"
        )
    print()
    print("| kernel | wavefronts of shared loads | measured | | of these conflicts | of shared stores | measured | | of these conflicts |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name, seen, kernel in kernels:
        counters = kernel["counters"]
        ours = counters["sharedLoadWavefronts"], counters["sharedStoreWavefronts"]
        theirs = seen[SHARED + "ld.sum"] + seen[SHARED + "ldsm.sum"], seen[SHARED + "st.sum"] + seen[SHARED + "stsm.sum"]
        if not any(ours + theirs):
            continue
        conflicts[name + ", loads"] = off(ours[0], theirs[0])
        conflicts[name + ", stores"] = off(ours[1], theirs[1])
        print(
            f"| {name} | {cells(ours[0], theirs[0])} | {figure(counters['sharedLoadConflicts'])} "
            f"| {cells(ours[1], theirs[1])} | {figure(counters['sharedStoreConflicts'])} |"
        )
    print()
    misses = 0
    for what, errors, bound in (
        ("sectors that loads ask for", loads, None),
        ("sectors that stores ask for", stores, None),
        ("L2 → L1", read, None),
        ("L1 → L2", written, None),
        ("L2, both ways", l2, L2_BOUND),
        ("wavefronts of shared memory", conflicts, CONFLICTS_BOUND),
    ):
        over = {name: error for name, error in errors.items() if abs(error) > (bound or L2_BOUND)}
        misses += len(over) if bound else 0
        print(f"{what}: {len(errors) - len(over)} of {len(errors)} within {100 * (bound or L2_BOUND):.0f} %")
        for name, error in over.items():
            print(f"  {name}: {100 * error:+.1f} %")
    sizes = [abs(error) for error in dram.values()]
    median, worst = statistics.median(sizes), max(sizes)
    misses += (median > DRAM_MEDIAN) + (worst > DRAM_WORST)
    print(f"DRAM read: {len(sizes)} kernels, median {100 * median:.2f} %, worst {100 * worst:.2f} %")
    return 1 if misses else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])))
