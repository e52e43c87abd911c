package dev.warpwright.export;

import dev.warpwright.base.UserError;
import dev.warpwright.export.Exported.State;
import dev.warpwright.export.LaunchPlan.Begin;
import dev.warpwright.export.LaunchPlan.Box;
import dev.warpwright.export.LaunchPlan.Fill;
import dev.warpwright.export.LaunchPlan.Passed;
import dev.warpwright.export.LaunchPlan.Start;
import dev.warpwright.export.Signature.Argument;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.ScalarParam;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** A header in C that loads and launches machine code by CUDA's driver, without its compiler. */
final class LoaderText {
  private static final String TENSOR_MAP =
      """
      static inline CUresult NAME_tensor_map(CUtensorMap* map, CUdeviceptr matrix,
                                             CUtensorMapDataType type, size_t element, cuuint64_t rows,
                                             cuuint64_t columns, cuuint32_t box_rows,
                                             cuuint32_t box_columns, CUtensorMapSwizzle swizzle,
                                             cuuint64_t matrices) {
        const cuuint64_t row = columns * element;
        const cuuint64_t sizes[] = {columns, rows, matrices};
        const cuuint64_t strides[] = {row, rows * row};
        const cuuint32_t box[] = {box_columns, box_rows, 1};
        const cuuint32_t steps[] = {1, 1, 1};
        return cuTensorMapEncodeTiled(
            map, type, matrices == 0 ? 2 : 3, (void*)(uintptr_t)matrix, sizes, strides, box, steps,
            CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
            row % 128 == 0 ? CU_TENSOR_MAP_L2_PROMOTION_L2_128B : CU_TENSOR_MAP_L2_PROMOTION_NONE,
            CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
      }

      """;

  private final Exported exported;
  private final Signature signature;
  private final LaunchPlan plan;
  private final String name;
  private final StringBuilder out = new StringBuilder();

  private LoaderText(Exported exported, Signature signature, LaunchPlan plan) {
    this.exported = exported;
    this.signature = signature;
    this.plan = plan;
    this.name = ProjectText.name(exported);
  }

  static String of(Exported exported, Signature signature, LaunchPlan plan) {
    LoaderText text = new LoaderText(exported, signature, plan);
    text.write();
    return text.out.toString();
  }

  private void write() {
    String guard = name.toUpperCase(Locale.ROOT) + "_H";
    out.append(
        String.format(
            Locale.ROOT,
            """
            /* %1$s.
             *
             * Loads %2$s, machine code for %3$s, and launches it by CUDA's driver: link with -lcuda.
             * A context is current; pointers are to its memory; all functions give CUDA_SUCCESS or what
             * the driver says.
             *
             *   struct %4$s_module m;
             *   %4$s_load(&m, image);                 // the bytes of %2$s
             *   cuMemAlloc(&workspace, %4$s_workspace_bytes(%5$s));   // if that is not 0
             *   %4$s_prepare(workspace%6$s, stream);        // once for each workspace
             *   %4$s_launch(&m, %7$s, stream);
             *   %4$s_unload(&m);
             */
            #ifndef %8$s
            #define %8$s

            #include <cuda.h>
            #include <stddef.h>
            #include <stdint.h>

            """,
            exported.about().replace("*/", "* /"),
            BinaryFiles.cubin(exported),
            exported.target().name(),
            name,
            row(),
            row().isEmpty() ? "" : ", " + row(),
            parameters().stream()
                .map(p -> p.substring(p.indexOf(' ') + 1))
                .collect(Collectors.joining(", ")),
            guard));
    structure();
    plan.workspace().forEach(this::table);
    workspace();
    if (plan.starts().stream().anyMatch(start -> !start.maps().isEmpty())) {
      out.append(TENSOR_MAP.replace("NAME", name));
    }
    launch();
    out.append("#endif\n");
  }

  private String row() {
    ScalarParam rows = exported.rows();
    return rows == null ? "" : signature.text().of(rows);
  }

  private List<String> parameters() {
    List<String> parameters = new ArrayList<>();
    for (Argument argument : signature.arguments()) {
      Buffer buffer = argument.buffer();
      if (buffer == null || !plan.workspace().contains(buffer)) {
        parameters.add((argument.isPointer() ? "CUdeviceptr " : "int ") + argument.name());
      }
    }
    parameters.add("CUdeviceptr " + Signature.WORKSPACE);
    return parameters;
  }

