#!/usr/bin/env bash
# Searches on a Spark cluster of three executors on this machine while 20 executors are killed at
# random: nothing that was measured may be lost. 'bench/fleet.sh SEED' repeats a run.
set -euo pipefail
cd "$(dirname "$0")/.."
./mvnw -B -ntp -q -pl fleet -am -Dtest='FleetTest' -Dsurefire.failIfNoSpecifiedTests=false \
  -Dtest.jvm.extra="-Dkills=20 -Dseed=${1:-$RANDOM}" test
