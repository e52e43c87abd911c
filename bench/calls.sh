#!/usr/bin/env bash
# What a call from Java costs beside the kernels, how 8 threads share one model, and what calls and models leave in
# memory. See docs/benchmarks/2026-11-24-java-api.md.
# Usage: calls.sh overhead|threads [MODEL]   or   calls.sh growth [CALLS MODELS [MODEL]]   (1000000 10000)
#        calls.sh gpu [MODEL [CALLS MODELS]]   all three on the GPU here (1000000 1000)
set -euo pipefail
cd "$(dirname "$0")/.."
what=${1:?usage: calls.sh overhead|threads|growth|gpu …}
model=models/digits-relu-128-64/model.onnx
case $what in
  growth) set -- CallBench growth "${2:-1000000}" "${3:-10000}" "${4:-$model}" ;;
  gpu) set -- GpuCallBench "${2:-$model}" "${3:-1000000}" "${4:-1000}" ;;
  *) set -- CallBench "$what" "${2:-$model}" ;;
esac
. .mvn/find-jdk.sh
JAVA_HOME=$(find_jdk)
export JAVA_HOME
. .mvn/compiled.sh
skip_compiled compiler
./mvnw -q -pl compiler -am ${skip[@]+"${skip[@]}"} test-compile dependency:build-classpath -DincludeScope=test \
  -Dmdep.outputFile=build/classpath >&2
classpath=$(printf '%s/build/classes:' "$PWD"/*)$PWD/compiler/build/test-classes:$(<compiler/build/classpath)
class=$1
shift
# A heap that is touched from the start: what it comes to touch later would look like growth.
heap=()
[[ $class != GpuCallBench ]] || heap=(-Xms128m -Xmx128m -XX:+AlwaysPreTouch)
exec "$JAVA_HOME/bin/java" ${heap[@]+"${heap[@]}"} --add-modules jdk.incubator.vector --enable-native-access=ALL-UNNAMED -cp "$classpath" \
  "dev.warpwright.compiler.execute.$class" "$@"
