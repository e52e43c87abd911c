#!/usr/bin/env bash
# Whether orders rank on this GPU as they are predicted to: for 8192^3 and for a chained pair, three orders each, predicted,
# timed in a graph and counted by Nsight Compute in single launches; then fresh shapes for the hit rate of the prediction.
# Every launch is verified. Writes OUT/*.csv and prints, for each table, both rankings and the errors of the hit rate.
# Usage: found-orders.sh DIST_FOLDER OUT_FOLDER
set -u
ww=$1/bin/warpwright
out=$2
mkdir -p "$out"
failed=0

run() {
  local name=$1
  shift
  timeout 200 "$ww" order measure "$@" --csv "$out/$name.csv" || failed=1
}

run square MNK=8192 tile=256x256 order=row,grouped:8,hilbert
run square128 MNK=8192 tile=128x128 order=row,grouped:8,hilbert
for wait in row grid; do
  run "chain-$wait" M=8192 N=4096 K=512 N2=512 tile=128x128 order=row,grouped:8,hilbert wait=$wait
done
run chain M=8192 N=4096 K=512 N2=512 tile=128x128 order=row,rows:1,rows:4,mixed:4,halves
# What a tile of the second GEMM waits for, in orders that mix both.
run waits M=4096 N=8192 K=2048 N2=2048 tile=128x128 order=row,rows:4,mixed:8,halves wait=row,tile
run batches M=4096 N=8192 K=2048 N2=2048 tile=128x128 order=row,rows:4 wait=rows:4
# Twelve that no prediction was fitted to.
run fresh1 M=4096 N=14336 K=4096 tile=256x256 order=row,column,grouped:8,hilbert
run fresh2 M=2048 N=14336 K=4096 tile=128x128 order=row,column,grouped:8,hilbert
run fresh3 M=6144 N=6144 K=12288 tile=256x256 order=row,grouped:4,grouped:16,morton

python3 - "$out" <<'PY'
import csv, glob, sys
for path in sorted(glob.glob(sys.argv[1] + '/*.csv')):
    rows = [r for r in csv.DictReader(open(path)) if r.get('ncuUs') and r.get('predictedUs')]
    if not rows:
        print(path, 'has no counters')
        continue
    rank = lambda key: [r['order'] + ('' if 'wait' not in r else '/' + r['wait']) for r in sorted(rows, key=lambda r: float(r[key]))]
    if rows[0].get('unevenHitRate'):
        print('  L2 hits, predicted where SMs are uneven, usually, and counted',
              [tuple(round(100 * float(r[k])) for k in ('unevenHitRate', 'predictedHitRate', 'hitRate')) for r in rows])
    errors = [100 * (float(r['predictedHitRate']) - float(r['hitRate'])) for r in rows]
    print(path)
    print('  predicted', rank('predictedUs'))
    print('  one launch', rank('ncuUs'))
    print('  hit rate off by %.1f points in the mean, %.1f at worst' % (sum(map(abs, errors)) / len(errors), max(map(abs, errors))))
PY
exit $failed
