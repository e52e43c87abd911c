#!/usr/bin/env bash
# A feed-forward block on two GPUs of a host beside one of them, and beside PyTorch with NCCL in the same run:
#   tensor-parallel.sh WARPWRIGHT OUT [M …]
# WARPWRIGHT is the command; OUT a folder for what is said; M row counts, by default 16 and 4096. Every result is
# verified. The weights are far larger than L2, so that nothing is rotated. From the environment:
#   GPUS           how, by default 2,tensor: see 'run --help'
#   D, H           the block (8192, 28672)
#   SECONDS_OURS   for ours (90); SECONDS_TORCH for PyTorch (60), 0: without
#   PYTHON         with PyTorch (python3)
# Exit code 1 if any result is wrong, 3 if ours could not be measured.
set -u
ww=${1:?the command warpwright} out=${2:?a folder}
shift 2
[[ $# -gt 0 ]] || set -- 16 4096
here=$(cd "$(dirname "$0")" && pwd)
gpus=${GPUS:-2,tensor} d=${D:-8192} h=${H:-28672} python=${PYTHON:-python3}
mkdir -p "$out" || exit 2
nvidia-smi --query-gpu=name,clocks.sm,clocks.max.sm --format=csv >"$out/gpu.txt" 2>&1
nvidia-smi topo -m >>"$out/gpu.txt" 2>&1
for m in "$@"; do
  echo "ffn M=$m D=$d H=$h dtype=bf16"
done >"$out/tasks.txt"
timeout "${SECONDS_OURS:-90}" "$ww" perf --file "$out/tasks.txt" --gpus "$gpus" >"$out/warpwright.txt" 2>"$out/warpwright.log" </dev/null
code=$?
cat "$out/warpwright.txt"
[[ $code == 0 ]] || tail -n 3 "$out/warpwright.log" >&2
limit=${SECONDS_TORCH:-60}
if [[ $limit != 0 ]] && "$python" -c 'import torch' 2>/dev/null; then
  timeout "$limit" "$python" "$here/baselines/tensor_parallel_torch.py" --gpus "${gpus%%,*}" "$d" "$h" "$@" >"$out/torch.jsonl" 2>"$out/torch.log"
  theirs=$?
  cat "$out/torch.jsonl"
  [[ $theirs == 0 ]] || tail -n 3 "$out/torch.log" >&2
  [[ $theirs != 1 || $code != 0 ]] || code=1
else
  echo "without PyTorch" >&2
fi
exit "$code"
