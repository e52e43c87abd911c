#!/usr/bin/env bash
# Whole networks beside PyTorch and tiny-cuda-nn, in one run on one GPU, in less than 8 minutes:
#   networks.sh WARPWRIGHT OUT [TASKS]
# WARPWRIGHT is the command; OUT a folder for what is said, as JSON and as a table; TASKS a file of networks, by default
# networks.txt beside this script. All are measured in CUDA graphs of 12 launches, inputs rotated past three times L2, in bursts
# of 8 ms after a rest of 40 ms and without rest, and verified. From the environment:
#   PERF       more options for 'perf', for example --all or --untuned
#   SECONDS_TORCH  begin no network in PyTorch after so many seconds (180); 0: without PyTorch
#   PYTHON     with PyTorch (python3)
#   TCNN       the driver of baselines/tiny-cuda-nn, built; without it tiny-cuda-nn is left out
# Exit code 1 if any result is wrong, 3 if ours could not be measured.
set -u
ww=${1:?the command warpwright} out=${2:?a folder}
here=$(cd "$(dirname "$0")" && pwd)
tasks=${3:-$here/networks.txt}
mkdir -p "$out" || exit 2
code=0
# shellcheck disable=SC2086
timeout 300 "$ww" perf --file "$tasks" --json ${PERF-} >"$out/warpwright.json" 2>"$out/warpwright.log"
ours=$?
if [[ $ours != 0 ]]; then
  code=$ours
  tail -n 3 "$out/warpwright.log" >&2
fi
python=${PYTHON:-python3} limit=${SECONDS_TORCH:-180}
rm -f "$out/torch.jsonl" "$out/tcnn.jsonl"
if [[ $limit != 0 ]] && "$python" -c 'import torch' 2>/dev/null; then
  timeout $((limit + 60)) "$python" "$here/baselines/mlp_torch.py" --seconds "$limit" "$tasks" >"$out/torch.jsonl" 2>"$out/torch.log" ||
    echo "mlp_torch.py: exit code $?; see $out/torch.log" >&2
else
  echo "without PyTorch" >&2
fi
if [[ -n ${TCNN-} ]]; then
  timeout 90 "$TCNN" "$tasks" >"$out/tcnn.jsonl" 2>"$out/tcnn.log" || echo "tiny-cuda-nn: exit code $?; see $out/tcnn.log" >&2
fi
"$python" "$here/networks.py" "$out" | tee "$out/table.txt"
exit "$code"
