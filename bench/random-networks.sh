#!/usr/bin/env bash
# Random networks, each in every way it can be computed: how much does the way that is taken without measuring lose?
#   random-networks.sh WARPWRIGHT OUT [SEED] [COUNT]
# WARPWRIGHT is the command; OUT a folder; SEED by default today's date, of which the networks follow; COUNT 30. From the environment:
#   SECONDS_ALL  begin no more networks after so many seconds (150)
#   CHUNK        networks of a command (5)
#   MOST_ROWS    fewer rows than 1048576 take less time to verify
#   ROUNDS       of bursts of 8 ms, at least 5 (5)
# Exit code 1 if a way is wrong, or a best one takes less than 0.9 of the untuned time.
set -u
ww=${1:?the command warpwright} out=${2:?a folder} seed=${3:-$(date +%F)} count=${4:-30}
here=$(cd "$(dirname "$0")" && pwd) python=${PYTHON:-python3} begin=$SECONDS
mkdir -p "$out" || exit 2
"$python" "$here/random_networks.py" draw "$seed" "$count" "${MOST_ROWS:-1048576}" >"$out/random.txt" || exit 2
: >"$out/random.jsonl"
# Some at a time by one command: what is compiled first warms Java up for the rest, and a run that is cut short keeps what came before.
split -l "${CHUNK:-5}" -d "$out/random.txt" "$out/part."
for part in "$out"/part.*; do
  if ((SECONDS - begin > ${SECONDS_ALL:-150})); then
    break
  fi
  timeout 300 "$ww" perf --file "$part" --all --untuned --bursts --rounds="${ROUNDS:-5}" --json >"$out/one.json" 2>>"$out/random.log" </dev/null
  # What is wrong is in the report too.
  [[ ! -s $out/one.json ]] || "$python" -c 'import json,sys; print(json.dumps(json.load(sys.stdin)))' <"$out/one.json" >>"$out/random.jsonl"
done
rm -f "$out"/part.*
rm -f "$out/one.json"
"$python" "$here/random_networks.py" table "$out/random.jsonl" | tee "$out/random-table.txt"
exit "${PIPESTATUS[0]}"
