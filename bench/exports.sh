#!/usr/bin/env bash
# Exports GEMMs and networks, builds each folder by make, CMake and PyTorch on a GPU, checks and times them, and sets perf's
# times beside them. About 4 minutes. Usage: bench/exports.sh WARPWRIGHT OUT; needs nvcc, CMake and PyTorch.
# ONLY in the environment is an expression for names of folders: ONLY=fat makes those for several GPUs only.
set -u
WW=$(readlink -f "${1:?usage: bench/exports.sh WARPWRIGHT OUT}") OUT=$(readlink -m "${2:?usage: bench/exports.sh WARPWRIGHT OUT}")
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export WW OUT
work=${TMPDIR:-/tmp}/exports.$$
mkdir -p "$work" "$OUT"
cat >"$work/list" <<'LIST'
gemm_bf16|gemm MNK=4096 dtype=bf16
gemm_f16nn|gemm M=2048 N=4096 K=4096 dtype=f16 layout=nn
gemm_tf32|gemm MNK=2048 dtype=tf32
gemm_e4m3|gemm MNK=4096 dtype=e4m3
gemm_int8|gemm MNK=2048 dtype=int8
gemm_f32|gemm MNK=2048 dtype=f32
gemm_gelu|gemm M=1000 N=2000 K=3008 dtype=bf16 bias=1 act=gelu
mlp_f16|mlp widths=64,64,64,64,64 act=relu dtype=f16 rows=8192
mlp_bf16|mlp widths=128,128,128,128 act=gelu dtype=bf16 rows=8192
ffn_gated|ffn M=16 D=2048 H=5632 gated=1 dtype=bf16
digits|models/digits-relu-128-64/model.onnx --precision f16 --batch 4096
siren|models/image-siren-64x4/model.onnx --precision bf16 --batch 16384
digits_fat|models/digits-relu-128-64/model.onnx --precision f16 --batch 4096 --target sm_80,sm_86,sm_90a
gemm_fat|gemm MNK=1024 dtype=bf16 --target sm_80,sm_90a
LIST
if [[ -n ${ONLY:-} ]]; then
  grep -E "^[^|]*(${ONLY})[^|]*\|" "$work/list" >"$work/only" || { echo "exports.sh: no folder has the name $ONLY" >&2; exit 2; }
  mv "$work/only" "$work/list"
