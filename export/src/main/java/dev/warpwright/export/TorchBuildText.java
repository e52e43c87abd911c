package dev.warpwright.export;

import dev.warpwright.export.Exported.State;
import dev.warpwright.export.Signature.Argument;
import dev.warpwright.ir.Program.Role;
import dev.warpwright.ir.ScalarParam;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** The library of a PyTorch operator, with C linkage, and the Python that builds and loads it. */
final class TorchBuildText {
  private TorchBuildText() {}

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

  /** The function that builds the library where it is older than its sources. */
  static String build(Exported exported, Signature signature) {
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
  static String targets(Exported exported, Signature signature) {
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
}
