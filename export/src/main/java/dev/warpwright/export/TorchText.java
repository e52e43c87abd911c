package dev.warpwright.export;

import dev.warpwright.base.UserError;
import dev.warpwright.cuda.HostText;
import dev.warpwright.export.Exported.State;
import dev.warpwright.export.Signature.Argument;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Program.Role;
import dev.warpwright.ir.ScalarParam;
import dev.warpwright.ir.accuracy.ErrorBound;
import dev.warpwright.ir.type.DType;
import dev.warpwright.workload.Epilogue;
import dev.warpwright.workload.GemmDeviation;
import dev.warpwright.workload.GemmWorkload.Layout;
import dev.warpwright.workload.kernel.BoundWorkload;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * A PyTorch operator: a library with C linkage that nvcc builds, and a Python module that loads it.
 */
final class TorchText {
  private TorchText() {}

  /** The library. */
  static String library(Exported exported, Signature signature) {
    List<String> parameters = new ArrayList<>();
    List<String> passed = new ArrayList<>();
    for (Argument argument : signature.arguments()) {
      boolean typed = argument.isPointer() && argument.buffer() != null;
      parameters.add(
          !argument.isPointer()
              ? "int " + argument.name()
              : (argument.type().startsWith("const") ? "const void* " : "void* ")
                  + argument.name());
      passed.add(
          typed
              ? String.format(Locale.ROOT, "static_cast<%s>(%s)", argument.type(), argument.name())
              : argument.name());
    }
    parameters.add("cudaStream_t stream");
    passed.add("stream");
    StringBuilder out =
        new StringBuilder(
            String.format(
                Locale.ROOT,
                """
                // The launch with C linkage, for torch_op.py, which builds it:
                //   nvcc %s -shared -Xcompiler -fPIC -o op.so torch_op.cu
                #include "kernel.cuh"

                extern "C" int launch(
                    %s) {
                  return %s(
                      %s);
                }

                extern "C" const char* error_text(int status) {
                  return cudaGetErrorString(static_cast<cudaError_t>(status));
                }
                """,
                CudaExport.flags(exported.target()),
                LaunchText.wrapped(parameters, 2),
                signature.function(),
                LaunchText.wrapped(passed, 3)));
    exported
        .state()
        .forEach(
            (buffer, state) -> {
              if (state instanceof State.Table) {
                out.append(
                    String.format(
                        Locale.ROOT,
                        "\nextern \"C\" const int* table_%s() {\n  return %s;\n}\n",
                        signature.text().of(buffer),
                        signature.table(buffer)));
              }
            });
    return out.toString();
  }

