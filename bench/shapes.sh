#!/usr/bin/env bash
# GEMMs of random shapes, each exported and compiled for four targets, and its configuration simulated at a reduced size: 10 000 of
# them in 20 chunks, of which each has a seed of its own. What is done stays in OUT: after a kill, the same command goes on behind
# the last whole chunk, and what is all done is only summed up again. Needs nvcc or NVRTC and Python, and no GPU; about a second of a core for
# each of some 37 000 kernels, a third of that to compile.
# Usage: shapes.sh OUT [SEED [CHUNKS [COUNT]]]   chunks of COUNT shapes (500) with the seeds SEED+1 to SEED+CHUNKS (20); SEED is the
#                                                date by default, so say it where a run goes on another day
# From the environment:
#   WARPWRIGHT  another warpwright than the repository's
#   TARGETS     instead of sm_80,sm_86,sm_89,sm_90a
#   COMPILE=no  only simulate, where there is no compiler
# Exits with 0 if all is well, 1 if a shape failed, 3 without a compiler; a chunk that broke off leaves nothing behind.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
warpwright=${WARPWRIGHT:-$root/warpwright}
out=${1:?usage: shapes.sh OUT [SEED [CHUNKS [COUNT]]]}
seed=${2:-$(date -u +%Y%m%d)} chunks=${3:-20} count=${4:-500}
mkdir -p "$out"
options=(--simulate --count "$count" --target "${TARGETS:-sm_80,sm_86,sm_89,sm_90a}" --json)
[[ ${COMPILE:-yes} != no ]] || options+=(--no-compile)
# Kernels are simulated for a moment each, so that C2 compiles what never runs again: without it a third of the time is saved.
export JDK_JAVA_OPTIONS="${JDK_JAVA_OPTIONS:-} -XX:TieredStopAtLevel=1"
done=()
for ((i = 1; i <= chunks; i++)); do
  chunk=$out/$((seed + i))x$count.json
  if [[ ! -s $chunk ]]; then
    code=0
    "$warpwright" shapes "${options[@]}" --seed $((seed + i)) >"$chunk.part" 2>>"$out/log" || code=$?
    if ((code > 1)) || [[ ! -s $chunk.part ]]; then
      rm -f "$chunk.part"
      tail -1 "$out/log" >&2
      exit "$code"
    fi
    mv "$chunk.part" "$chunk"
  fi
  done+=("$chunk")
  echo "$(date +%T) $i of $chunks chunks" >&2
done
"${PYTHON:-python3}" - "${done[@]}" <<'PY'
import json, pathlib, sys

chunks = [json.loads(pathlib.Path(name).read_text()) for name in sys.argv[1:]]
failures = [failure for chunk in chunks for failure in chunk["failures"]]
for failure in failures:
    print("{shape} for {target}: {failure}".format(**failure))
for chunk in chunks:
    for whole in chunk["notReduced"]:
        print("{shape} for {target}: not simulated, its configuration fits no smaller GEMM".format(**whole))
kernels, first, simulated = (sum(chunk[name] for chunk in chunks) for name in ("kernels", "firstChoices", "simulated"))
print(f"seeds {chunks[0]['seed']} to {chunks[-1]['seed']}: {kernels} kernels, {len(failures)} failed;"
      f" the first choice was taken {first} times; {simulated} simulated at reduced sizes, {kernels - simulated} not")
sys.exit(bool(failures))
PY
