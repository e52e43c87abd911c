#!/usr/bin/env bash
# What limits a network in f32 by fma? 64-64-64-64-64 by hand in 39 variants: elements a thread, warps, steps of K written out, fma alone or
# with reads of rows or weights alone, layers in a loop or one after another.
#   fma-networks.sh OUT [ROUNDS]   needs an H100 or H200 and nvcc; 20 s
# Each variant's result is compared element by element with a plain kernel's, and that with double precision; also for 1000003 rows.
# Exit code 1 if anything is wrong.
set -u
out=${1:?a folder} rounds=${2:-9}
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$out" || exit 2
nvcc -O3 -std=c++17 -fmad=false -gencode arch=compute_90a,code=sm_90a -o "$out/fma-networks" "$here/fma-networks.cu" || exit 2
timeout 60 "$out/fma-networks" 0 1000003 || exit 1
timeout 120 "$out/fma-networks" "$rounds" | tee "$out/fma-networks.txt"
exit "${PIPESTATUS[0]}"
