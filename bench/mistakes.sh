#!/usr/bin/env bash
# Tries all mistakes made by hand in the two largest kernels for Hopper (compiler/src/test/resources, *.mistakes), each with
# check's defaults: every one must be found. A build tries one of nine. About six minutes on two cores.
# Usage: mistakes.sh
set -euo pipefail
cd "$(dirname "$0")/.."
exec ./mvnw -B -ntp -pl compiler -am test -Dtest=HandMadeMistakesTest -Dsurefire.failIfNoSpecifiedTests=false \
  -Dtest.jvm.extra=-Dwarpwright.mistakes=all
