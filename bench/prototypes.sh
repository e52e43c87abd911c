#!/usr/bin/env bash
# Verifies and times what was written by hand before the passes that are to make it, on an H100 or H200:
#   prototypes.sh DIST OUT [gemm|pair]   DIST is the unpacked distribution; needs a GPU, and for the pair nvcc
# gemm: products by warpgroups that take turns (kernels/*_pingpong*), beside the tuned kernel, the cooperative one by hand and
#   cuBLAS, all in one process, in turn, each verified whole before: a line each, ratio = time by the tuned kernel's.
# pair: a feed-forward block in two launches that overlap (kernels/ffn_bf16_sm90_pdl_*), beside the same two launched one after
#   the other and cuBLAS's products alone, 15 blocks a graph, a block's result the next one's input, three sets of weights;
#   every block is verified against f64 before and after.
# About three minutes. Exit code 1 if anything is wrong.
set -u
ww=${1:?the unpacked distribution}/bin/warpwright out=${2:?a folder} task=${3-all}
here=$(cd "$(dirname "$0")" && pwd)
kernels=$here/../kernels
mkdir -p "$out" || exit 2
failed=0

if [[ $task != pair ]]; then
  for shape in "M=1024 N=14336 K=4096" "M=4096 N=14336 K=4096" "MNK=4096" "MNK=8192"; do
    echo "== $shape"
    # shellcheck disable=SC2086
    "$ww" perf gemm $shape dtype=bf16 layout=nt --rounds 15 \
      --beside "$kernels/gemm_bf16_sm90.kernel" --beside "$kernels/gemm_bf16_sm90_pingpong.kernel" \
      --beside "$kernels/gemm_bf16_sm90_pingpong_64x256.kernel" \
      --beside "$kernels/gemm_bf16_sm90_pingpong_128x192.kernel" 2>"$out/stderr" | tee -a "$out/gemm.txt"
    code=${PIPESTATUS[0]}
    ((code == 0)) || { failed=1; tail -3 "$out/stderr"; }
  done
fi

if [[ $task != gemm ]]; then
  cublas=$(ldconfig -p | sed -nE 's/.*libcublas\.so\.[0-9]+ .*=> //p' | head -1)
  [[ -n $cublas ]] || cublas=$(find /usr/local /usr/lib /opt -name 'libcublas.so.1*' 2>/dev/null | head -1)
  shared() { awk -v name="$1" '/^\/\/ Grid/ { bytes = $0 } $0 ~ "^" name "\\(" { print bytes }' "$2" |
    sed -nE 's/.* ([0-9]+) bytes of dynamic.*/\1/p'; }
  for file in "$kernels"/ffn_bf16_sm90_pdl_m*.kernel; do
    name=$(basename "$file" .kernel)
    bucket=${name##*_m} up=${name/ffn_/ffn_up_} down=${name/ffn_/ffn_down_}
    "$ww" kernel "$file" --cuda --target sm_90a K1=4096 N1=14336 N2=4096 --out "$out/$name.cu" || exit 1
    nvcc -gencode arch=compute_90a,code=sm_90a -O3 -std=c++17 -fmad=false -Xptxas -v -I"$out" -DKERNELS="\"$name.cu\"" \
      -DBUCKET="$bucket" -DUP="$up" -DDOWN="$down" -DUP_SHARED="$(shared "$up" "$out/$name.cu")" \
      -DDOWN_SHARED="$(shared "$down" "$out/$name.cu")" -o "$out/$name" "$here/prototypes.cu" -ldl >"$out/$name.log" 2>&1 ||
      { cat "$out/$name.log"; exit 3; }
    echo "== $name: $(grep -A3 "Compiling entry function 'ffn" "$out/$name.log" |
      grep -oE '[0-9]+ bytes spill stores|Used [0-9]+ registers' | paste -sd ' ') $(grep -o 'C75[0-9]*' "$out/$name.log" | sort -u | paste -sd ' ')"
    timeout 200 "$out/$name" ${cublas:+"$cublas"} | tee "$out/$name.txt"
    ((PIPESTATUS[0] == 0)) || failed=1
  done
fi
exit $failed
