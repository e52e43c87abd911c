package dev.warpwright.export;

import dev.warpwright.base.UserError;
import dev.warpwright.cuda.HostText;
import dev.warpwright.export.Exported.State;
import dev.warpwright.export.Signature.Argument;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Program.Role;
import dev.warpwright.ir.ScalarParam;
import dev.warpwright.ir.type.DType;
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
                //   %s
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
                signature.isFat()
                    ? "make op.so"
                    : "nvcc "
                        + CudaExport.flags(exported.target())
                        + " -shared -Xcompiler -fPIC -o op.so torch_op.cu",
                LaunchText.wrapped(parameters, 2),
                signature.function(),
                LaunchText.wrapped(passed, 3)));
    if (signature.isFat()) {
      out.append(pooled(exported, signature));
      return out.toString();
    }
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

  /** Functions about the workspace of an export for several targets. */
  private static String pooled(Exported exported, Signature signature) {
    ScalarParam rows = exported.rows();
    String row = rows == null ? "" : "int " + signature.text().of(rows);
    String given = rows == null ? "" : signature.text().of(rows);
    return String.format(
        Locale.ROOT,
        """

        extern "C" std::size_t workspace_bytes(%1$s) {
          return workspace_%2$s(%3$s);
        }

        extern "C" int prepare(void* workspace%4$s, cudaStream_t stream) {
          return prepare_%2$s(workspace%5$s, stream);
        }
        """,
        row,
        ProjectText.name(exported),
        given,
        row.isEmpty() ? "" : ", " + row,
        given.isEmpty() ? "" : ", " + given);
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


            %5$s

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
            """,
            docText(exported.about()),
            name,
            names,
            inputs.stream().map(signature.text()::of).collect(Collectors.joining(", ")),
            build(exported, signature).stripTrailing()));
    if (signature.isFat()) {
      out.append(targets(exported, signature));
    }
    if (ModuleText.has(exported)) {
      withConstants(out, exported, signature, new Operator(name, parameters, result));
    } else {
      out.append(operator(name, parameters, result));
      body(out, exported, signature, true);
      out.append(fake(name, parameters));
      made(out, exported, signature);
    }
    out.append(TorchCheckText.of(exported, signature, name));
    return out.toString();
  }

  private static String build(Exported exported, Signature signature) {
    return signature.isFat()
        ? String.format(
            Locale.ROOT,
            """
            _SOURCES = {  # a source for each GPU, and nvcc's options for it
            %s
            }


            def _build():
                library = _HERE / "op.so"
                if not library.exists() or any(
                        s.stat().st_mtime > library.stat().st_mtime for s in _HERE.glob("*.cu*")):
                    objects = [str(_HERE / s.replace(".cu", ".o")) for s in _SOURCES]
                    running = [
                        subprocess.Popen(
                            ["nvcc", *options.split(), "-Xcompiler", "-fPIC", "-c", "-o", to, str(_HERE / s)])
                        for (s, options), to in zip(_SOURCES.items(), objects)]
                    if any([each.wait() for each in running]):
                        raise RuntimeError("nvcc failed")
                    subprocess.run(
                        ["nvcc", "-std=c++17", "-shared", "-Xcompiler", "-fPIC", "-o", str(library),
                         str(_HERE / "torch_op.cu"), *objects],
                        check=True)
                loaded = ctypes.CDLL(str(library))
                loaded.launch.restype = ctypes.c_int
                loaded.prepare.restype = ctypes.c_int
                loaded.workspace_bytes.restype = ctypes.c_size_t
                loaded.error_text.restype = ctypes.c_char_p
                return loaded
            """,
            signature.variants().stream()
                .map(
                    v ->
                        "    \"target_"
                            + v.target().name()
                            + ".cu\": \""
                            + CudaExport.flags(v.target())
                            + "\",")
                .collect(Collectors.joining("\n")))
        : String.format(
            Locale.ROOT,
            """
            def _build():
                library = _HERE / "op.so"
                sources = [_HERE / "torch_op.cu", _HERE / "kernel.cuh"]
                if not library.exists() or any(
                        s.stat().st_mtime > library.stat().st_mtime for s in sources):
                    subprocess.run(
                        ["nvcc", *"%s".split(), "-shared", "-Xcompiler", "-fPIC",
                         "-o", str(library), str(sources[0])],
                        check=True)
                loaded = ctypes.CDLL(str(library))
                loaded.launch.restype = ctypes.c_int
                loaded.error_text.restype = ctypes.c_char_p
                return loaded
            """,
            CudaExport.flags(exported.target()));
  }

  /** Which target a GPU runs, and its workspace. */
  private static String targets(Exported exported, Signature signature) {
    boolean kept = signature.variants().stream().anyMatch(v -> !v.state().isEmpty());
    ScalarParam rows = exported.rows();
    String more = rows == null ? "" : ", " + signature.text().of(rows);
    String given = rows == null ? "" : signature.text().of(rows);
    return String.format(
        Locale.ROOT,
        """


        _TARGETS = {%1$s}
        %2$s

        def _target(device):
            if device.type != "cuda":
                return next(iter(_TARGETS))
            major, minor = torch.cuda.get_device_capability(device)
            fits = [t for t, (a, b) in _TARGETS.items() if a == major and b <= minor]
            if not fits:
                raise RuntimeError(f"no kernels for sm_{major}{minor}; there are {', '.join(_TARGETS)}")
            return max(fits, key=_TARGETS.get)


        def _workspace(device%3$s):
            with torch.cuda.device(device):
                memory = torch.empty(_library.workspace_bytes(%4$s), dtype=torch.uint8, device=device)
        %5$s        return memory
        """,
        signature.variants().stream()
            .map(
                v ->
                    String.format(
                        Locale.ROOT,
                        "\"%s\": (%d, %d)",
                        v.target().name(),
                        v.target().arch() / 10,
                        v.target().arch() % 10))
            .collect(Collectors.joining(", ")),
        exported.buffers(Role.CONSTANT).isEmpty()
            ? ""
            : "_CONSTANTS = {  # the file of each, and its bytes\n"
                + signature.variants().stream()
                    .map(
                        v ->
                            String.format(
                                Locale.ROOT,
                                "    \"%s\": (\"%s\", %d),\n",
                                v.target().name(),
                                v.constantsFile(),
                                FatText.bytes(v)))
                    .collect(Collectors.joining())
                + "}\n",
        more,
        given,
        kept
            ? String.format(
                    Locale.ROOT,
                    """
                        status = _library.prepare(
                            ctypes.c_void_p(memory.data_ptr())%s,
                            ctypes.c_void_p(torch.cuda.current_stream().cuda_stream))
                        if status != 0:
                            raise RuntimeError(_library.error_text(status).decode())
                """,
                    given.isEmpty() ? "" : ", ctypes.c_int(" + given + ")")
                .indent(0)
            : "");
  }

  /** An operator's name, parameters and result. */
  private record Operator(String name, String parameters, String result) {}

  /** Two operators: one with the model's weights, one whose weights are an argument. */
  private static void withConstants(
      StringBuilder out, Exported exported, Signature signature, Operator operator) {
    String inputs =
        exported.buffers(Role.INPUT).stream()
            .map(signature.text()::of)
            .collect(Collectors.joining(", "));
    String more = operator.parameters() + ", constants: torch.Tensor";
    out.append(
        String.format(
            Locale.ROOT,
            """


            %sdef _launch(%s, constants):
            """,
            signature.isFat()
                ? ""
                : "def _target(device):\n    return \"" + exported.target().name() + "\"\n\n\n",
            inputs));
    body(out, exported, signature, false);
    out.append(String.format(Locale.ROOT, "\n\ndef _empty(%s):\n", inputs));
    made(out, exported, signature);
    out.append(operator(operator.name(), operator.parameters(), operator.result()));
    out.append(
        String.format(
            Locale.ROOT,
            "    device = %s\n    return _launch(%s, %s)\n",
            device(exported, signature),
            inputs,
            keptConstants(exported, signature)));
    out.append(fake(operator.name(), operator.parameters()));
    out.append(String.format(Locale.ROOT, "    return _empty(%s)\n", inputs));
    String with = operator.name() + "_with";
    out.append(operator(with, more, operator.result()));
    out.append(String.format(Locale.ROOT, "    return _launch(%s, constants)\n", inputs));
    out.append(fake(with, more));
    out.append(String.format(Locale.ROOT, "    return _empty(%s)\n", inputs));
  }

  private static String operator(String name, String parameters, String result) {
    return String.format(
        Locale.ROOT,
        """


        @torch.library.custom_op("warpwright::%1$s", mutates_args=())
        def %1$s(%2$s) -> %3$s:
        """,
        name,
        parameters,
        result);
  }

  private static String fake(String name, String parameters) {
    return String.format(
        Locale.ROOT,
        """


        @%s.register_fake
        def _(%s):
        """,
        name,
        parameters);
  }

  /** The meta function's results. */
  private static void made(StringBuilder out, Exported exported, Signature signature) {
    rows(out, exported, signature);
    out.append("    return ")
        .append(
            exported.buffers(Role.OUTPUT).stream()
                .map(b -> empty(signature, b, device(exported, signature)))
                .collect(Collectors.joining(", ")))
        .append('\n');
  }

  /** A text that may stand in a documentation string. */
  static String docText(String text) {
    return text.replace("\\", "/").replace("\"", "'");
  }

  private static String keptConstants(Exported exported, Signature signature) {
    return String.format(
        Locale.ROOT,
        """
        _keep("constants", device, lambda: torch.frombuffer(
                bytearray((_HERE / %s).read_bytes()), dtype=torch.uint8).to(device))""",
        signature.isFat()
            ? "_CONSTANTS[_target(device)][0]"
            : '"' + exported.constantsFile() + '"');
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

  /**
   * What launches, and gives the results.
   *
   * @param own whether constants are those of the file, else an argument
   */
  private static void body(StringBuilder out, Exported exported, Signature signature, boolean own) {
    List<Buffer> inputs = exported.buffers(Role.INPUT);
    rows(out, exported, signature);
    out.append(String.format(Locale.ROOT, "    device = %s\n", device(exported, signature)));
    List<String> passed = new ArrayList<>();
    for (Argument argument : signature.arguments()) {
      Buffer buffer = argument.buffer();
      String name = argument.name();
      if (buffer == null && name.equals(Signature.WORKSPACE)) {
        workspace(out, exported, signature);
        passed.add("ctypes.c_void_p(workspace.data_ptr())");
      } else if (buffer == null) {
        passed.add(
            argument.isPointer()
                ? constants(exported, signature, own)
                : String.format(Locale.ROOT, "ctypes.c_int(%s)", name));
        if (argument.isPointer() && own) {
          out.append("    ")
              .append(name)
              .append(" = ")
              .append(keptConstants(exported, signature))
              .append('\n');
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

  /** The workspace of several targets; tables and counters in it are kept from call to call. */
  private static void workspace(StringBuilder out, Exported exported, Signature signature) {
    ScalarParam rows = exported.rows();
    String made =
        "_workspace(device" + (rows == null ? "" : ", " + signature.text().of(rows)) + ")";
    boolean kept = signature.variants().stream().anyMatch(v -> !v.state().isEmpty());
    out.append("    workspace = ")
        .append(kept ? "_keep(\"workspace\", device, lambda: " + made + ")" : made)
        .append('\n');
  }

  /** The block of constants; one of the caller's is looked at. */
  private static String constants(Exported exported, Signature signature, boolean own) {
    Exported.Sample sample = exported.sample();
    byte[] file = sample == null ? null : sample.files().get(exported.constantsFile());
    return own || file == null
        ? "ctypes.c_void_p(constants.data_ptr())"
        : String.format(
            Locale.ROOT,
            "_check(constants, \"constants\", torch.uint8, (%s,))",
            signature.isFat() ? "_CONSTANTS[_target(device)][1]" : Integer.toString(file.length));
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

  /** The shape of a buffer's tensor, a tuple in Python. */
  static String shape(Signature signature, Buffer buffer) {
    List<String> extents =
        buffer.shape().stream().map(e -> signature.text().of(e).replace("/", "//")).toList();
    return "(" + String.join(", ", extents) + (extents.size() == 1 ? ",)" : ")");
  }

  /** What PyTorch calls the type of a buffer's elements. */
  static String dtype(Buffer buffer) {
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
}
