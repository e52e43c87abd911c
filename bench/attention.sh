#!/usr/bin/env bash
# Attention as 'tune attention' finds it, verified whole, and torch's scaled_dot_product_attention by each back end:
#   attention.sh WARPWRIGHT OUT [TASKS]
# WARPWRIGHT is the command; OUT a folder for what is said, as JSON; TASKS a file of attentions, by default attention.txt beside this
# script. PYTHON is one with PyTorch (python3); TRIALS configurations of each are timed (24). Prints a line a task as soon as it is
# done, ours, torch's best, and their ratio, and all of them at the end. Exit code 1 if any result of ours is wrong, 3 if it could not
# be measured.
set -u
ww=${1:?the command warpwright} out=${2:?a folder}
here=$(cd "$(dirname "$0")" && pwd)
tasks=${3:-$here/attention.txt}
python=${PYTHON:-python3}
mkdir -p "$out" || exit 2
rm -f "$out/torch.jsonl" "$out/warpwright.json" "$out/warpwright.log"
if "$python" -c 'import torch' 2>/dev/null; then
  "$python" "$here/baselines/attention_torch.py" "$tasks" >"$out/torch.jsonl" 2>"$out/torch.log" ||
    echo "attention_torch.py: exit code $?; see $out/torch.log" >&2
else
  echo "without PyTorch" >&2
fi
code=0
while read -r -a task; do
  "$ww" tune "${task[@]}" "t=${TRIALS:-24}" --json >"$out/one.json" 2>>"$out/warpwright.log" </dev/null
  each=$?
  ((each > code)) && code=$each
  tr -d '\n' <"$out/one.json" >>"$out/warpwright.json"
  echo >>"$out/warpwright.json"
  if [[ $each == 0 ]]; then
    "$python" "$here/attention.py" "$out" one.json | tail -n 1
  else
    echo "${task[*]}: exit code $each: $(tail -n 1 "$out/warpwright.log")" >&2
  fi
done < <(sed -e 's/#.*//' "$tasks" | grep attention)
rm -f "$out/one.json"
"$python" "$here/attention.py" "$out" warpwright.json | tee "$out/table.txt"
exit "$code"
