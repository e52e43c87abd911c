#!/usr/bin/env bash
# Tries all mistakes made by hand in the two largest kernels for Hopper (verify/src/test/resources, *.mistakes), each with
# check's defaults, one a processor at a time: prints those that are not found, of which there must be none, and ends with 1 if there
# are any. A build tries some of them.
#
# Usage: mistakes.sh [WORD...]           builds with Maven; only mistakes whose names have one of the words
#        JAVA=java CLASSES=a:b/* mistakes.sh [WORD...]
#            without Maven: a Java 25 or newer, a distribution's (runtime/bin/java) too, and a class path of compiler's test classes
#            (a folder) and of the jars (a distribution's lib/*)
set -euo pipefail
cd "$(dirname "$0")/.."
if [[ -z ${CLASSES-} ]]; then
  ./mvnw -B -ntp -q -Dquick -DskipTests -pl cli -am package
  CLASSES=verify/build/test-classes:$(printf '%s:' cli/build/*.jar cli/build/lib/*.jar)
fi
exec "${JAVA:-java}" -XX:+UseParallelGC -Xlog:disable --add-modules=jdk.incubator.vector \
  --enable-native-access=ALL-UNNAMED -cp "$CLASSES" dev.warpwright.verify.HandMadeMistakes "$@"
