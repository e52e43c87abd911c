#!/usr/bin/env bash
# How soon does the search find fast kernels? Tunes GEMMs of which there are no records, with each way to choose candidates
# and several seeds, and prints how far the best was after so many trials and seconds; writes the curves as SVG. Usage:
#
#   bench/search.sh OUT [trials=64] [seeds=2] [search.txt]
#
# The last is a file of tasks. WAYS names some of the ways only: random, analytic (no learning), learning, usual (which begins with
# neighbours' records). WARPWRIGHT may name another warpwright than the repository's. Runs side by side on all GPUs, among
# which the cores are divided.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
out=${1:?where to}
trials=${2:-64}
seeds=${3:-2}
tasks=${4:-$root/bench/search-shapes.txt}
warpwright=${WARPWRIGHT:-$root/warpwright}
mkdir -p "$out"
gpus=$(nvidia-smi --list-gpus | wc -l)
cores=$(($(nproc) / gpus))

# Searches on one GPU, one after the other, each with a database of its own.
on_gpu() {
  local gpu=$1 way
  shift
  for way in "$@"; do
    local name=${way%%:*} keys=${way#*:}
    sed -E "/^gemm/ s/\$/ t=$trials $keys/" "$tasks" >"$out/$name.txt"
    rm -f "$out/$name.db"*
    CUDA_VISIBLE_DEVICES=$gpu taskset -c "$((gpu * cores))-$(((gpu + 1) * cores - 1))" \
      "$warpwright" tune --file "$out/$name.txt" --db "$out/$name.db" \
      -o "$out/$name" --json >"$out/$name.json" 2>"$out/$name.log" || echo "$name failed, see $out/$name.log" >&2
    rm -rf "$out/$name.db"* "${out:?}/$name"
  done
}

declare -A options=(
  [random]='search=random transfer=0' [analytic]='model=0 transfer=0' [learning]='transfer=0' [usual]='')
ways=()
for way in ${WAYS:-random analytic learning usual}; do
  for ((seed = 1; seed <= seeds; seed++)); do
    ways+=("$way-$seed:${options[$way]} seed=$seed")
  done
done
for ((gpu = 0; gpu < gpus; gpu++)); do
  mine=()
  for ((i = gpu; i < ${#ways[@]}; i += gpus)); do
    mine+=("${ways[i]}")
  done
  on_gpu "$gpu" "${mine[@]}" &
done
wait
python3 "$root/bench/search.py" "$out"
