#!/usr/bin/env bash
# Networks of 512 features and few rows: chained in clusters of eight blocks by hand, beside a GEMM a layer as Warpwright exports them.
#   cluster-chain.sh OUT   needs an H100 or H200 and nvcc; a minute
# From the environment:
#   WARPWRIGHT  another warpwright than the repository's
# Exit code 1 if anything is wrong.
set -u
out=${1:?a folder}
here=$(cd "$(dirname "$0")" && pwd)
warpwright=${WARPWRIGHT:-$here/../warpwright}
mkdir -p "$out" || exit 2
nvcc -O3 -std=c++17 -gencode arch=compute_90a,code=sm_90a -o "$out/cluster-chain" "$here/cluster-chain.cu" || exit 2
failed=0
for layers in 4 12; do
  widths=512$(printf ',512%.0s' $(seq "$layers"))
  for rows in 64 256 1024; do
    "$out/cluster-chain" "$rows" "$layers" || failed=1
    folder=$out/gemms-$layers-$rows
    "$warpwright" export mlp widths="$widths" act=relu dtype=f16 rows="$rows" --target sm_90a --force --out "$folder" >"$out/log" 2>&1 &&
      (cd "$folder" && nvcc -gencode=arch=compute_90a,code=sm_90a -std=c++17 -fmad=false -O3 -o mlp main.cu && ./mlp | tail -1) || failed=1
  done
done
exit "$failed"
