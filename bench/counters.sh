#!/usr/bin/env bash
# Measures with Nsight Compute what `warpwright check --counters` predicts: bank conflicts, requests and sectors of the caches, bytes of
# device memory. Caches are flushed before each launch. Run it where the folders kernels/ and models/ lie, on an H200; with --predict
# it writes the predictions instead, on any machine. bench/counters.py sets them side by side.
# Usage: counters.sh [--predict] DIST_FOLDER OUT_FOLDER [CASES]; one CSV (or JSON) file for each case, named after it; CASES is a regular
# expression for the names of those to do.
set -u
predict=
if [[ $1 == --predict ]]; then
  predict=yes
  shift
fi
ww=$1/bin/warpwright
out=$2
only=${3:-.}
mkdir -p "$out"

metrics=gpu__time_duration.sum
for m in l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st \
  l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st \
  l1tex__data_pipe_lsu_wavefronts_mem_shared \
  smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldsm \
  smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_stsm \
  l1tex__t_requests_pipe_lsu_mem_global_op_ld l1tex__t_sectors_pipe_lsu_mem_global_op_ld \
  l1tex__t_requests_pipe_lsu_mem_global_op_st l1tex__t_sectors_pipe_lsu_mem_global_op_st \
  l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_miss \
  sm__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ldgsts \
  l1tex__m_xbar2l1tex_read_bytes l1tex__m_l1tex2xbar_write_bytes \
  lts__t_sectors_srcunit_tex_op_read lts__t_sectors_srcunit_tex_op_write lts__t_requests_srcunit_tex \
  lts__t_sectors_srcunit_tex_lookup_hit lts__t_sectors_srcunit_tex_lookup_miss lts__t_sectors_op_read \
  lts__t_sectors_srcunit_ltcfabric dram__bytes_read dram__bytes_write sm__inst_executed_pipe_tensor \
  smsp__sass_thread_inst_executed_op_ffma_pred_on; do
  metrics+=,$m.sum
done

# predicted NAME ARGUMENTS...
predicted() {
  local name=$1
  shift
  "$ww" check "$@" --counters --json >"$out/$name.json" 2>"$out/$name.log"
  echo "$name: $?"
}

# measured NAME KERNEL_REGEX LAUNCHES ARGUMENTS...
measured() {
  local name=$1 kernel=$2 launches=$3
  shift 3
  timeout 60 ncu --target-processes all --metrics "$metrics" --kernel-name "regex:$kernel" --launch-count "$launches" \
    --clock-control none --csv --page raw --log-file "$out/$name.csv" "$ww" "$@" >"$out/$name.log" 2>&1
  echo "$name: $? $(tail -1 "$out/$name.csv" | cut -c1-60)"
}

gemm() {
  local name=$1 kernel=$2
  shift 2
  [[ $name =~ $only ]] || return 0
  if [[ $predict ]]; then
    predicted "$name" "kernels/$kernel.kernel" "$@"
  else
    measured "$name" "^$kernel" 1 kernel "kernels/$kernel.kernel" --bench --rounds 0 --seed 1 "$@"
  fi
}

network() {
  local name=$1 model=$2
  shift 2
  [[ $name =~ $only ]] || return 0
  if [[ $predict ]]; then
    predicted "$name" "models/$model/model.onnx" "$@"
  else
    measured "$name" '^network' 1 run "models/$model/model.onnx" --target auto --time 0 --seed 1 "$@"
  fi
}

# All rungs of the ladder, one launch each.
ladder() {
  local name=$1
  shift
  [[ $name =~ $only ]] || return 0
  if [[ $predict ]]; then
    predicted "$name" ladder "$@"
  else
    measured "$name" '^matmul_' 20 ladder "$@" --launch
  fi
}

gemm sm90-2048 gemm_bf16_sm90 MNK=2048
gemm sm90-4096 gemm_bf16_sm90 MNK=4096
gemm sm90-4096-row gemm_bf16_sm90 MNK=4096 --attr order=row
gemm sm90-4096-column gemm_bf16_sm90 MNK=4096 --attr order=column
gemm sm90-4096-hilbert gemm_bf16_sm90 MNK=4096 --attr order=hilbert
gemm sm80-1024 gemm_bf16_sm80 MNK=1024
gemm sm80-4096 gemm_bf16_sm80 MNK=4096
gemm sm80-4096-row gemm_bf16_sm80 MNK=4096 --attr order=row
gemm simt-1024 gemm_f32_simt MNK=1024
gemm simt-2048 gemm_f32_simt MNK=2048
gemm m16 gemm_bf16_sm90_m16 M=16 N=14336 K=4096
gemm skinny gemm_bf16_sm90_skinny M=64 N=14336 K=4096
network digits-f16 digits-relu-128-64 --precision f16 --batch 16384
network digits-f32 digits-relu-128-64 --precision f32 --batch 16384
network siren-f16 image-siren-64x4 --precision f16 --batch 16384
network siren-tf32 image-siren-64x4 --precision tf32 --batch 16384
network residual-bf16 ffn-gelu-residual-128 --precision bf16 --batch 16384
network swiglu-f16 ffn-swiglu-128-352 --precision f16 --batch 16384
ladder ladder-1024 M=1024 N=1024 K=1024
ladder ladder-2048 M=2048 N=2048 K=2048
