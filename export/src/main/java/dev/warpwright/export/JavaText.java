package dev.warpwright.export;

import dev.warpwright.export.Exported.State;
import dev.warpwright.export.LaunchPlan.Begin;
import dev.warpwright.export.LaunchPlan.Box;
import dev.warpwright.export.LaunchPlan.Fill;
import dev.warpwright.export.LaunchPlan.Passed;
import dev.warpwright.export.LaunchPlan.Start;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Program.Role;
import dev.warpwright.ir.ScalarParam;
import dev.warpwright.ir.type.DType;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A Java class with machine code in it and a typed method that launches it; it needs the modules
 * {@code runtime} and below, and no compiler.
 */
final class JavaText {
  /** A constant of a class file has 65535 bytes at most. */
  private static final int CHUNK = 60_000;

  private final Exported exported;
  private final Signature signature;
  private final LaunchPlan plan;
  private final StringBuilder out = new StringBuilder();

  private JavaText(Exported exported, Signature signature, LaunchPlan plan) {
    this.exported = exported;
    this.signature = signature;
    this.plan = plan;
  }

  /** The class's name: {@code DigitsRelu} of {@code digits_relu}. */
  static String className(Exported exported) {
    StringBuilder name = new StringBuilder();
    for (String part : ProjectText.name(exported).split("_", -1)) {
      if (!part.isEmpty()) {
        name.append(Character.toUpperCase(part.charAt(0))).append(part.substring(1));
      }
    }
    return Character.isJavaIdentifierStart(name.charAt(0)) ? name.toString() : "K" + name;
  }

  static String of(Exported exported, Signature signature, LaunchPlan plan, byte[] cubin) {
    JavaText text = new JavaText(exported, signature, plan);
    text.write(cubin);
    return text.out.toString();
  }

  private boolean hasConstants() {
    return !exported.buffers(Role.CONSTANT).isEmpty();
  }

  private String row() {
    ScalarParam rows = exported.rows();
    return rows == null ? "" : signature.text().of(rows);
  }

  private void write(byte[] cubin) {
    String name = className(exported);
    List<Buffer> shown = new ArrayList<>(exported.buffers(Role.INPUT));
    shown.addAll(exported.buffers(Role.OUTPUT));
    out.append(
        String.format(
            Locale.ROOT,
            """
            import dev.warpwright.runtime.cuda.CudaBuffer;
            import dev.warpwright.runtime.cuda.CudaContext;
            import dev.warpwright.runtime.cuda.CudaFunction;
            import dev.warpwright.runtime.cuda.CudaLaunch;
            import dev.warpwright.runtime.cuda.CudaModule;
            import dev.warpwright.runtime.cuda.CudaStream;
            import dev.warpwright.runtime.cuda.Dim3;
            import dev.warpwright.runtime.cuda.KernelArgument;
            import dev.warpwright.runtime.cuda.LaunchConfig;
            import dev.warpwright.runtime.cuda.TensorMap;
            import dev.warpwright.runtime.cuda.TensorMapSpec;
            import java.lang.foreign.MemorySegment;
            import java.util.ArrayList;
            import java.util.Base64;
            import java.util.List;

            /**
             * %1$s, as machine code for %2$s.
             *
             * <p>Needs the jars %6$s, and {@code --enable-native-access}.
             * One thread and one stream at a time: calls share a workspace.
             *
             * <pre>{@code
             * try (var context = CudaDriver.require().device(0).open();
             *     var stream = context.newStream();
             *     var kernel = new %3$s(context%4$s, stream)) {
             *   kernel.launch(%5$s, stream);
             * }
             * }</pre>
             */
            public final class %3$s implements AutoCloseable {
            """,
            exported.about().replace("*/", "* /").replace("@", "{@literal @}"),
            exported.target().name(),
            name,
            hasConstants()
                ? ", Files.readAllBytes(Path.of(\"" + exported.constantsFile() + "\"))"
                : "",
            shown.stream().map(signature.text()::of).collect(Collectors.joining(", "))
                + (row().isEmpty() ? "" : ", " + row()),
            CudaExport.JARS));
    embedded(cubin);
    out.append(
        "  private final CudaContext cudaContext;\n  private final CudaModule cudaModule;\n");
    out.append("  private final List<CudaFunction> cudaFunctions = new ArrayList<>();\n");
    if (hasConstants()) {
      out.append("  private final CudaBuffer constants;\n");
    }
    for (Buffer buffer : plan.workspace()) {
      out.append("  private CudaBuffer " + signature.text().of(buffer) + ";\n");
    }
    constructor(name);
    launch();
    if (plan.workspace().stream().anyMatch(b -> !b.hasConstantShape())) {
      out.append(
          """

            /** Memory of at least so many bytes: the old one if it is large enough. */
            private CudaBuffer grown(CudaBuffer old, long bytes) {
              if (old != null && old.bytes() >= bytes) {
                return old;
              }
              if (old != null) {
                old.close();
              }
              return cudaContext.allocate(Math.max(bytes, 1));
            }
          """);
    }
    close();
    out.append("}\n");
  }