fi
one() {
  local name=${1%%|*} what=${1#*|} dir
  dir=$work/$name
  # shellcheck disable=SC2086
  "$WW" export $what $([[ $what == *--target* ]] || echo --target sm_90a) --name "$name" -o "$dir" >"$OUT/$name.export" 2>&1 || { echo "$name export FAILED" >>"$OUT/failed"; return; }
  ( cd "$dir" && make -s -j3 ) >"$OUT/$name.make" 2>&1 || echo "$name make FAILED" >>"$OUT/failed"
  if command -v cmake >/dev/null; then
    ( cmake -S "$dir" -B "$dir/build" && cmake --build "$dir/build" -j2 ) >"$OUT/$name.cmake" 2>&1 ||
      echo "$name cmake FAILED" >>"$OUT/failed"
  else
    echo "no cmake here" >"$OUT/$name.cmake"
  fi
}
export -f one; export work
: >"$OUT/failed"
date +"%T export and build" >"$OUT/log"
tr '\n' '\0' <"$work/list" | xargs -0 -P 8 -I{} bash -c 'one "$1"' _ {}
date +"%T run" >>"$OUT/log"
cat >"$work/all.py" <<'PY'
import json, os, pathlib, re, subprocess, sys, time
work, out = pathlib.Path(os.environ["work"]), pathlib.Path(os.environ["OUT"])
import torch
sys.path.insert(0, str(work))
names = [line.split("|") for line in (work / "list").read_text().splitlines()]
results = {}

def graph_time(call):
    call(); torch.cuda.synchronize()
    g = torch.cuda.CUDAGraph()
    s = torch.cuda.Stream()
    with torch.cuda.stream(s):
        call()
    torch.cuda.synchronize()
    with torch.cuda.graph(g):
        for _ in range(20):
            call()
    times = []
    for _ in range(11):
        a, b = torch.cuda.Event(True), torch.cuda.Event(True)
        a.record(); g.replay(); b.record(); b.synchronize()
        times.append(a.elapsed_time(b) * 1e3 / 20)
    return sorted(times)[5]

for name, what in names:
    row = results[name] = {"what": what}
    folder = work / name
    try:
        program = [p for p in folder.iterdir() if p.is_file() and os.access(p, os.X_OK) and p.suffix == ""][0]
        run = subprocess.run([str(program)], cwd=folder, capture_output=True, text=True, timeout=60)
        row["main"] = (run.stdout + run.stderr).strip(); row["mainExit"] = run.returncode
        times = re.findall(r"([0-9.]+) us", run.stdout)
        row["mainUs"] = float(times[-1]) if times else None
        built = [p for p in (folder / "build").glob("*") if p.name == program.name]
        if built:
            run = subprocess.run([str(built[0])], cwd=folder, capture_output=True, text=True, timeout=60)
            row["cmakeExit"] = run.returncode
    except Exception as e:
        row["mainError"] = repr(e)
    try:
        package = __import__(name)
        op = getattr(package, package.__all__[-2 if hasattr(package, "Model") else 0])
        if (folder / "x.bin").exists():
            # The operator says what it takes: networks of few inputs take f32.
            taken = re.search(r'_check\(x, "x", torch\.(\w+), \(\w+, (\d+)\)', (folder / "torch_op.py").read_text())
            dtype = getattr(torch, taken.group(1))
            x = torch.frombuffer(bytearray((folder / "x.bin").read_bytes()), dtype=dtype).cuda()
            expected = next(folder.glob("*.expected.bin"))
            y = torch.frombuffer(bytearray(expected.read_bytes()), dtype=torch.float32).cuda()
            x = x.reshape(-1, int(taken.group(2))); got = op(x)
            # Of many rows some have expected values.
            drawn = folder / "compared.rows.bin"
            rows = torch.frombuffer(bytearray(drawn.read_bytes()), dtype=torch.int32).cuda().long() if drawn.exists() else slice(None)
            some = got[rows]
            row["opError"] = ((some.double() - y.reshape(some.shape)).norm() / y.double().norm()).item()
            model = package.Model().cuda()
            row["moduleEqual"] = torch.equal(model(x), got)
            row["compiledEqual"] = torch.equal(torch.compile(model)(x), got)
            lead = x.reshape(2, -1, x.shape[1])
            row["leadingEqual"] = torch.equal(model(lead).reshape(got.shape), got)
            row["opUs"] = graph_time(lambda: op(x)); row["moduleUs"] = graph_time(lambda: model(x))
            state = pathlib.Path(what.split(" ")[0]).parent / "state_dict.pth"
            if state.is_file():
                model.load_state_dict(torch.load(state, weights_only=True)); row["strictLoadEqual"] = torch.equal(model(x), got)
                other = {k: v * 1.5 for k, v in torch.load(state, weights_only=True).items()}
                if name.startswith("digits"):
                    net = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 64), torch.nn.ReLU(),
                                              torch.nn.Linear(64, 10)).cuda().double()
                    net.load_state_dict(other); model.load_state_dict(other)
                    wanted = net(x.double())
                    row["otherWeightsError"] = ((model(x).double() - wanted).norm() / wanted.norm()).item()
        else:
            run = subprocess.run([sys.executable, "torch_op.py"], cwd=folder, capture_output=True, text=True, timeout=90)
            row["op"] = (run.stdout + run.stderr).strip()[-300:]; row["opExit"] = run.returncode
    except Exception as e:
        row["torchError"] = repr(e)[-600:]
    print(name, json.dumps(row), flush=True)
(out / "exports.json").write_text(json.dumps(results, indent=1))
PY
timeout 240 python3 "$work/all.py" >"$OUT/torch.txt" 2>&1
date +"%T perf" >>"$OUT/log"
sed 's/^[^|]*|//; s/--precision/\n--precision/' "$work/list" | grep -E '^(gemm|mlp|ffn)' | grep -v -- --target >"$work/tasks"
timeout 110 "$WW" perf --file "$work/tasks" --rounds 5 --bursts --json >"$OUT/perf.json" 2>"$OUT/perf.txt"
date +"%T end" >>"$OUT/log"
python3 - "$OUT" <<'PY' >"$OUT/summary.txt" 2>&1
import json, pathlib, sys
out = pathlib.Path(sys.argv[1]); rows = json.loads((out / "exports.json").read_text())
perf = {}
def walk(o):
    if isinstance(o, dict):
        if "timeUs" in o and ("workload" in o or "task" in o): perf[str(o.get("task", o.get("workload")))] = o["timeUs"]
        for v in o.values(): walk(v)
    elif isinstance(o, list):
        for v in o: walk(v)
try: walk(json.loads((out / "perf.json").read_text()))
except Exception as e: print("perf:", e)
for name, row in rows.items():
    print(name, "exit", row.get("mainExit"), "cmake", row.get("cmakeExit"), "main", row.get("mainUs"), "us; op", row.get("opUs", row.get("op")), "module", row.get("moduleUs"),
          {k: row[k] for k in row if k.endswith(("Equal", "Error"))})
print("perf:", json.dumps(perf, indent=1))
print((out / "failed").read_text() or "all built")
PY
rm -rf "$work"
cat "$OUT/summary.txt"