  /** The module. */
  static String module(Exported exported, Signature signature) {
    String name = HostText.identifier(exported.program().name());
    List<Buffer> inputs = exported.buffers(Role.INPUT);
    List<Buffer> outputs = exported.buffers(Role.OUTPUT);
    String parameters =
        inputs.stream()
            .map(b -> signature.text().of(b) + ": torch.Tensor")
            .collect(Collectors.joining(", "));
    String result =
        outputs.size() == 1
            ? "torch.Tensor"
            : "tuple[" + "torch.Tensor, ".repeat(outputs.size() - 1) + "torch.Tensor]";
    String names = outputs.stream().map(signature.text()::of).collect(Collectors.joining(", "));
    StringBuilder out = new StringBuilder();
    out.append(
        String.format(
            Locale.ROOT,
            """
            \"""%1$s, as a PyTorch operator.

                from torch_op import %2$s
                %3$s = %2$s(%4$s)
            \"""
            import ctypes
            import pathlib
            import subprocess

            import torch

            _HERE = pathlib.Path(__file__).resolve().parent


            def _build():
                library = _HERE / "op.so"
                sources = [_HERE / "torch_op.cu", _HERE / "kernel.cuh"]
                if not library.exists() or any(
                        s.stat().st_mtime > library.stat().st_mtime for s in sources):
                    subprocess.run(
                        ["nvcc", *"%5$s".split(), "-shared", "-Xcompiler", "-fPIC",
                         "-o", str(library), str(sources[0])],
                        check=True)
                loaded = ctypes.CDLL(str(library))
                loaded.launch.restype = ctypes.c_int
                loaded.error_text.restype = ctypes.c_char_p
                return loaded


            _library = _build()
            _kept = {}  # memory that stays from call to call, for each GPU


            def _check(tensor, name, dtype, shape):
                if tensor.dtype != dtype or not tensor.is_cuda or not tensor.is_contiguous():
                    raise ValueError(f"{name}: a contiguous {dtype} tensor on a GPU is needed")
                if tuple(tensor.shape) != shape:
                    raise ValueError(f"{name} is {tuple(tensor.shape)}, not {shape}")
                return ctypes.c_void_p(tensor.data_ptr())


            def _keep(name, device, make):
                if (name, device) not in _kept:
                    _kept[name, device] = make()
                return _kept[name, device]


            def _table(name, count):
                function = getattr(_library, "table_" + name)
                function.restype = ctypes.POINTER(ctypes.c_int * count)
                return torch.tensor(list(function().contents), dtype=torch.int32)


            @torch.library.custom_op("warpwright::%2$s", mutates_args=())
            def %2$s(%6$s) -> %7$s:
            """,
            exported.about().replace("\\", "/").replace("\"", "'"),
            name,
            names,
            inputs.stream().map(signature.text()::of).collect(Collectors.joining(", ")),
            CudaExport.flags(exported.target()),
            parameters,
            result));
    body(out, exported, signature);
    out.append(
        String.format(
            Locale.ROOT,
            """


            @%s.register_fake
            def _(%s):
            """,
            name,
            parameters));
    rows(out, exported, signature);
    out.append("    return ")
        .append(
            outputs.stream()
                .map(b -> empty(signature, b, device(exported, signature)))
                .collect(Collectors.joining(", ")))
        .append('\n');
    check(out, exported, signature, name);
    return out.toString();
  }

  /** The GPU of the first input; of sums of nothing, which have none, the current one. */
  private static String device(Exported exported, Signature signature) {
    List<Buffer> inputs = exported.buffers(Role.INPUT);
    return inputs.isEmpty()
        ? "torch.device(\"cuda\", torch.cuda.current_device())"
        : signature.text().of(inputs.getFirst()) + ".device";
  }

  private static void rows(StringBuilder out, Exported exported, Signature signature) {
    ScalarParam rows = exported.rows();
    if (rows != null) {
      out.append(
          String.format(
              Locale.ROOT,
              "    %s = %s.shape[0]\n",
              signature.text().of(rows),
              signature.text().of(exported.buffers(Role.INPUT).getFirst())));
    }
  }

  private static void body(StringBuilder out, Exported exported, Signature signature) {
    List<Buffer> inputs = exported.buffers(Role.INPUT);
    rows(out, exported, signature);
    out.append(String.format(Locale.ROOT, "    device = %s\n", device(exported, signature)));
    List<String> passed = new ArrayList<>();
    for (Argument argument : signature.arguments()) {
      Buffer buffer = argument.buffer();
      String name = argument.name();
      if (buffer == null) {
        passed.add(
            argument.isPointer()
                ? String.format(Locale.ROOT, "ctypes.c_void_p(%s.data_ptr())", name)
                : String.format(Locale.ROOT, "ctypes.c_int(%s)", name));
        if (argument.isPointer()) {
          out.append(
              String.format(
                  Locale.ROOT,
                  """
                      %1$s = _keep("%1$s", device, lambda: torch.frombuffer(
                          bytearray((_HERE / "%2$s").read_bytes()), dtype=torch.uint8).to(device))
                  """,
                  name,
                  SampleFiles.CONSTANTS));
        }
      } else if (inputs.contains(buffer)) {
        passed.add(
            String.format(
                Locale.ROOT,
                "_check(%s, \"%s\", %s, %s)",
                name,
                name,
                dtype(buffer),
                shape(signature, buffer)));
      } else {
        out.append(
            String.format(Locale.ROOT, "    %s = %s\n", name, made(exported, signature, buffer)));
        passed.add(String.format(Locale.ROOT, "ctypes.c_void_p(%s.data_ptr())", name));
      }
    }
    out.append("    with torch.cuda.device(device):\n");
    out.append("        status = _library.launch(\n");
    for (String each : passed) {
      out.append("            ").append(each).append(",\n");
    }
    out.append("            ctypes.c_void_p(torch.cuda.current_stream().cuda_stream))\n");
    out.append(
        String.format(
            Locale.ROOT,
            """
                if status != 0:
                    raise RuntimeError(_library.error_text(status).decode())
                return %s
            """,
            exported.buffers(Role.OUTPUT).stream()
                .map(signature.text()::of)
                .collect(Collectors.joining(", "))));
  }