  private void embedded(byte[] cubin) {
    String text = Base64.getEncoder().encodeToString(cubin);
    out.append("  /** ").append(cubin.length).append(" bytes of machine code. */\n");
    out.append(
        "  private static byte[] image() {\n    StringBuilder text = new StringBuilder();\n");
    int parts = (text.length() + CHUNK - 1) / CHUNK;
    for (int i = 0; i < parts; i++) {
      out.append("    text.append(Image" + i + ".TEXT);\n");
    }
    out.append("    return Base64.getDecoder().decode(text.toString());\n  }\n\n");
    for (int i = 0; i < parts; i++) {
      // A class each: constants of one class are limited, too. Concatenated by the compiler.
      String part = text.substring(i * CHUNK, Math.min(text.length(), (i + 1) * CHUNK));
      out.append("  private static final class Image" + i + " {\n    static final String TEXT =\n");
      List<String> lines = new ArrayList<>();
      for (int at = 0; at < part.length(); at += 100) {
        lines.add("        \"" + part.substring(at, Math.min(part.length(), at + 100)) + "\"");
      }
      out.append(
          String.join("\n            + ", lines)
              .replace("            +         ", "            + "));
      out.append(";\n  }\n\n");
    }
  }

  private void constructor(String name) {
    out.append(
        String.format(
            Locale.ROOT,
            """

              /**
               * Loads it.
            %s   *
               * @throws dev.warpwright.base.DeviceError if the GPU does not run this machine code
               */
              public %s(CudaContext context%s, CudaStream stream) {
                this.cudaContext = context;
                this.cudaModule = context.load(image());
            """,
            hasConstants()
                ? "   *\n   * @param constantBytes what " + exported.constantsFile() + " holds\n"
                : "",
            name,
            hasConstants() ? ", byte[] constantBytes" : ""));
    for (Start start : plan.starts()) {
      out.append("    cudaFunctions.add(cudaModule.function(\"" + start.entry() + "\"));\n");
    }
    if (hasConstants()) {
      out.append(
          """
              this.constants = cudaContext.allocate(constantBytes.length);
              constants.copyFrom(MemorySegment.ofArray(constantBytes), stream);
          """);
    }
    for (Buffer buffer : plan.workspace()) {
      if (buffer.hasConstantShape()) {
        String own = signature.text().of(buffer);
        out.append("    " + own + " = cudaContext.allocate(" + bytes(buffer) + ");\n");
        switch (exported.state().get(buffer)) {
          case State.Zero() -> out.append("    " + own + ".poison((byte) 0, stream);\n");
          case State.Table(List<Integer> values) -> {
            out.append("    " + own + ".copyFrom(\n        MemorySegment.ofArray(\n");
            out.append("            new int[] {\n              ");
            out.append(LaunchText.wrapped(values.stream().map(v -> v.toString()).toList(), 7));
            out.append("\n            }),\n        stream);\n");
          }
          case null -> {}
        }
      }
    }
    out.append("  }\n");
  }

  private String bytes(Buffer buffer) {
    return LaunchPlan.elements(buffer, signature, "(long) ") + " * " + buffer.dtype().bytes();
  }

