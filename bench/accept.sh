#!/usr/bin/env bash
# Measures the figures of bench/acceptance.txt on the GPU here, from the records that come with Warpwright, then those of
# bench/unseen.txt, GEMMs drawn by the date, and says pass or fail of each: bench/accept.sh [more options, as --seconds 480 --json
# --seed 20261123]. FIGURES may name other files, WARPWRIGHT another warpwright than the repository's. Exits with 0 if all are
# reached, 1 if not, 3 without a GPU.
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
code=0
for file in ${FIGURES:-"$root/bench/acceptance.txt" "$root/bench/unseen.txt"}; do
  "${WARPWRIGHT:-$root/warpwright}" accept "$file" --db "$work/tuning.db" "$@" || code=$?
done
exit "$code"
