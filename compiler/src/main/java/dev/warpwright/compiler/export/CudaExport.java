package dev.warpwright.compiler.export;

import dev.warpwright.compiler.bench.Workload;
import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.DType;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.UserError;
import dev.warpwright.schedule.trace.Instruction;
import dev.warpwright.schedule.trace.Trace;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.TensorMaps;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A kernel as a header, a host program that runs, checks and times it, and a build file. Nothing of
 * Warpwright is needed to compile or run them.
 */
public final class CudaExport {
  private static final String HEADER = "kernel.cuh";

  private CudaExport() {}

  /**
   * The files by name.
   *
   * @param kernel for one shape, over f32
   * @param about what it is, in a few words
   * @param trace the schedule that made it; null for a kernel written by hand
   * @throws UserError if the host program could not launch it
   */
  public static Map<String, String> files(
      Kernel kernel, GpuTarget target, String about, @Nullable Trace trace) {
    check(kernel);
    Map<String, String> files = new LinkedHashMap<>();
    files.put(HEADER, header(kernel, target, about, trace));
    files.put("main.cu", HostProgramText.of(kernel, target, workload(kernel)));
    files.put("CMakeLists.txt", cmake(kernel, target));
    if (trace != null) {
      files.put("trace.json", trace.toJson());
    }
    return files;
  }

  private static void check(Kernel kernel) {
    String name = "kernel " + kernel.name() + " cannot be exported: ";
    if (!kernel.scalars().isEmpty()) {
      throw new UserError(
          name
              + "no value for "
              + kernel.scalars().getFirst().name()
              + "; give it, as "
              + kernel.scalars().getFirst().name()
              + "=4096");
    }
    if (!TensorMaps.of(kernel).maps().isEmpty() || kernel.attrs().getLong("cluster", 1) > 1) {
      throw new UserError(
          name
              + "it takes tensor maps or clusters, which the exported host program does not set up");
    }
    for (Buffer buffer : kernel.buffers()) {
      if (buffer.dtype() != DType.F32 || buffer.scope() != Scope.GLOBAL) {
        throw new UserError(name + buffer.name() + " is " + buffer.dtype() + ", not f32");
      }
    }
  }

  /** What it computes, if it says so. */
  private static @Nullable Workload workload(Kernel kernel) {
    return kernel.attrs().has("workload") ? Workload.of(kernel) : null;
  }

  private static String header(
      Kernel kernel, GpuTarget target, String about, @Nullable Trace trace) {
    List<String> comment = new ArrayList<>();
    comment.add(about + ".");
    if (trace != null) {
      comment.add("");
      comment.add("Its schedule, step by step (trace.json has it to be replayed):");
      for (Instruction step : trace.instructions()) {
        if (!step.op().equals("loops")) {
          comment.add("  " + text(step));
        }
      }
    }
    StringBuilder out = new StringBuilder();
    for (String line : comment) {
      out.append(("// " + line).stripTrailing()).append('\n');
    }
    out.append("#pragma once\n\n");
    constants(kernel).forEach((name, value) -> out.append(constant(name, value)));
    return out.append('\n').append(CudaPrinter.print(kernel, target)).toString();
  }

  private static String constant(String name, long value) {
    return "constexpr int " + name + " = " + value + ";\n";
  }

  /** The names that the host program uses. */
  private static Map<String, Long> constants(Kernel kernel) {
    Map<String, Long> constants = new LinkedHashMap<>();
    switch (workload(kernel)) {
      case Workload.Gemm product -> {
        constants.put("kM", product.c().extent(0));
        constants.put("kN", product.c().extent(1));
        constants.put("kK", product.k());
      }
      case Workload.FfnGelu _ -> {}
      case null -> {}
    }
    constants.putAll(HostProgramText.launch(kernel));
    return constants;
  }

  /** {@code l3, l4 = split(l1, factor = 8)}. */
  private static String text(Instruction step) {
    List<String> arguments = new ArrayList<>(step.inputs());
    step.attrs().forEach((key, value) -> arguments.add(key + " = " + value));
    String results = step.outputs().isEmpty() ? "" : String.join(", ", step.outputs()) + " = ";
    return results + step.op() + "(" + String.join(", ", arguments) + ")";
  }

  private static String cmake(Kernel kernel, GpuTarget target) {
    return """
    cmake_minimum_required(VERSION 3.24)
    project(%1$s LANGUAGES CUDA)

    add_executable(%1$s main.cu)
    set_target_properties(%1$s PROPERTIES CUDA_ARCHITECTURES %2$s CUDA_STANDARD 17)
    # Products and sums are fused where the source says so, and nowhere else.
    target_compile_options(%1$s PRIVATE -fmad=false)
    """
        .formatted(CudaPrinter.functionName(kernel), target.name().substring("sm_".length()));
  }
}