  private void launch() {
    List<String> parameters = new ArrayList<>();
    StringBuilder tags = new StringBuilder();
    for (Role role : List.of(Role.INPUT, Role.OUTPUT)) {
      for (Buffer buffer : exported.buffers(role)) {
        String own = signature.text().of(buffer);
        parameters.add("CudaBuffer " + own);
        tags.append(
            String.format(
                Locale.ROOT,
                "   * @param %s %s, %s elements of %s\n",
                own,
                role == Role.INPUT ? "read" : "written",
                LaunchPlan.elements(buffer, signature, ""),
                buffer.dtype().text()));
      }
    }
    if (!row().isEmpty()) {
      parameters.add("int " + row());
      tags.append("   * @param " + row() + " the number of rows\n");
    }
    parameters.add("CudaStream stream");
    out.append(
        "\n  /**\n   * Launches it; the stream has it done when it is synchronized.\n   *\n");
    out.append(tags).append("   */\n");
    out.append("  public void launch(\n      " + String.join(", ", parameters) + ") {\n");
    ScalarParam rows = exported.rows();
    if (rows != null) {
      out.append("    if (" + row() + " == 0) {\n      return;\n    }\n");
      String above = rows.max() < Integer.MAX_VALUE ? " || " + row() + " > " + rows.max() : "";
      out.append("    if (" + row() + " < " + Math.max(0, rows.min()) + above + ") {\n");
      out.append("      throw new IllegalArgumentException(\"rows: \" + " + row() + ");\n    }\n");
    }
    for (Buffer buffer : plan.workspace()) {
      if (!buffer.hasConstantShape()) {
        String own = signature.text().of(buffer);
        out.append("    " + own + " = grown(" + own + ", " + bytes(buffer) + ");\n");
      }
    }
    int number = 0;
    for (LaunchPlan.Action action : plan.steps()) {
      switch (action) {
        case Fill(Buffer buffer, int value) ->
            out.append(
                "    " + signature.text().of(buffer) + ".poison((byte) " + value + ", stream);\n");
        case Begin(Buffer from, Buffer to) ->
            out.append(
                String.format(
                    Locale.ROOT,
                    """
                        if (%1$s != %2$s) {
                          %1$s.copyFrom(%2$s, %3$s, stream);
                        }
                    """,
                    signature.text().of(to),
                    signature.text().of(from),
                    bytes(to)));
        case Start start -> start(start, number++);
      }
    }
    out.append("  }\n");
  }

  private void start(Start start, int number) {
    List<String> arguments = new ArrayList<>();
    for (Passed passed : start.arguments()) {
      Buffer buffer = passed.buffer();
      if (buffer == null) {
        arguments.add("KernelArgument.of(" + java(passed.value()) + ")");
      } else if (offset(buffer) == null) {
        arguments.add("KernelArgument.of(" + signature.text().of(buffer) + ")");
      } else {
        arguments.add("new KernelArgument.Pointer(constants, " + offset(buffer) + ")");
      }
    }
    start.maps().forEach(map -> arguments.add(map(map)));
    out.append(
        String.format(
            Locale.ROOT,
            """
                new CudaLaunch(
                        cudaFunctions.get(%d),
                        LaunchConfig.of(new Dim3(%s), new Dim3(%s))
                            .withDynamicShared(%d)
                            .withProgrammatic(%s),
                        %s)
                    .run(stream);
            """,
            number,
            start.grid().stream().map(JavaText::java).collect(Collectors.joining(", ")),
            String.join(", ", start.block()),
            start.dynamicShared(),
            start.overlaps(),
            String.join(",\n            ", arguments)));
  }

  private String map(Box map) {
    Long offset = offset(map.buffer());
    String matrices = map.matrices();
    return String.format(
        Locale.ROOT,
        """
        KernelArgument.of(
                        TensorMap.tiled(
                            %s,
                            %d,
                            TensorMapSpec.matrix(
                                TensorMapSpec.Type.%s,
                                %s,
                                %s,
                                %d * (%s),
                                %d,
                                %d,
                                TensorMapSpec.Swizzle.%s)%s))""",
        offset == null ? signature.text().of(map.buffer()) : "constants",
        offset == null ? 0 : offset,
        type(map.dtype()),
        java(map.rows()),
        java(map.columns()),
        map.dtype().bytes(),
        java(map.columns()),
        map.boxRows(),
        map.boxColumns(),
        map.swizzleBytes() == 0 ? "NONE" : "B" + map.swizzleBytes(),
        matrices == null
            ? ""
            : String.format(
                Locale.ROOT,
                ".times(%s, %dL * (%s) * (%s))",
                java(matrices),
                map.dtype().bytes(),
                java(map.rows()),
                java(map.columns())));
  }

  private void close() {
    out.append("\n  @Override\n  public void close() {\n");
    for (Buffer buffer : plan.workspace()) {
      String own = signature.text().of(buffer);
      out.append(
          buffer.hasConstantShape()
              ? "    " + own + ".close();\n"
              : "    if (" + own + " != null) {\n      " + own + ".close();\n    }\n");
    }
    out.append(hasConstants() ? "    constants.close();\n" : "");
    out.append("    cudaModule.close();\n  }\n");
  }

  /** Where a constant begins; null for other buffers. */
  private @Nullable Long offset(Buffer buffer) {
    Exported.Sample sample = exported.sample();
    return sample == null ? null : sample.constants().get(buffer);
  }

  private static String java(String expression) {
    return expression.replaceAll("\\b(min|max)\\(", "Math.$1(");
  }

  private static String type(DType dtype) {
    return switch (dtype) {
      case BOOL, I8, U8, F8E4M3, F8E5M2 -> "U8";
      case I32, U32, I64, U64, F16, BF16, F32, F64 -> dtype.name();
      case MBARRIER, HANDLE ->
          throw new IllegalArgumentException("no tensor map holds elements of type " + dtype);
    };
  }
}
