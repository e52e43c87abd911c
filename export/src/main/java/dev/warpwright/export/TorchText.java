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

/** A PyTorch operator: the Python module that loads its library and declares it. */
final class TorchText {
  private TorchText() {}

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


            def _aligned(tensor):
                \"""The tensor, or a copy if it begins at no multiple of 16 bytes, as a slice may.\"""
                return tensor if tensor.data_ptr() %% 16 == 0 else tensor.clone()


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
            TorchBuildText.build(exported, signature).stripTrailing()));
    if (signature.isFat()) {
      out.append(TorchBuildText.targets(exported, signature));
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
        out.append(String.format(Locale.ROOT, "    %s = _aligned(%s)\n", name, name));
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