  private static String made(Exported exported, Signature signature, Buffer buffer) {
    String name = signature.text().of(buffer);
    return switch (exported.state().get(buffer)) {
      case State.Table(List<Integer> values) ->
          String.format(
              Locale.ROOT,
              "_keep(\"%s\", device, lambda: _table(\"%s\", %d).to(device))",
              name,
              name,
              values.size());
      case State.Zero() ->
          String.format(
              Locale.ROOT,
              "_keep(\"%s\", device, lambda: torch.zeros(%s, dtype=%s, device=device))",
              name,
              shape(signature, buffer),
              dtype(buffer));
      case null -> empty(signature, buffer, "device");
    };
  }

  private static String empty(Signature signature, Buffer buffer, String device) {
    return String.format(
        Locale.ROOT,
        "torch.empty(%s, dtype=%s, device=%s)",
        shape(signature, buffer),
        dtype(buffer),
        device);
  }

  private static String shape(Signature signature, Buffer buffer) {
    List<String> extents =
        buffer.shape().stream().map(e -> signature.text().of(e).replace("/", "//")).toList();
    return "(" + String.join(", ", extents) + (extents.size() == 1 ? ",)" : ")");
  }

  private static String dtype(Buffer buffer) {
    DType dtype = buffer.dtype();
    String name =
        switch (dtype) {
          case BOOL -> "bool";
          case I8 -> "int8";
          case U8 -> "uint8";
          case I32, U32 -> "int32";
          case I64, U64, MBARRIER -> "int64";
          case F8E4M3 -> "float8_e4m3fn";
          case F8E5M2 -> "float8_e5m2";
          case F16 -> "float16";
          case BF16 -> "bfloat16";
          case F32 -> "float32";
          case F64 -> "float64";
          case HANDLE -> throw new UserError("no tensor holds elements of type " + dtype);
        };
    return "torch." + name;
  }

  /** Compares with what PyTorch computes, where that is one line. */
  private static void check(
      StringBuilder out, Exported exported, Signature signature, String name) {
    if (exported.workload() instanceof BoundWorkload.Gemm product
        && exported.isChecked()
        && product.k() > 0) {
      out.append(product(product, signature, name));
    }
  }

  private static String product(BoundWorkload.Gemm product, Signature signature, String name) {
    List<String> lines = new ArrayList<>();
    for (Buffer input : product.inputs()) {
      String shape = shape(signature, input);
      String made =
          input.dtype().isInt()
              ? String.format(
                  Locale.ROOT,
                  "torch.randint(-127, 128, %s, dtype=%s, device=\"cuda\")",
                  shape,
                  dtype(input))
              : String.format(
                  Locale.ROOT, "torch.randn(%s, device=\"cuda\").to(%s)", shape, dtype(input));
      lines.add(String.format(Locale.ROOT, "%s = %s", signature.text().of(input), made));
    }
    lines.add("wanted = " + formula(product, signature));
    lines.add(
        String.format(
            Locale.ROOT,
            "got = %s(%s)",
            name,
            product.inputs().stream().map(signature.text()::of).collect(Collectors.joining(", "))));
    lines.add("error = ((got.double() - wanted).norm() / wanted.norm()).item()");
    lines.addAll(deviation(product, signature));
    String right = String.format(Locale.ROOT, "error <= %.0e and worst <= 1", product.tolerance());
    lines.add(
        "print(f\"relative error {error:.2e}, elements up to {worst:.2f} of their bound:\","
            + String.format(Locale.ROOT, " \"right\" if %s else \"WRONG\")", right));
    lines.add(String.format(Locale.ROOT, "raise SystemExit(0 if %s else 1)", right));
    return "\n\nif __name__ == \"__main__\":\n    " + String.join("\n    ", lines) + "\n";
  }

