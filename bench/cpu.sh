#!/usr/bin/env bash
# Measures the CPU back end beside ONNX Runtime, OpenBLAS and oneDNN, in one process and with all
# cores; downloads them on first use. Usage:
#
#   bench/cpu.sh [rounds=15] [warm=1500] [only=PART_OF_A_NAME] [json=true]   in the steady state
#   bench/cpu.sh warm-up [runs=3] [launcher=true] [seconds=3] [prepared=true] [name=MODEL|mlp|gemm rows=N]
#
# The second measures from the first call on, each run in a process of its own, as a table; launcher=true
# gives Java the flags that ./warpwright gives it.
#
# JAVA_OPTS may hold flags for Java, for example -XX:UseAVX=2.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."
. .mvn/find-jdk.sh
JAVA_HOME=$(find_jdk)
export JAVA_HOME

[[ -n ${WARPWRIGHT_BENCH_BUILT-} ]] ||
  ./mvnw -q -Ppeers -Dquick -DskipTests -pl bench -am package >&2
OMP_NUM_THREADS=$(nproc)
export OMP_NUM_THREADS OPENBLAS_NUM_THREADS=$OMP_NUM_THREADS
# Its idle threads would otherwise hold their cores for far longer than the pauses between turns.
export OPENBLAS_THREAD_TIMEOUT=18
# It does not know the newest processors and falls back to 256-bit vectors there.
if grep -qw avx512f /proc/cpuinfo; then
  export OPENBLAS_CORETYPE=SkylakeX
fi

jars=(bench/build/*.jar bench/build/lib/*.jar)
class_path=$(IFS=:; printf '%s' "${jars[*]}")
java() {
  # shellcheck disable=SC2086 # several flags in one variable
  "$JAVA_HOME/bin/java" --add-modules jdk.incubator.vector --enable-native-access=ALL-UNNAMED \
    ${JAVA_OPTS-} -cp "$class_path" "$@" 2> >(grep -v 'Using incubator modules' >&2)
}

if [[ ${1-} != warm-up ]]; then
  java -Xmx6g dev.warpwright.bench.CpuBench "$@"
  exit
fi
shift
runs=3
options=()
pairs=()
for argument in "$@"; do
  case $argument in
    runs=*) runs=${argument#*=} ;;
    name=*) name=${argument#*=} ;;
    rows=*) rows=${argument#*=} ;;
    launcher=true)
      . bin/launch.sh
      JAVA_OPTS="${COMMON_FLAGS[*]} ${HEAVY_FLAGS[*]} ${JAVA_OPTS-}"
      ;;
    *) options+=("$argument") ;;
  esac
done
if [[ -n ${name-} ]]; then
  pairs=("$name ${rows-1024}")
else
  for model in models/*/; do
    for rows in 1 64 1024; do
      pairs+=("$(basename "$model") $rows")
    done
  done
  for rows in 1 16 256; do
    pairs+=("mlp $rows")
  done
  for rows in 512 1024 2048; do
    pairs+=("gemm $rows")
  done
fi

# The middle of the numbers in the arguments.
middle() {
  printf '%s\n' "$@" | sort -n | sed -n "$((($# + 1) / 2))p"
}

echo '| | rows | load and compile ms | first call ms | final µs | 90 % after s | slowest of '"$runs"' |'
echo '|---|---|---|---|---|---|---|'
for pair in "${pairs[@]}"; do
  read -r name rows <<<"$pair"
  compile=() first=() final=() ready=()
  for ((run = 0; run < runs; run++)); do
    read -r c f e r < <(java -Xmx6g dev.warpwright.bench.WarmUp "name=$name" "rows=$rows" "${options[@]}")
    compile+=("$c") first+=("$f") final+=("$e") ready+=("$r")
  done
  echo "| $name | $rows | $(middle "${compile[@]}") | $(middle "${first[@]}") | $(middle "${final[@]}")" \
    "| $(middle "${ready[@]}") | $(printf '%s\n' "${ready[@]}" | sort -n | tail -1) |"
done
