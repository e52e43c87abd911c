#!/usr/bin/env bash
# Gives the command line hostile input: mutated models, kernels in text, orders, databases, options. Each must end within 20 s,
# with an exit code of the contract, one line at most of an error, no trace, and no file where none should be.
# What breaks that is kept under cli/build/hostile/findings with its files, its arguments (FOLDER stands for theirs) and what
# was wrong; then the exit code is 1. A kind and a seed make the same input again: hostile.sh 60 kernels 1234 1.
# Usage: hostile.sh SECONDS [KIND|all [SEED [COUNT]]]   SECONDS for each kind; kinds: models kernels orders databases commands
set -euo pipefail
cd "$(dirname "$0")/.."
. .mvn/find-jdk.sh
JAVA_HOME=$(find_jdk)
export JAVA_HOME
seconds=${1:?usage: hostile.sh SECONDS [KIND|all [SEED [COUNT]]]}
kinds=(models kernels orders databases commands)
[[ ${2-all} == all ]] || kinds=("$2")
seed=${3:-$(date +%s)}
count=${4:-1000000000}
root=$PWD
out=$PWD/cli/build/hostile
mkdir -p "$out/findings"
./mvnw -q -pl cli -am test-compile dependency:build-classpath -DincludeScope=test -Dmdep.outputFile=build/classpath >&2
classpath=$(printf '%sbuild/classes:' "$PWD"/*/):$PWD/cli/build/test-classes:$(<cli/build/classpath)
# A home and a working folder of their own: what appears there is seen, and nobody's database is touched.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/home" "$work/tmp" "$work/cwd"
export HOME=$work/home XDG_DATA_HOME=$work/home XDG_STATE_HOME=$work/home XDG_CACHE_HOME=$work/home
cd "$work/cwd"
status=0
for kind in "${kinds[@]}"; do
  echo "hostile: $kind from seed $seed on"
  end=$((SECONDS + seconds))
  next=$seed
  while ((SECONDS < end && next < seed + count)); do
    code=0
    "$JAVA_HOME/bin/java" -Xmx2g -XX:+UseSerialGC -Djava.io.tmpdir="$work/tmp" -Dwarpwright.hostile.root="$root" \
      --add-modules jdk.incubator.vector --enable-native-access=ALL-UNNAMED -cp "$classpath" \
      dev.warpwright.cli.hostile.HostileRun "$kind" "$next" "$((seed + count - next))" "$((end - SECONDS))" "$out/findings" \
      >"$out/$kind.log" 2>&1 || code=$?
    grep -v incubator "$out/$kind.log" || true
    ((code == 0)) || status=1
    # After a hang, or the end of the process itself, it goes on behind that input.
    last=$(sed -nE 's/.* next ([0-9]+)$/\1/p' "$out/$kind.log" | tail -1)
    next=${last:-$((seed + count))}
  done
done
exit "$status"
