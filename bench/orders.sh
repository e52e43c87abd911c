#!/usr/bin/env bash
# What orders of tiles cost on this GPU: bytes from and to device memory, the second-level cache's hits and the time of a
# launch, as Nsight Compute counts them, for two tile sizes, several shapes and several orders. Every kernel is verified by
# the same run. Caches are flushed before each launch, clocks are left alone.
# Writes OUT/orders.csv and prints it. Run it where the folder kernels/ lies.
# Usage: orders.sh DIST_FOLDER OUT_FOLDER [SECONDS [SKIP]]; no run begins after that many seconds, the first SKIP are left out.
set -u
ww=$1/bin/warpwright
out=$2
limit=${3:-600}
skip=${4:-0}
mkdir -p "$out"
metrics=gpu__time_duration.sum,dram__bytes_read.sum,dram__bytes_write.sum
metrics+=,lts__t_sectors_srcunit_tex.sum,lts__t_sectors_srcunit_tex_lookup_hit.sum
echo "kernel,M,N,K,order,launch,timeUs,dramRead,dramWrite,l2Sectors,l2Hits" | tee "$out/orders.csv"
failed=0

# measure KERNEL M N K ORDER...
measure() {
  local kernel=$1 m=$2 n=$3 k=$4 order code
  shift 4
  for order in "$@"; do
    ((skip-- <= 0)) || continue
    if ((SECONDS >= limit)); then
      echo "skipped after $limit s: $kernel $m $n $k $order" >&2
      continue
    fi
    timeout 60 ncu --metrics "$metrics" --kernel-name "regex:^$kernel" --launch-count 2 --clock-control none \
      --target-processes all --csv --page raw --print-units base \
      "$ww" kernel "kernels/$kernel.kernel" --bench --rounds 0 --repeat-check 1 M="$m" N="$n" K="$k" --attr order="$order" \
      >"$out/ncu.txt" 2>"$out/stderr"
    code=$?
    if [[ $code != 0 ]]; then
      failed=1
      echo "$kernel $m $n $k $order: exit $code: $(tail -1 "$out/ncu.txt") $(tail -1 "$out/stderr")" >&2
      continue
    fi
    awk -v head="$kernel,$m,$n,$k,$order" '
      function number(name, text) { text = cells[place[name]]; gsub(/,/, "", text); return text }
      /^"/ {
        row = $0; sub(/^"/, "", row); sub(/"$/, "", row)
        split(row, cells, /","/)
        if (!seen) { for (i in cells) place[cells[i]] = i; seen = 1; next }
        if (number("gpu__time_duration.sum") !~ /^[0-9.]+$/) next
        printf "%s,%d,%.2f,%s,%s,%s,%s\n", head, launch++, number("gpu__time_duration.sum") / 1000, \
          number("dram__bytes_read.sum"), number("dram__bytes_write.sum"), \
          number("lts__t_sectors_srcunit_tex.sum"), number("lts__t_sectors_srcunit_tex_lookup_hit.sum")
      }' "$out/ncu.txt" | tee -a "$out/orders.csv"
  done
}

measure gemm_bf16_sm90 8192 8192 8192 row grouped:8 hilbert serpentine
measure gemm_bf16_sm80 8192 8192 8192 row grouped:8 hilbert
measure gemm_bf16_sm90 8192 16384 2048 row grouped:8 hilbert column
measure gemm_bf16_sm90 16384 4096 8192 row column grouped:8
measure gemm_bf16_sm80 4096 16384 4096 row grouped:8 hilbert
measure gemm_bf16_sm90 8192 8192 8192 column grouped:4 grouped:16 morton
measure gemm_bf16_sm80 8192 8192 8192 column grouped:16
measure gemm_bf16_sm90 8192 16384 2048 grouped:16 morton
measure gemm_bf16_sm90 4096 4096 4096 row grouped:8
exit $failed
