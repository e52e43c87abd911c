#!/usr/bin/env bash
# GEMMs of random shapes that nobody has prepared: 1 to 16384 along each side, as many small as large ones, a third of them
# odd, in bf16, f16, tf32, f32, e4m3 and int8 and in all four layouts. The seed is the date unless given, and is printed.
# Usage: random-shapes.sh compile [COUNT [SEED]]   export each for sm_90a and sm_80 and compile it with NVRTC or nvcc, on all
#                                                  cores, in one process; a table of those that are refused or spill. COUNT is
#                                                  2000; needs no GPU; about one second of a core for each of 3700 kernels.
#        random-shapes.sh perf [COUNT [SEED]]      measure and verify each on the GPU here, untuned, by perf --file, and print
#                                                  how many are verified, WRONG, not measured; COUNT is 200, about 2 s each.
#        random-shapes.sh list [COUNT [SEED]]      only print the tasks for perf --file; COUNT is 200.
# WARPWRIGHT may name another warpwright than the repository's. Exits with 0 if all is well, 1 if a shape failed, 3 without a
# compiler or a GPU.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
warpwright=${WARPWRIGHT:-$root/warpwright}
what=${1:?usage: random-shapes.sh compile|perf|list [COUNT [SEED]]}
count=${2:-$([[ $what == compile ]] && echo 2000 || echo 200)}
seed=${3:-$(date -u +%Y%m%d)}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
case $what in
  compile) "$warpwright" shapes --count "$count" --seed "$seed" ;;
  list) "$warpwright" shapes --list --count "$count" --seed "$seed" ;;
  perf)
    "$warpwright" shapes --list --count "$count" --seed "$seed" >"$work/tasks.txt"
    # What was found useless before must be found again: the cache is new.
    code=0
    XDG_CACHE_HOME=$work/cache "$warpwright" perf --file "$work/tasks.txt" --untuned --rounds 5 --db "$work/tuning.db" --json \
      >"$work/report.json" || code=$?
    [[ -s $work/report.json ]] || exit "$code"
    [[ -z ${REPORT:-} ]] || cp "$work/report.json" "$REPORT"
    value() { grep -o "\"$1\": *[0-9]*" "$work/report.json" | grep -o '[0-9]*$' | tail -1; }
    skipped() { grep -c "\"reason\": *\"$1\"" "$work/report.json" || true; }
    grep -o '"failure": *"[^"]*"' "$work/report.json" || true
    echo "$count random shapes, seed $seed: $(value verifiedCount) verified, $(value wrongCount) WRONG," \
      "$(value notMeasuredCount) not measured; first choices that were skipped: $(skipped wrong) wrong, $(skipped spill)" \
      "spilling, $(skipped fault) faulting"
    exit "$code"
    ;;
  *)
    echo "random-shapes.sh: '$what': it is compile, perf or list" >&2
    exit 2
    ;;
esac
