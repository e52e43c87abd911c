#!/usr/bin/env bash
# Measures the figures of bench/acceptance.txt on the GPU here, from the records that come with Warpwright, and says pass or
# fail of each: bench/accept.sh [more options, as --seconds 480 --json]. WARPWRIGHT may name another warpwright than the
# repository's. Exits with 0 if all are reached, 1 if not, 3 without a GPU.
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"${WARPWRIGHT:-$root/warpwright}" accept "$root/bench/acceptance.txt" --db "$work/tuning.db" "$@"
