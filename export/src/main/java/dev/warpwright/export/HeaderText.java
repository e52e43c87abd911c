package dev.warpwright.export;

import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.export.Exported.State;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Program.Role;
import dev.warpwright.schedule.trace.ScheduleText;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.kernel.BoundWorkload;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The header: kernels, constants, and the function that launches. */
final class HeaderText {
  private static final String CONSTANTS_AT = "constants_at";

  private HeaderText() {}

  static String of(Exported exported, Signature signature) {
    StringBuilder out = new StringBuilder();
    for (String line : comment(exported)) {
      out.append(("// " + line).stripTrailing()).append('\n');
    }
    out.append("#pragma once\n\n");
    if (LaunchText.hasMaps(exported)) {
      out.append("#include <cuda.h>\n#include <cudaTypedefs.h>\n");
    }
    out.append("#include <cuda_runtime.h>\n\n#include <cstddef>\n\n");
    Map<String, Long> constants = constants(exported);
    constants.putAll(LaunchText.constants(exported));
    constants.forEach(
        (name, value) ->
            out.append(String.format(Locale.ROOT, "constexpr int %s = %d;\n", name, value)));
    out.append(constants.isEmpty() ? "" : "\n");
    out.append(CudaPrinter.printNamed(exported.program().kernels(), exported.target()))
        .append('\n');
    exported
        .state()
        .forEach(
            (buffer, state) -> {
              if (state instanceof State.Table(List<Integer> values)) {
                out.append(table(signature, buffer, values)).append('\n');
              }
            });
    if (exported.sample() != null && !exported.buffers(Role.CONSTANT).isEmpty()) {
      out.append(offsets(exported, signature)).append('\n');
    }
    return out.append(LaunchText.of(exported, signature)).toString();
  }

  /** The sizes of what it computes, by the names that the host program calls them. */
  static Map<String, Long> constants(Exported exported) {
    Map<String, Long> constants = new LinkedHashMap<>();
    switch (exported.workload()) {
      case BoundWorkload.Gemm product -> {
        if (product.batch().isMany()) {
          constants.put("kBatch", product.batch().count());
        }
        constants.put("kM", product.m());
        constants.put("kN", product.n());
        constants.put("kK", product.k());
      }
      case BoundWorkload.Ffn block -> {
        constants.put("kM", block.y().extent(0));
        constants.put("kInputs", block.x().extent(1));
        constants.put("kHidden", block.h().extent(1));
        constants.put("kOutputs", block.y().extent(1));
      }
      case null -> {}
    }
    return constants;
  }

  private static List<String> comment(Exported exported) {
    List<String> comment = new ArrayList<>(List.of(exported.about() + "."));
    exported
        .traces()
        .forEach(
            (kernel, trace) -> {
              comment.add("");
              comment.add(
                  exported.traces().size() == 1
                      ? "Its schedule, step by step (the trace beside this file replays it):"
                      : "The schedule of " + kernel + ", step by step:");
              ScheduleText.of(trace).lines().forEach(step -> comment.add("  " + step));
            });
    return comment;
  }

  private static String table(Signature signature, Buffer buffer, List<Integer> values) {
    boolean group = buffer.name().equals(GemmWorkload.GROUP);
    List<String> numbers =
        values.stream()
            .map(v -> group ? v.toString() : String.format(Locale.ROOT, "0x%x", v))
            .toList();
    return String.format(
        Locale.ROOT,
        "// What %s holds: %s.\nstatic const int %s[] = {\n    %s};\n",
        buffer.name(),
        group ? "which B each GEMM takes" : "tiles in their order, row << 16 | column",
        signature.table(buffer),
        LaunchText.wrapped(numbers, 2));
  }

  /** The name of a constant's offset. */
  static String offset(Signature signature, Buffer buffer) {
    return CONSTANTS_AT + "::" + signature.text().of(buffer);
  }

  private static String offsets(Exported exported, Signature signature) {
    StringBuilder out =
        new StringBuilder(
            "// Where each constant begins in constants.bin, in bytes.\nnamespace "
                + CONSTANTS_AT
                + " {\n");
    for (Buffer buffer : exported.buffers(Role.CONSTANT)) {
      Long offset = exported.sample() == null ? null : exported.sample().constants().get(buffer);
      out.append(
          String.format(
              Locale.ROOT,
              "constexpr std::size_t %s = %d;\n",
              signature.text().of(buffer),
              offset));
    }
    return out.append("}  // namespace " + CONSTANTS_AT + "\n").toString();
  }
}
