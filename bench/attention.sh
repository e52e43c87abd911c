#!/usr/bin/env bash
# Attention as 'tune attention' finds it, verified whole, and torch's scaled_dot_product_attention by each back end:
#   attention.sh WARPWRIGHT OUT [TASKS]
# WARPWRIGHT is the command; OUT a folder for what is said, as JSON; TASKS a file of attentions, by default attention.txt beside this
# script. PYTHON is one with PyTorch (python3); TRIALS configurations are timed in turn (24). Prints a line a task: ours, torch's best,
# and their ratio. Exit code 1 if any result of ours is wrong, 3 if it could not be measured.
set -u
ww=${1:?the command warpwright} out=${2:?a folder}
here=$(cd "$(dirname "$0")" && pwd)
tasks=${3:-$here/attention.txt}
python=${PYTHON:-python3}
mkdir -p "$out" || exit 2
sed -e 's/#.*//' -e "/attention/s/\$/ t=${TRIALS:-24}/" "$tasks" >"$out/tasks.txt"
"$ww" tune --file "$out/tasks.txt" --json >"$out/warpwright.json" 2>"$out/warpwright.log"
code=$?
[[ $code == 0 ]] || tail -n 3 "$out/warpwright.log" >&2
rm -f "$out/torch.jsonl"
if "$python" -c 'import torch' 2>/dev/null; then
  "$python" "$here/baselines/attention_torch.py" "$tasks" >"$out/torch.jsonl" 2>"$out/torch.log" ||
    echo "attention_torch.py: exit code $?; see $out/torch.log" >&2
else
  echo "without PyTorch" >&2
fi
"$python" "$here/attention.py" "$out" | tee "$out/table.txt"
exit "$code"
