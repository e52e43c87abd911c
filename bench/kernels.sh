#!/usr/bin/env bash
# Runs the kernels under kernels/ on an H100 or H200 from an unpacked distribution: each verified, beside cuBLAS in the same
# run. Writes one line of JSON for each to OUT/kernels.jsonl and prints a short one.
# Run it where the folder kernels/ lies. Usage: kernels.sh DIST_FOLDER OUT_FOLDER [sanitize]
set -u
ww=$1/bin/warpwright
out=$2
mkdir -p "$out"
: >"$out/kernels.jsonl"
failed=0

# A field of the line of JSON in $line; of several, the first.
field() {
  sed -nE "s/.*\"$1\": (\"[^\"]*\"|[^,}]*).*/\1/p" <<<"$line"
}

# bench LEAST_RATIO KERNEL ARGUMENTS...: at least this ratio to cuBLAS, or a dash for no demand.
bench() {
  local least=$1 kernel=$2 code ratio judgement
  shift 2
  line=$(timeout 300 "$ww" kernel "kernels/$kernel.kernel" --bench --json "$@" 2>"$out/stderr")
  code=$?
  # shellcheck disable=SC1003 # a backslash, not an escaped quote
  [[ -n $line ]] || line="{\"error\": \"$(tail -1 "$out/stderr" | tr -d '"\\')\"}"
  echo "{\"kernel\": \"$kernel\", \"arguments\": \"$*\", \"exit\": $code, \"result\": $line}" >>"$out/kernels.jsonl"
  ratio=$(sed -nE 's/.*"peers": \[\{[^]]*"ratio": ([0-9.]+).*/\1/p' <<<"$line")
  judgement=ok
  if [[ $code != 0 ]]; then
    judgement=FAILED
  elif [[ $least != - ]] && ! awk -v r="${ratio:-0}" -v l="$least" 'BEGIN { exit !(r >= l) }'; then
    judgement="BELOW $least"
  fi
  [[ $judgement == ok ]] || failed=1
  printf '%-10s %-24s %-38s %10s us %8s TFLOP/s ratio %-6.5s error %s\n' "$judgement" "$kernel" "$*" \
    "$(cut -c1-8 <<<"$(field timeUs)")" "$(cut -c1-6 <<<"$(field tflops)")" "${ratio:-none}" "$(field relError)"
  [[ $code == 0 ]] || { field failure; tail -1 "$out/stderr"; }
}

bench 0.90 gemm_bf16_sm90 MNK=4096
bench 0.90 gemm_bf16_sm90 MNK=8192
bench - gemm_bf16_sm90 MNK=4096 --attr order=hilbert
bench - gemm_bf16_sm90 MNK=8192 --attr order=hilbert
bench - gemm_bf16_sm90 MN=4096 K=4160
bench - gemm_bf16_sm90 M=1000 N=2000 K=3008
bench - gemm_bf16_sm90 MNK=4096 --repeat-check 1000
bench 0.95 gemm_bf16_sm90_m16 M=16 N=14336 K=4096
bench - gemm_bf16_sm90_m16 M=16 N=4096 K=14336
bench - gemm_bf16_sm90_skinny M=64 N=14336 K=4096
bench 0.45 gemm_bf16_sm80 MNK=4096
bench - gemm_bf16_sm80 M=1000 N=2000 K=3008
bench 1.00 ffn_bf16_sm90_m16 M=16 K1=4096 N1=14336 N2=4096 --repeat-check 10000

if [[ ${3-} == sanitize ]]; then
  for tool in memcheck racecheck synccheck; do
    for run in "gemm_bf16_sm90 M=1000 N=520 K=328" "gemm_bf16_sm90_m16 M=16 N=1000 K=328" \
      "gemm_bf16_sm90_skinny M=50 N=1000 K=328" "gemm_bf16_sm80 M=300 N=520 K=328" \
      "ffn_bf16_sm90_m16 M=16 K1=128 N1=1024 N2=128"; do
      read -ra words <<<"$run"
      timeout 500 compute-sanitizer --tool $tool --error-exitcode 99 "$ww" kernel "kernels/${words[0]}.kernel" \
        --bench --rounds 0 "${words[@]:1}" >"$out/sanitizer" 2>&1
      code=$?
      echo "$tool $run: exit $code, $(grep -E 'ERROR SUMMARY|RACECHECK SUMMARY' "$out/sanitizer" | tail -1)"
      [[ $code == 0 ]] || failed=1
    done
  done
fi
exit $failed