  private void structure() {
    out.append("struct " + name + "_module {\n  CUmodule module;\n");
    for (int i = 0; i < plan.starts().size(); i++) {
      out.append("  CUfunction function" + i + ";\n");
    }
    out.append("};\n\n");
    out.append(
        "static inline CUresult "
            + name
            + "_load(struct "
            + name
            + "_module* wp_module, const void* image) {\n");
    out.append("  CUresult status = cuModuleLoadData(&wp_module->module, image);\n");
    for (int i = 0; i < plan.starts().size(); i++) {
      Start start = plan.starts().get(i);
      step(
          "cuModuleGetFunction(&wp_module->function"
              + i
              + ", wp_module->module, \""
              + start.entry()
              + "\")");
      if (start.dynamicShared() > 0) {
        step(
            "cuFuncSetAttribute(wp_module->function"
                + i
                + ", CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, "
                + start.dynamicShared()
                + ")");
      }
    }
    out.append("  return status;\n}\n\n");
    out.append(
        "static inline CUresult "
            + name
            + "_unload(struct "
            + name
            + "_module* wp_module) {\n  return cuModuleUnload(wp_module->module);\n}\n\n");
  }

  private void step(String call) {
    out.append("  if (status == CUDA_SUCCESS) {\n    status = " + call + ";\n  }\n");
  }

  private void table(Buffer buffer) {
    if (exported.state().get(buffer) instanceof State.Table(List<Integer> values)) {
      out.append("static const int " + name + "_" + signature.table(buffer) + "[] = {\n    ");
      out.append(LaunchText.wrapped(values.stream().map(v -> Integer.toString(v)).toList(), 2));
      out.append("};\n\n");
    }
  }

  private String bytes(Buffer buffer) {
    return "("
        + LaunchPlan.elements(buffer, signature, "(size_t)")
        + " * "
        + buffer.dtype().bytes()
        + " + 255) / 256 * 256";
  }

  private void workspace() {
    String parameter = row().isEmpty() ? "void" : "int " + row();
    out.append("static inline size_t " + name + "_workspace_bytes(" + parameter + ") {\n");
    out.append("  size_t end = 0;\n");
    plan.workspace().forEach(buffer -> out.append("  end += " + bytes(buffer) + ";\n"));
    out.append(row().isEmpty() ? "" : "  (void)" + row() + ";\n");
    out.append("  return end;\n}\n\n");
    out.append("static inline CUresult " + name + "_prepare(CUdeviceptr workspace");
    out.append(row().isEmpty() ? "" : ", int " + row()).append(", CUstream stream) {\n");
    out.append("  CUresult status = CUDA_SUCCESS;\n  CUdeviceptr base = workspace;\n");
    for (Buffer buffer : plan.workspace()) {
      switch (exported.state().get(buffer)) {
        case State.Table _ -> {
          String table = name + "_" + signature.table(buffer);
          step("cuMemcpyHtoDAsync(base, " + table + ", sizeof(" + table + "), stream)");
        }
        case State.Zero() ->
            step(
                "cuMemsetD8Async(base, 0, "
                    + LaunchPlan.elements(buffer, signature, "(size_t)")
                    + " * "
                    + buffer.dtype().bytes()
                    + ", stream)");
        case null -> {}
      }
      out.append("  base += " + bytes(buffer) + ";\n");
    }
    out.append("  (void)base;\n  (void)stream;\n");
    out.append(row().isEmpty() ? "" : "  (void)" + row() + ";\n");
    out.append("  return status;\n}\n\n");
  }

  private void launch() {
    out.append(
        "static inline CUresult "
            + name
            + "_launch(\n    const struct "
            + name
            + "_module* wp_module, ");
    out.append(String.join(", ", parameters())).append(", CUstream stream) {\n");
    out.append("  CUresult status = CUDA_SUCCESS;\n  CUdeviceptr base = workspace;\n");
    for (Buffer buffer : plan.workspace()) {
      out.append("  const CUdeviceptr " + signature.text().of(buffer) + " = base;\n");
      out.append("  base += " + bytes(buffer) + ";\n");
    }
    out.append("  (void)base;\n");
    ScalarParam rows = exported.rows();
    if (rows != null) {
      out.append("  if (" + row() + " == 0) {\n    return CUDA_SUCCESS;\n  }\n");
      String above = rows.max() < Integer.MAX_VALUE ? " || " + row() + " > " + rows.max() : "";
      out.append("  if (" + row() + " < " + Math.max(0, rows.min()) + above + ") {\n");
      out.append("    return CUDA_ERROR_INVALID_VALUE;\n  }\n");
    }
    int number = 0;
    for (LaunchPlan.Action action : plan.steps()) {
      switch (action) {
        case Fill(Buffer buffer, int value) ->
            step(
                String.format(
                    Locale.ROOT,
                    "cuMemsetD8Async(%s, %d, %s * %d, stream)",
                    pointer(buffer),
                    value,
                    LaunchPlan.elements(buffer, signature, "(size_t)"),
                    buffer.dtype().bytes()));
        case Begin(Buffer from, Buffer to) ->
            step(
                String.format(
                    Locale.ROOT,
                    "%1$s == %2$s ? CUDA_SUCCESS : cuMemcpyDtoDAsync(%1$s, %2$s, %3$s * %4$d, stream)",
                    pointer(to),
                    pointer(from),
                    LaunchPlan.elements(to, signature, "(size_t)"),
                    to.dtype().bytes()));
        case Start start -> start(start, number++);
      }
    }
    out.append("  return status;\n}\n\n");
  }

