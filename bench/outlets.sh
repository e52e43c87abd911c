#!/usr/bin/env bash
# The outlets of 'export' that are no CUDA C++, on a GPU: machine code through its header in C, and a class in Java; each result is
# checked against the reference in its folder, and the time in a graph stands beside that of the CUDA C++ of the same export.
# Usage: bench/outlets.sh WARPWRIGHT OUT; needs nvcc, a C compiler, and for Java the jars of the distribution (LIB, by default
# WARPWRIGHT/../../lib), java (JAVA) and, unless CLASSES has the compiled classes, javac (JAVAC).
# 'bench/outlets.sh WARPWRIGHT OUT classes' only exports and compiles the classes, into OUT/classes: that needs no GPU.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
WW=$(readlink -f "${1:?usage: outlets.sh WARPWRIGHT OUT}") OUT=$(readlink -m "${2:?usage: outlets.sh WARPWRIGHT OUT}") what=${3:-all}
LIB=${LIB:-$(dirname "$WW")/../lib} JAVA=${JAVA:-java} JAVAC=${JAVAC:-javac}
work=${TMPDIR:-/tmp}/outlets.$$
mkdir -p "$work" "$OUT"
cd "$here/.."
tasks() {
  cat <<'LIST'
digits|models/digits-relu-128-64/model.onnx --precision f16 --batch 4096
mlp|mlp widths=64,64,64,64,64 act=relu dtype=f16 rows=8192
block|ffn M=16 D=1024 H=2816 gated=1 dtype=bf16
LIST
}
export_as() { # NAME WHAT FLAG FOLDER
  local folder=$4
  # shellcheck disable=SC2086
  "$WW" export $2 --target sm_90a $3 --name "$1" -o "$folder" >"$OUT/$1$3.export" 2>&1 || { echo "$1 $3: export FAILED"; return 1; }
}
class_of() { echo "$(tr '[:lower:]' '[:upper:]' <<<"${1:0:1}")${1:1}"; }
failed=0
if [[ $what == classes || -z ${CLASSES:-} ]] && command -v "$JAVAC" >/dev/null; then
  CLASSES=$OUT/classes
  mkdir -p "$CLASSES"
  while IFS='|' read -r name task; do
    export_as "$name" "$task" --java "$work/java/$name" || failed=1
  done < <(tasks)
  "$JAVAC" -d "$CLASSES" -cp "$LIB/*" bench/Outlets.java "$work"/java/*/*.java || failed=1
fi
[[ $what != classes ]] || exit "$failed"
while IFS='|' read -r name task; do
  folder=$work/cubin/$name
  export_as "$name" "$task" --cubin "$folder" || { failed=1; continue; }
  read -r rows x y type < <(python3 - "$folder/$name.json" "$folder" <<'PY'
import json, os, sys
manifest = json.load(open(sys.argv[1]))
result = [a for a in manifest["arguments"] if a["role"] == "output"][0]
features = int(result["elements"].split("*")[-1].strip(" ()")) if "*" in result["elements"] else 0
expected = os.path.getsize(sys.argv[2] + "/y.expected.bin") // 4
rows = expected // features if features else manifest["rows"]["max"]
elements = expected if features else int(result["elements"])
print(rows, os.path.getsize(sys.argv[2] + "/x.bin"), elements * {"f32": 4}.get(result["type"], 2), result["type"])
PY
)
  cc -O2 -DNAME="$name" -DHEADER="\"$folder/$name.h\"" -I"${CUDA_HOME:-/usr/local/cuda}/include" bench/outlets.c -o "$work/$name" \
    -L"${CUDA_HOME:-/usr/local/cuda}/lib64/stubs" -lcuda -lm >"$OUT/$name.cc" 2>&1 || { echo "$name: cc FAILED"; failed=1; continue; }
  echo "$name, C:     $("$work/$name" "$folder" "$rows" "$x" "$y" "$type" 2>&1)" || failed=1
  if [[ -n ${CLASSES:-} ]]; then
    echo "$name, Java:  $("$JAVA" --enable-native-access=ALL-UNNAMED -cp "$CLASSES:$LIB/*" Outlets "$(class_of "$name")" "$folder" "$rows" "$y" "$type" 2>&1)" || failed=1
  else
    echo "$name, Java:  no javac here, and CLASSES names none"
  fi
  export_as "$name" "$task" "" "$work/cuda/$name" && (cd "$work/cuda/$name" && make -s) >"$OUT/$name.make" 2>&1 &&
    echo "$name, CUDA:  $(cd "$work/cuda/$name" && "./$name" 2>&1 | tr '\n' ';')" || failed=1
done < <(tasks) | tee "$OUT/outlets.txt"
grep -q 'FAILED\|WRONG\|rror:' "$OUT/outlets.txt" && failed=1
rm -rf "$work"
exit "$failed"
