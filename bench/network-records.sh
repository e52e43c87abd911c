#!/usr/bin/env bash
# Measures networks in every way they can be computed and brings back records, of which 'run' takes the fastest way:
#   network-records.sh WARPWRIGHT OUT [TASKS] [FIRST]
# WARPWRIGHT is the command; OUT a folder for records.jsonl and what was said; TASKS a file of networks, by default networks.txt beside
# this script; FIRST the number of the task to begin with (1), for what one run had no time for. From the environment:
#   SECONDS_ALL  begin no network after so many seconds (70)
#   KEEP         so many of the fastest of each network (2)
# Says at its end with which number to go on. What is to ship is appended to
# families/src/main/resources/dev/warpwright/families/tuned/records.jsonl.
set -u
ww=${1:?the command warpwright} out=${2:?a folder}
here=$(cd "$(dirname "$0")" && pwd)
tasks=${3:-$here/networks.txt} number=${4:-1} begin=$SECONDS
mkdir -p "$out" || exit 2
db=$out/records.db code=0
mapfile -t networks < <(grep -v '^ *\(#\|$\)' "$tasks")
while ((number <= ${#networks[@]} && SECONDS - begin <= ${SECONDS_ALL:-70})); do
  read -r -a task <<<"${networks[number - 1]}"
  timeout 90 "$ww" perf "${task[@]}" --all --untuned --record --bursts --rounds=5 --db "$db" </dev/null >>"$out/networks.txt" 2>>"$out/networks.log" || code=$?
  number=$((number + 1))
done
"$ww" db export "$out/records.jsonl" --best "${KEEP:-2}" --db "$db" && grep '"workload":"mlp ' "$out/records.jsonl" >"$out/mlp.jsonl"
sed -E 's/("(spread|error|time_us)":[0-9]+\.[0-9]{4})[0-9]+/\1/g; s/("source":"[0-9a-f]{16})[0-9a-f]+/\1/; s/("at":"[0-9T:-]+\.[0-9]{3})[0-9]+Z/\1Z/' "$out/mlp.jsonl" >"$out/records.jsonl"
rm -f "$out/mlp.jsonl"
rm -f "$db" "$db"-*
echo "$(wc -l <"$out/records.jsonl") records; go on with $number of ${#networks[@]}"
exit "$code"
