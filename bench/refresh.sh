#!/usr/bin/env bash
# Verifies and times again, on the GPU here, the records that come with Warpwright and were made with another source, driver or
# compiler than today's: bench/refresh.sh FOLDER [more options, as --seconds 480]. Leaves FOLDER/tuning.db and FOLDER/records.jsonl,
# which replaces families/src/main/resources/dev/warpwright/families/tuned/records.jsonl. Ended early, the same command goes on, even
# in a fresh copy of the repository if FOLDER is kept. WARPWRIGHT may name another warpwright than the repository's.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
folder=${1:?folder for the database and the records}
shift
mkdir -p "$folder"
run=${WARPWRIGHT:-$root/warpwright}
status=0
"$run" db refresh --db "$folder/tuning.db" "$@" || status=$?
"$run" db export "$folder/records.jsonl" --best 1 --db "$folder/tuning.db"
# What comes along is in every application: four decimals, milliseconds and 16 digits of a hash say it.
sed -E -i 's/("(spread|error|time_us)":[0-9]+\.[0-9]{4})[0-9]+/\1/g; s/("source":"[0-9a-f]{16})[0-9a-f]+/\1/; s/("at":"[0-9T:-]+\.[0-9]{3})[0-9]+Z/\1Z/' "$folder/records.jsonl"
"$run" db stale --db "$folder/tuning.db" | tail -1
exit $status
