#!/usr/bin/env bash
# Plants mistakes into kernels, prints them as CUDA and runs each under compute-sanitizer's racecheck, beside the simulator's
# verdict. Run it where the folders kernels/ and models/ lie, with nvcc and a GPU of compute capability 9.0.
# Usage: racecheck.sh DIST_FOLDER OUT_FOLDER [JOBS [PROGRAM]]; PROGRAM is one of the names below, else all are checked; writes OUT_FOLDER/race.txt, NAME.json for each program, and to standard
# output the table of what racecheck says beside what the simulator says.
set -u
ww=$1/bin/warpwright
out=$2
jobs=${3:-$(nproc)}
only=${4:-}
mkdir -p "$out"

# program NAME ARGUMENTS...
program() {
  local name=$1
  shift
  [[ -z $only || $only == "$name" ]] || return 0
  "$ww" check "$@" --seed 7 --emit "$out/$name" --json >"$out/$name.json" 2>"$out/$name.err" || echo "$name: a mistake was missed"
}

# race PROGRAM.cu: compiles and runs it; one line of errors and warnings
race() {
  local file=$1 name
  name=$(basename "$(dirname "$file")")
  local number=${file##*_}
  number=${number%.cu}
  if ! nvcc -O1 -fmad=false -arch=sm_90a -o "${file%.cu}" "$file" >"${file%.cu}.log" 2>&1; then
    echo "$name $number not compiled"
    return
  fi
  timeout 60 compute-sanitizer --tool racecheck --racecheck-report analysis --show-backtrace no --print-limit 200 \
    "${file%.cu}" >"${file%.cu}.txt" 2>&1
  rm "${file%.cu}"
  echo "$name $number errors $(grep -c 'Error: Race' "${file%.cu}.txt") warnings $(grep -c 'Warning: Race' "${file%.cu}.txt")"
}
export -f race

program simt kernels/gemm_f32_simt.kernel --mutants 4 M=150 N=136 K=44 &
program sm80 kernels/gemm_bf16_sm80.kernel --mutants 4 M=150 N=136 K=328 &
program digits-f32 models/digits-relu-128-64/model.onnx --precision f32 --mutants 3 --batch 70 &
program digits-f16 models/digits-relu-128-64/model.onnx --precision f16 --mutants 3 --batch 70 &
program picture-bf16 models/image-siren-64x4/model.onnx --precision bf16 --mutants 3 --batch 70 &
program tabular-tf32 models/tabular-tanh-sigmoid/model.onnx --precision tf32 --mutants 3 --batch 70 &
program residual-f16 models/ffn-gelu-residual-128/model.onnx --precision f16 --mutants 2 --batch 70 &
wait
ls "$out"/*/*.cu | xargs -P "$jobs" -I{} bash -c 'race {}' >"$out/race.txt"
sort -k1,1 -k2,2n -o "$out/race.txt" "$out/race.txt"

python3 - "$out" <<'PYTHON'
import collections, json, pathlib, sys

out = pathlib.Path(sys.argv[1])
counts = collections.Counter()
missed = []
for line in (out / "race.txt").read_text().splitlines():
    name, number, *words = line.split()
    mutant = json.loads((out / f"{name}.json").read_text())["mutants"][int(number)]
    if "compiled" in words:
        race = "not compiled"
    else:
        errors, warnings = int(words[1]), int(words[3])
        race = "error" if errors else "warning" if warnings else "nothing"
    counts[race, mutant["verdict"]] += 1
    if race in ("error", "warning") and mutant["verdict"] != "reported":
        missed.append((line, mutant["mistake"], mutant["verdict"]))
for (race, verdict), count in sorted(counts.items()):
    print(f"{count:5d} racecheck: {race:12s} here: {verdict}")
for one in missed:
    print("not reported here:", *one)
print("nothing is missed" if not missed else f"{len(missed)} missed")
PYTHON
