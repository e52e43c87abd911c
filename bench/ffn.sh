#!/usr/bin/env bash
# Feed-forward blocks, or decoder layers, as `run` computes them, verified whole, beside what people would use, on an H100 or H200:
#   ffn.sh WARPWRIGHT OUT [TASKS]
# WARPWRIGHT is the command; OUT a folder for what is said, as JSON and as a table; TASKS a file of blocks, by default ffn.txt beside
# this script, or layer.txt. Ours and cuBLASLt (a GEMM a layer with its epilogues, the fastest of its suggestions) take turns in one process;
# PyTorch, eager and compiled, follows. All in CUDA graphs of 12 launches, in bursts of 8 ms after a rest of 40 ms. From the environment:
#   PERF           more options for 'perf', by default --bursts; with PERF= it is timed without rest too
#   SECONDS_TORCH  begin no block in PyTorch after so many seconds (180); 0: without PyTorch
#   PYTHON         with PyTorch (python3)
# Exit code 1 if any result is wrong, 3 if ours could not be measured.
set -u
ww=${1:?the command warpwright} out=${2:?a folder}
here=$(cd "$(dirname "$0")" && pwd)
tasks=${3:-$here/ffn.txt}
mkdir -p "$out" || exit 2
kind=ffn
grep -q '^layer ' "$tasks" && kind=layer
# shellcheck disable=SC2086
"$ww" perf --file "$tasks" --json ${PERF---bursts} >"$out/warpwright.json" 2>"$out/warpwright.log"
code=$?
[[ $code == 0 ]] || tail -n 3 "$out/warpwright.log" >&2
python=${PYTHON:-python3} limit=${SECONDS_TORCH:-180}
rm -f "$out/torch.jsonl"
if [[ $limit != 0 ]] && "$python" -c 'import torch' 2>/dev/null; then
  timeout $((limit + 60)) "$python" "$here/baselines/${kind}_torch.py" --seconds "$limit" "$tasks" >"$out/torch.jsonl" 2>"$out/torch.log" ||
    echo "${kind}_torch.py: exit code $?; see $out/torch.log" >&2
else
  echo "without PyTorch" >&2
fi
"$python" "$here/ffn.py" "$out" | tee "$out/table.txt"
exit "$code"
