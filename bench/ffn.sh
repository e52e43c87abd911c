#!/usr/bin/env bash
# Feed-forward blocks as `run` computes them, verified whole and timed, on an H100 or H200:
#   ffn.sh DIST OUT    DIST is the unpacked distribution; a line of JSON a block in OUT/ffn.jsonl
# Plain and gated blocks of 4096 -> 14336 -> 4096 in bf16 at 1 to 4096 rows, in bursts and without rest. Beside them what `plan` expects.
# About four minutes. Exit code 1 if anything is wrong.
set -u
ww=${1:?the unpacked distribution}/bin/warpwright out=${2:?a folder}
mkdir -p "$out" || exit 2
: >"$out/ffn.jsonl"
failed=0
for gated in 0 1; do
  for rows in 1 16 64 256 1024 4096; do
    block=(ffn "M=$rows" D=4096 H=14336 "gated=$gated" dtype=bf16)
    echo "== ${block[*]}"
    "$ww" plan "${block[@]}" --target sm_90a 2>>"$out/stderr" | tail -3
    if "$ww" perf "${block[@]}" --json 2>>"$out/stderr" >"$out/one.json"; then
      cat "$out/one.json" >>"$out/ffn.jsonl"
      sed -nE 's/.*"timeUs": *([0-9.]+).*"relError": *([0-9.e-]+).*/  \1 us, relative error \2/p' "$out/one.json" | head -1
    else
      failed=1
      tail -2 "$out/stderr"
    fi
  done
done
exit "$failed"