  private void start(Start start, int number) {
    out.append("  if (status == CUDA_SUCCESS) {\n");
    List<String> passed = new ArrayList<>();
    for (int i = 0; i < start.arguments().size(); i++) {
      Passed each = start.arguments().get(i);
      Buffer buffer = each.buffer();
      out.append(
          buffer == null
              ? "    int wp_a" + i + " = " + c(each.value()) + ";\n"
              : "    CUdeviceptr wp_a" + i + " = " + pointer(buffer) + ";\n");
      passed.add("&wp_a" + i);
    }
    for (int i = 0; i < start.maps().size(); i++) {
      out.append("    CUtensorMap wp_map" + i + ";\n");
      passed.add("&wp_map" + i);
    }
    out.append("    void* wp_arguments[] = {" + String.join(", ", passed) + "};\n");
    out.append("    CUlaunchConfig wp_config = {0};\n");
    String[] axes = {"X", "Y", "Z"};
    for (int d = 0; d < 3; d++) {
      out.append("    wp_config.gridDim" + axes[d] + " = " + c(start.grid().get(d)) + ";\n");
      out.append("    wp_config.blockDim" + axes[d] + " = " + c(start.block().get(d)) + ";\n");
    }
    out.append("    wp_config.sharedMemBytes = " + start.dynamicShared() + ";\n");
    out.append("    wp_config.hStream = stream;\n");
    if (start.overlaps()) {
      out.append(
          """
              CUlaunchAttribute wp_overlap = {0};
              wp_overlap.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
              wp_overlap.value.programmaticStreamSerializationAllowed = 1;
              wp_config.attrs = &wp_overlap;
              wp_config.numAttrs = 1;
          """);
    }
    for (int i = 0; i < start.maps().size(); i++) {
      map(start.maps().get(i), i);
    }
    out.append(
        "    if (status == CUDA_SUCCESS) {\n      status = cuLaunchKernelEx(&wp_config, wp_module->function");
    out.append(number).append(", wp_arguments, NULL);\n    }\n  }\n");
  }

  private void map(Box map, int number) {
    out.append("    if (status == CUDA_SUCCESS) {\n");
    out.append(
        String.format(
            Locale.ROOT,
            "      status = %s_tensor_map(&wp_map%d, %s, %s, %d,\n"
                + "          (cuuint64_t)(%s), (cuuint64_t)(%s), %d, %d,"
                + " CU_TENSOR_MAP_SWIZZLE_%s, %s);\n    }\n",
            name,
            number,
            pointer(map.buffer()),
            LaunchText.elementType(map.dtype()),
            map.dtype().bytes(),
            c(map.rows()),
            c(map.columns()),
            map.boxRows(),
            map.boxColumns(),
            map.swizzleBytes() == 0 ? "NONE" : map.swizzleBytes() + "B",
            map.matrices() == null ? "0" : "(cuuint64_t)(" + c(map.matrices()) + ")"));
  }

  private String pointer(Buffer buffer) {
    Exported.Sample sample = exported.sample();
    Long offset = sample == null ? null : sample.constants().get(buffer);
    return offset == null
        ? signature.text().of(buffer)
        : Signature.CONSTANTS + " + " + offset + "u";
  }

  /** C has no functions of these names. */
  private static String c(String expression) {
    if (expression.contains("min(") || expression.contains("max(")) {
      throw new UserError(
          "--cubin: the size of the grid, " + expression + ", is not written in C yet");
    }
    return expression;
  }
}
