#!/usr/bin/env bash
# Gives the command line hostile input: mutated models, kernels in text, orders, databases, options, surroundings. Each must end
# within 20 s of work (200 s with -Xint), with an exit code of the contract, one line at most of an error, no trace, and no file where none should be.
# What breaks that is kept under cli/build/hostile/findings with its files, its arguments (FOLDER stands for theirs) and what
# was wrong; then the exit code is 1. A kind and a seed make the same input again: hostile.sh 60 kernels 1234 1.
# Usage: hostile.sh SECONDS [KIND|all [SEED [COUNT]]]   at most SECONDS and COUNT inputs of each kind; kinds: models kernels orders databases commands
#        surroundings. In the environment: PROCESSES=N (1): so many at once, each with COUNT seeds of its own.
#        Without Maven: CLASSES=FOLDER holds compiled classes (main/, test/) and lib/*.jar, JAVA=…/bin/java runs them, no
#        compiler is needed; OUT=FOLDER takes findings and logs. "hostile.sh pack FOLDER" makes such a folder out of a build.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
all=(models kernels orders databases commands surroundings)
seconds=${1:?usage: hostile.sh SECONDS [KIND|all [SEED [COUNT]]]}
if [[ -z ${CLASSES-} ]]; then
  . .mvn/find-jdk.sh
  JAVA_HOME=$(find_jdk)
  export JAVA_HOME
  JAVA=$JAVA_HOME/bin/java
  . .mvn/compiled.sh
  skip_compiled cli
  ./mvnw -q -pl cli -am ${skip[@]+"${skip[@]}"} test-compile dependency:build-classpath -DincludeScope=test \
    -Dmdep.outputFile=build/classpath >&2
  classpath=$(printf '%s/build/classes:' "$PWD"/*)$(printf '%s/build/test-classes:' "$PWD/text" "$PWD/cli")$(<cli/build/classpath)
else
  CLASSES=$(cd "$CLASSES" && pwd)
  JAVA=${JAVA:-${JAVA_HOME:+$JAVA_HOME/bin/}java}
  [[ $JAVA != */* ]] || JAVA=$(cd "$(dirname "$JAVA")" && pwd)/$(basename "$JAVA")
  classpath=$CLASSES/test:$CLASSES/main:$(printf '%s:' "$CLASSES"/lib/*.jar)
fi
if [[ $seconds == pack ]]; then
  # What a machine without a compiler needs, beside the models and kernels that are mutated.
  to=${2:?usage: hostile.sh pack FOLDER}
  mkdir -p "$to"/{main,test,lib,bench,models,kernels,model/src/test/resources}
  to=$(cd "$to" && pwd)
  IFS=: read -ra entries <<<"$classpath"
  for entry in "${entries[@]}"; do
    case $entry in
      */test-classes | */test)
        for package in cli/hostile ir/testing ir/text; do
          [[ ! -d $entry/dev/warpwright/$package ]] || (cd "$entry" && cp -r --parents "dev/warpwright/$package" "$to/test/")
        done ;;
      *picocli* | *sqlite-jdbc* | *slf4j* | *jspecify*) cp "$entry" "$to/lib/" ;;
      *.jar) ;;
      *) [[ ! -d $entry ]] || cp -r "$entry/." "$to/main/" ;;
    esac
  done
  # Natives of other systems are most of its size.
  for jar in "$to"/lib/sqlite-jdbc*.jar; do
    zip -qd "$jar" 'org/sqlite/native/[!L]*' 'org/sqlite/native/Linux-*' 'org/sqlite/native/Linux/[!x]*' 'org/sqlite/native/Linux/x86/*' || true
  done
  cp bench/hostile.sh "$to/bench/"
  cp -r kernels/. "$to/kernels/"
  cp -r --parents model/src/test/resources/fuzz/kernel "$to/"
  find models -type f -size -300k -exec cp --parents {} "$to/" \;
  du -sh "$to"
  exit
fi
kinds=("${all[@]}")
[[ ${2-all} == all ]] || kinds=("$2")
seed=${3:-$(date +%s)}
processes=${PROCESSES:-1}
# Seeds of processes must not meet: a million each is more than anybody has time for.
count=${4:-1000000}
out=${OUT:-$root/cli/build/hostile}
mkdir -p "$out/findings"
out=$(cd "$out" && pwd)
# With several processes, each has as many threads as a share of the processors.
cpus=$(($(nproc) / processes))
threads=()
((processes == 1)) || threads=("-XX:ActiveProcessorCount=$((cpus < 2 ? 2 : cpus))")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# One process after the other of each kind; after a hang, or the end of a process itself, it goes on behind that input.
# $1: number of the process
perform() {
  local here=$work/$1 first=$((seed + $1 * count)) status=0 kind end next code last log
  # A home and a working folder of their own: what appears there is seen, and nobody's database is touched.
  mkdir -p "$here/home" "$here/tmp" "$here/cwd"
  export HOME=$here/home XDG_DATA_HOME=$here/home XDG_STATE_HOME=$here/home XDG_CACHE_HOME=$here/home
  # Hostile commands are no measurements: they would only wait for each other's turn on a device.
  export CUDA_VISIBLE_DEVICES=
  cd "$here/cwd"
  for kind in "${kinds[@]}"; do
    end=$((SECONDS + seconds))
    next=$first
    log=$out/$kind.$1.log
    : >"$log"
    while ((SECONDS < end && next < first + count)); do
      code=0
      "$JAVA" -Xmx2g -XX:+UseSerialGC -XX:TieredStopAtLevel=1 ${threads[@]+"${threads[@]}"} -Djava.io.tmpdir="$here/tmp" \
        -Dwarpwright.hostile.root="$root" --add-modules jdk.incubator.vector --enable-native-access=ALL-UNNAMED \
        -cp "$classpath" dev.warpwright.cli.hostile.HostileRun \
        "$kind" "$next" "$((first + count - next))" "$((end - SECONDS))" "$out/findings" >"$here/log" 2>&1 || code=$?
      grep -v incubator "$here/log" | tee -a "$log" || true
      ((code == 0)) || status=1
      last=$(sed -nE 's/.* next ([0-9]+)$/\1/p' "$here/log" | tail -1)
      if [[ -z $last ]]; then
        echo "$kind: the process ended with $code" | tee -a "$log"
        status=1
        break
      fi
      next=$last
    done
    echo "seeds $kind $first $next" >>"$out/seeds"
  done
  return "$status"
}

rm -f "$out/seeds"
echo "hostile: ${kinds[*]} from seed $seed on, $processes at once"
pids=()
for ((i = 0; i < processes; i++)); do
  perform "$i" &
  pids+=($!)
done
status=0
for pid in "${pids[@]}"; do
  wait "$pid" || status=1
done
for kind in "${kinds[@]}"; do
  awk -v kind="$kind" '$2 == kind { n += $4 - $3 } END { printf "%s: %d inputs\n", kind, n }' "$out/seeds"
done
awk '{ n += $4 - $3 } END { printf "hostile: %d inputs, ", n }' "$out/seeds"
echo "$(find "$out/findings" -mindepth 1 -maxdepth 1 | wc -l) findings under $out/findings"
exit "$status"
