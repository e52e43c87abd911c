#!/usr/bin/env bash
# Runs every public model in every format and precision on a GPU machine from an unpacked distribution and prints one line each;
# with "sanitize" also under compute-sanitizer. Usage: first-light.sh DIST_FOLDER OUT_FOLDER [sanitize]
set -u
ww=$1/bin/warpwright
out=$2
: >"$out/runs.jsonl"
for model in models/*/; do
  for file in model.onnx model_ts.onnx model.pt2 model.safetensors state_dict.pth; do
    [[ -e $model$file ]] || continue
    arch=()
    case $file in *.safetensors | *.pth) arch=(--arch "${model}arch.json") ;; esac
    for precision in f32 tf32 f16 bf16; do
      line=$("$ww" run "$model$file" "${arch[@]}" --json --precision $precision \
        --input "${model}input.npy" --expect "${model}expected_f64.npy" 2>"$out/stderr")
      code=$?
      [[ -z $line ]] && line="{\"model\": \"$model$file\", \"precision\": \"$precision\", \"error\": \"$(head -1 "$out/stderr" | tr '"\\' "''")\"}"
      echo "$line" >>"$out/runs.jsonl"
      echo "$code $precision $model$file $(sed -E 's/.*"kernels": \[([^]]*).*"timeUs": ([0-9.]+), "maxAbsError": ([^,]*), "relError": ([^,]*),.*"verified": ([a-z]+).*/time \2 us relError \4 verified \5/' <<<"$line" | cut -c1-200)"
    done
  done
done
[[ ${3-} == sanitize ]] || exit 0
for tool in memcheck racecheck; do
  for model in models/*/; do
    for precision in f32 tf32 f16 bf16; do
      compute-sanitizer --tool $tool --error-exitcode 99 "$ww" run "${model}model.onnx" \
        --precision $precision --input "${model}input.npy" --expect "${model}expected_f64.npy" \
        >"$out/sanitizer" 2>&1
      echo "$tool $precision $model exit $? $(grep -E 'SUMMARY' "$out/sanitizer" | tail -1)"
    done
  done
done
