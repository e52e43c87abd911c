#!/usr/bin/env bash
# Feeds the readers of untrusted files with what a coverage-guided fuzzer (Jazzer) makes up. Everything but success and a
# refusal of one line is a finding: it is kept under model/build/fuzz/findings, and the exit code is 1.
# Inputs that reach new code are kept under model/build/fuzz/READER, for the next run.
# An input may take 10 s, or what FUZZ_TIMEOUT says: on a machine that stops processes now and then, give it more.
# Usage: fuzz.sh SECONDS [READER…]   SECONDS for each reader; without READER each of them, one after the other
#        fuzz.sh SECONDS all         all readers in one process and SECONDS, which is what continuous integration does
set -euo pipefail
cd "$(dirname "$0")/.."
. .mvn/find-jdk.sh
JAVA_HOME=$(find_jdk)
export JAVA_HOME
seconds=${1:?usage: fuzz.sh SECONDS [READER…]}
shift
seeds=model/src/test/resources/fuzz
if (($# > 0)); then
  readers=("$@")
else
  readers=("$seeds"/*)
  readers=("${readers[@]##*/}")
fi
out=model/build/fuzz
mkdir -p "$out/findings"
. .mvn/compiled.sh
skip_compiled model
./mvnw -q -Pfuzz -pl model -am ${skip[@]+"${skip[@]}"} test-compile dependency:build-classpath \
  -DincludeScope=test -Dmdep.outputFile=build/classpath >&2
classpath=$(printf '%sbuild/classes:' "$PWD"/*/):$PWD/model/build/test-classes:$(<model/build/classpath)
status=0
# Seeds for all readers at once begin with a line that names the reader.
if [[ ${readers[0]} == all ]]; then
  mkdir -p "$out/seeds"
  for seed in "$seeds"/*/*; do
    reader=${seed%/*}
    { echo "${reader##*/}" && cat "$seed"; } >"$out/seeds/${reader##*/}-${seed##*/}"
  done
fi
for reader in "${readers[@]}"; do
  mkdir -p "$out/$reader"
  start=$seeds/$reader
  [[ $reader != all ]] || start=$out/seeds
  log=$out/$reader.log
  code=0
  "$JAVA_HOME/bin/java" -cp "$classpath" -Xmx512m -XX:MaxDirectMemorySize=256m -XX:+EnableDynamicAgentLoading \
    --enable-native-access=ALL-UNNAMED --sun-misc-unsafe-memory-access=allow \
    com.code_intelligence.jazzer.Jazzer --target_class=dev.warpwright.model.fuzz.ReaderFuzz --target_args="$reader" \
    '--instrumentation_includes=dev.warpwright.**' '--custom_hook_includes=dev.warpwright.**' \
    --reproducer_path="$out/findings" -artifact_prefix="$out/findings/$reader-" \
    -max_total_time="$seconds" -timeout="${FUZZ_TIMEOUT:-10}" -rss_limit_mb=2048 -max_len=8192 -print_final_stats=1 \
    "$out/$reader" "$start" >"$log" 2>&1 || code=$?
  runs=$(sed -nE 's/^stat::number_of_executed_units: *//p' "$log" | tail -1)
  cover=$(sed -nE 's/.* cov: ([0-9]+) ft: ([0-9]+) .*/\1 edges/p' "$log" | tail -1)
  if [[ $code == 0 ]]; then
    echo "fuzz: $reader: ${runs:-?} inputs, ${cover:-?}, nothing found"
  else
    status=1
    echo "fuzz: $reader: FINDING (exit $code, $log): $(grep -m1 -E '^== |ERROR:' "$log" || tail -1 "$log")"
  fi
done
exit "$status"
