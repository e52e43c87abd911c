#!/usr/bin/env bash
# Verifies and times the networks that are chained in registers (kernels/mlp_*), in f16 and in bf16, on an H100 or H200:
#   chained.sh print WARPWRIGHT OUT [LOWERED]   prints their CUDA C++ into the folder OUT; needs no GPU. WARPWRIGHT is the command.
#                                     LOWERED is a folder with the same kernels as examples' RegisterChainedNetwork writes
#                                     them: those are timed too, right behind each, in OUT/lowered
#   chained.sh run OUT                compiles and runs what is there; needs nvcc, and no Java
# Each is verified against sums in f64 that are never rounded, over the whole output, on fresh random data with poisoned outputs,
# before and after it is timed: 12 launches a graph, over so many inputs that 3 times L2 pass before one comes again. A burst
# is 8 ms after a rest of 40 ms; what follows 0.9 s without a rest is sustained. Medians; exit code 1 if anything is wrong.
set -u
task=${1:?print or run}
here=$(cd "$(dirname "$0")" && pwd)

if [[ $task == print ]]; then
  ww=${2:?the command warpwright} out=${3:?a folder}
  mkdir -p "$out" || exit 2
  cp "$here/chained.sh" "$here/chained.cu" "$out"
  for file in "$here"/../kernels/mlp_f16_*.kernel; do
    name=$(basename "$file" .kernel)
    "$ww" kernel "$file" --cuda --target sm_90a --out "$out/$name.cu" || exit 1
    # In bf16 nothing differs but the type.
    sed 's/f16/bf16/g' "$file" >"$out/${name/f16/bf16}.kernel"
    "$ww" kernel "$out/${name/f16/bf16}.kernel" --cuda --target sm_90a --out "$out/${name/f16/bf16}.cu" || exit 1
  done
  if [[ -n ${4:-} ]]; then
    mkdir -p "$out/lowered" && cp "$here/chained.cu" "$out/lowered"
    for file in "$4"/mlp_*.kernel; do
      "$ww" kernel "$file" --cuda --target sm_90a --out "$out/lowered/$(basename "$file" .kernel).cu" || exit 1
    done
  fi
  exit 0
fi

out=${2:?a folder}
cd "$out" || exit 2
# make NAME: one program of one kernel; in the folder $2 if that is given.
make() (
  local name=$1 threads shared shape
  cd "${2:-.}" || exit 2
  threads=$(grep -o '__launch_bounds__([0-9]*' "$name.cu" | grep -o '[0-9]*$')
  shared=$(sed -nE 's/^\/\/ Grid .* ([0-9]+) bytes of dynamic.*/\1/p' "$name.cu")
  shape=${name##*_}
  nvcc -gencode arch=compute_90a,code=sm_90a -O3 -std=c++17 -fmad=false -Xptxas -v -DKERNEL="\"$name.cu\"" \
    -DNAME="$name" -DTYPE="$(cut -d_ -f2 <<<"$name")" -DWIDTH="${shape%x*}" -DLAYERS="${shape#*x}" \
    -DTHREADS="$threads" -DSHARED="${shared:-0}" -o "$name" chained.cu >"$name.log" 2>&1
)
for source in mlp_*.cu; do
  make "${source%.cu}" &
done
for source in lowered/mlp_*.cu; do
  [[ ! -e $source ]] || make "$(basename "$source" .cu)" lowered &
done
wait
failed=0
# By hand, then lowered, of each network in turn.
for program in $(for source in mlp_*.cu; do
  echo "${source%.cu}"
  [[ ! -e lowered/$source ]] || echo "lowered/${source%.cu}"
done); do
  name=$(basename "$program")
  remarks=$(grep -A3 "Compiling entry function '$name'" "$program.log" | grep -oE '[0-9]+ bytes spill stores|Used [0-9]+ registers' |
    paste -sd ' ')
  echo "== $program: $remarks $(grep -o 'C75[0-9]*' "$program.log" | sort -u | paste -sd ' ')"
  timeout 120 "./$program" || failed=1
done
exit $failed
