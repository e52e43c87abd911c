#!/usr/bin/env bash
# What of a process's growth with each model that is loaded on a GPU, called and closed is the CUDA driver's: its calls alone, 10^4 of
# each stage, a process for each. See bench/growth.c.
# Usage: bench/growth.sh [OUT [ITERATIONS [STAGE…]]]; needs nvcc, a C compiler and a GPU (ARCH, by default sm_90). OUT/growth.txt has
# KiB of the process, KiB that malloc gave and did not get back, mappings, and KiB of the GPU's memory in use: before, after a tenth
# of the iterations, after all, after malloc_trim(0); and bytes an iteration.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
out=${1:-growth-out} iterations=${2:-10000} arch=${ARCH:-sm_90}
cuda=${CUDA_HOME:-/usr/local/cuda}
mkdir -p "$out"
cat >"$out/growth.cu" <<'CUDA'
extern "C" __global__ void scale(const float* x, float* y, const float* a, const float* b, const float* c) {
  float sum = x[threadIdx.x % 64];
#pragma unroll
  for (int i = 0; i < STEPS; i++) sum = sum * a[i] + b[i % 64] * c[i % 32];
  y[threadIdx.x % 64] = sum;
}
CUDA
nvcc -cubin -arch="$arch" -DSTEPS=64 "$out/growth.cu" -o "$out/small.cubin"
nvcc -cubin -arch="$arch" -DSTEPS=4096 "$out/growth.cu" -o "$out/large.cubin"
"${CC:-cc}" -O2 -Wall -I"$cuda/include" "$here/growth.c" -o "$out/growth" -ldl
if (($# > 2)); then
  stages=("${@:3}")
else
  mapfile -t stages < <("$out/growth")
fi
{
  nvidia-smi --query-gpu=name,driver_version --format=csv,noheader || true
  printf '%-18s %-12s %10s %10s %8s %10s\n' stage when process malloc maps GPU
  for stage in "${stages[@]}"; do
    "$out/growth" "$stage" "$out/small.cubin" "$iterations"
  done
  echo "of machine code of $(stat -c %s "$out/large.cubin") bytes, not $(stat -c %s "$out/small.cubin"):"
  "$out/growth" module "$out/large.cubin" "$iterations"
  echo "with one arena of malloc:"
  MALLOC_ARENA_MAX=1 "$out/growth" model "$out/small.cubin" "$iterations"
} | tee "$out/growth.txt"
