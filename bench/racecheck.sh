#!/usr/bin/env bash
# Plants mistakes into kernels, prints them as CUDA and runs each under compute-sanitizer's racecheck, beside the simulator's
# verdict. Run it where the folders kernels/ and models/ lie, with nvcc and a GPU of compute capability 9.0.
# Usage: racecheck.sh DIST_FOLDER OUT_FOLDER; writes OUT_FOLDER/race.txt, and NAME.json for each program.
set -u
ww=$1/bin/warpwright
out=$2
mkdir -p "$out"

# program NAME ARGUMENTS...
program() {
  local name=$1
  shift
  "$ww" check "$@" --seed 7 --emit "$out/$name" --json >"$out/$name.json" || echo "$name: a mistake was missed"
  nvcc -O1 -fmad=false -arch=sm_90a -o "$out/$name/mutants" "$out/$name"/*.cu
  for i in $(seq 0 $(($(grep -c '^static bool launch_' "$out/$name"/*.cu) - 1))); do
    timeout 60 compute-sanitizer --tool racecheck --racecheck-report analysis --show-backtrace no --print-limit 200 \
      "$out/$name/mutants" "$i" 1 >"$out/$name/$i.txt" 2>&1
    echo "$name $i errors $(grep -c 'Error: Race' "$out/$name/$i.txt") warnings $(grep -c 'Warning: Race' "$out/$name/$i.txt")"
  done | tee -a "$out/race.txt"
}

: >"$out/race.txt"
program simt kernels/gemm_f32_simt.kernel --mutants 4 M=150 N=136 K=44
program sm80 kernels/gemm_bf16_sm80.kernel --mutants 4 M=150 N=136 K=328
program digits-f32 models/digits-relu-128-64/model.onnx --precision f32 --mutants 3 --batch 70
program digits-f16 models/digits-relu-128-64/model.onnx --precision f16 --mutants 3 --batch 70
program picture-bf16 models/image-siren-64x4/model.onnx --precision bf16 --mutants 3 --batch 70
program tabular-tf32 models/tabular-tanh-sigmoid/model.onnx --precision tf32 --mutants 3 --batch 70
program residual-f16 models/ffn-gelu-residual-128/model.onnx --precision f16 --mutants 2 --batch 70