  /** By how much the worst element is further off than its own products allow: {@code worst}. */
  private static List<String> deviation(BoundWorkload.Gemm product, Signature signature) {
    GemmDeviation spread = product.deviation(0);
    ErrorBound bound = ErrorBound.of(product.c().dtype());
    Layout layout = product.layout();
    String a = signature.text().of(product.a()) + ".double()" + (layout.transposedA() ? ".mT" : "");
    String b = signature.text().of(product.b()) + ".double()" + (layout.transposedB() ? ".mT" : "");
    Epilogue epilogue = product.epilogue();
    String factor = Double.toString(Math.abs(epilogue.alpha()));
    String most = "factor * total.abs()";
    String behind = "";
    for (int o = 0; o < epilogue.operands().size(); o++) {
      String operand = signature.text().of(product.extras().get(o)) + ".double().abs()";
      switch (epilogue.operands().get(o)) {
        case ROW_SCALE -> factor += " * " + operand + "[:, None]";
        case COLUMN_SCALE -> factor += " * " + operand;
        case ADDEND -> most += " + " + Math.abs(epilogue.beta()) + " * " + operand;
        case BIAS -> most += " + " + operand;
        case GATE -> behind += " * " + operand;
        case RESIDUAL -> behind += " + " + 2 * spread.unit() + " * " + operand;
      }
    }
    List<String> lines = new ArrayList<>();
    lines.add("total = (" + a + ") @ (" + b + ")");
    lines.add("squares = (" + a + ").square() @ (" + b + ").square()");
    lines.add("before = " + spread.relative() + " * ((squares + total.square()) / 2).sqrt()");
    if (!epilogue.equals(Epilogue.NONE)) {
      lines.add("factor = " + factor);
      lines.add("rounded = " + 2 * spread.unit() + " * (" + most + ")");
      lines.add(
          String.format(
              Locale.ROOT,
              "before = (%s * (factor * before + rounded) + rounded%s)%s",
              epilogue.activation().slope(),
              spread.offset() == 0 ? "" : " + " + 2 * spread.unit() * spread.offset(),
              behind));
    }
    lines.add("before = " + ErrorBound.DEVIATIONS + " * before");
    lines.add(
        String.format(
            Locale.ROOT,
            "limit = %s * (wanted.abs() + before) + before + %s",
            bound.unit(),
            bound.tiny()));
    lines.add("off = (got.double() - wanted).abs()");
    lines.add("worst = torch.where(off == 0, 0, off / limit).max().item()");
    return lines;
  }

  /** What the product is in double precision, with what follows it; see {@link Epilogue}. */
  private static String formula(BoundWorkload.Gemm product, Signature signature) {
    Layout layout = product.layout();
    String a = signature.text().of(product.a()) + ".double()" + (layout.transposedA() ? ".mT" : "");
    String b = signature.text().of(product.b()) + ".double()" + (layout.transposedB() ? ".mT" : "");
    Epilogue epilogue = product.epilogue();
    String linear =
        (epilogue.alpha() == 1 ? "" : epilogue.alpha() + " * ") + "(" + a + " @ " + b + ")";
    String behind = "";
    for (int o = 0; o < epilogue.operands().size(); o++) {
      String operand = signature.text().of(product.extras().get(o)) + ".double()";
      switch (epilogue.operands().get(o)) {
        case ROW_SCALE -> linear += " * " + operand + "[:, None]";
        case COLUMN_SCALE -> linear += " * " + operand;
        case ADDEND -> linear += " + " + epilogue.beta() + " * " + operand;
        case BIAS -> linear += " + " + operand;
        case GATE -> behind += " * " + operand;
        case RESIDUAL -> behind += " + " + operand;
      }
    }
    return epilogue.activation().torch(linear) + behind;
  }
}
