package dev.warpwright.cli.kernels;

import dev.warpwright.base.DeviceError;
import dev.warpwright.base.UserError;
import dev.warpwright.base.json.Json;
import dev.warpwright.cli.devices.Devices;
import dev.warpwright.cli.devices.TargetName;
import dev.warpwright.cli.output.OneLine;
import dev.warpwright.cli.output.Report;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.accuracy.Deviations;
import dev.warpwright.jvm.HostCompiler;
import dev.warpwright.jvm.Parallel;
import dev.warpwright.measure.data.KernelData;
import dev.warpwright.runtime.launch.Gpu;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.GridInterpreter;
import dev.warpwright.sim.GridOptions;
import dev.warpwright.sim.Interpreter;
import dev.warpwright.sim.NdArray;
import dev.warpwright.sim.Options;
import dev.warpwright.sim.Verification;
import dev.warpwright.sim.api.SimulationError;
import dev.warpwright.verify.GpuComparison;
import dev.warpwright.verify.RoundingTolerance;
import dev.warpwright.workload.kernel.BoundKernel;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Runs one kernel in text on random data, and compares all its arrays afterwards with those of the
 * interpreter: a host kernel on the JVM, a grid kernel on the GPU.
 */
public final class KernelExecution {
  private KernelExecution() {}

  static Report report(KernelRequest request, KernelFile file) {
    if (file.content().kernels().size() != 1) {
      throw new UserError(
          request.file()
              + ": --run takes a file of one kernel, this has "
              + file.content().kernels().size());
    }
    Prepared prepared = prepare(request, file.content().kernels().getFirst());
    Kernel kernel = prepared.kernel();
    Arguments right = prepared.arguments();
    Map<String, Long> scalars = prepared.scalars();
    Arguments result = right.copy();
    String device =
        switch (kernel.kind()) {
          case HOST -> onHost(request, kernel, result, scalars);
          case GRID -> onGpu(request, kernel, result, scalars);
        };
    interpret(kernel, right);
    List<Json> arrays = new ArrayList<>();
    StringBuilder lines = new StringBuilder(OneLine.of(kernel.name()) + " on " + device);
    boolean verified = true;
    for (Buffer buffer : kernel.buffers()) {
      Verification verification = Verification.compare(result.get(buffer), right.get(buffer));
      NdArray expected = right.get(buffer);
      double tolerance = RoundingTolerance.of(kernel, buffer);
      int rank = expected.shape().length;
      boolean ok =
          verification.within(tolerance)
              && Deviations.ofOrders(
                      expected.dtype(),
                      result.get(buffer).toDoubles(),
                      expected.toDoubles(),
                      rank == 0 ? 1 : (int) Math.max(1, expected.shape()[rank - 1]),
                      tolerance)
                  .honest();
      verified &= ok;
      arrays.add(
          Json.object()
              .with("name", buffer.name())
              .with("sameBits", result.get(buffer).sameBits(right.get(buffer)))
              .with("relError", verification.relError())
              .with("maxAbsError", verification.maxAbsError()));
      lines.append(
          String.format(
              Locale.ROOT,
              "%n  %-12s %s",
              OneLine.of(buffer.name()),
              result.get(buffer).sameBits(right.get(buffer))
                  ? "bit-equal"
                  : String.format(
                      Locale.ROOT,
                      "%s, relative error %.2e",
                      ok ? "equal up to rounding" : "WRONG",
                      verification.relError())));
    }
    lines.append(
        System.lineSeparator() + (verified ? "verified" : "WRONG") + ", seed " + request.seed());
    return new Report(
        verified,
        lines.toString(),
        KernelAction.json(request, file)
            .with("device", device)
            .with("seed", request.seed())
            .with("arrays", new Json.Array(arrays))
            .with("verified", verified));
  }

  /** What runs, and on what. */
  private record Prepared(Kernel kernel, Arguments arguments, Map<String, Long> scalars) {}

  /**
   * A kernel that says what it computes is made for the shape, and its tables and counters hold
   * what they must.
   */
  private static Prepared prepare(KernelRequest request, Kernel kernel) {
    if (kernel.kind() == Kernel.Kind.GRID && kernel.attrs().getString("workload") != null) {
      BoundKernel bound = BoundKernel.of(kernel, request.values());
      Arguments arguments = KernelData.of(bound, request.seed());
      return new Prepared(bound.kernel(), arguments, Map.of());
    }
    Map<String, Long> scalars =
        KernelData.scalars(kernel.params(), request.values(), request.batch());
    return new Prepared(kernel, KernelData.random(kernel, scalars, request.seed()), scalars);
  }

  private static void interpret(Kernel kernel, Arguments arguments) {
    try {
      switch (kernel.kind()) {
        case HOST -> Interpreter.of(kernel, Options.EXACT).run(arguments);
        case GRID -> new GridInterpreter(kernel, GridOptions.DEFAULT).run(arguments);
      }
    } catch (SimulationError e) {
      throw new UserError(e.getMessage() + "; see --simulate", e);
    } catch (IllegalArgumentException e) {
      throw new UserError(kernel.name() + " cannot be run: " + e.getMessage(), e);
    }
  }

  private static String onHost(
      KernelRequest request, Kernel kernel, Arguments arguments, Map<String, Long> scalars) {
    if (request.target() != TargetName.AUTO && request.target() != TargetName.CPU) {
      throw new UserError(
          "--target " + request.target().text() + ": a host kernel runs on the CPU only");
    }
    runOnHost(kernel, arguments, scalars);
    return "CPU";
  }

  /** Runs a host kernel as bytecode; its arrays hold afterwards what it left in them. */
  public static void runOnHost(Kernel kernel, Arguments arguments, Map<String, Long> scalars) {
    Object[] arrays =
        kernel.buffers().stream().map(buffer -> array(arguments.get(buffer))).toArray();
    long[] values = scalars.values().stream().mapToLong(Long::longValue).toArray();
    try {
      HostCompiler.compile(kernel).run(arrays, values, Parallel.SERIAL);
    } catch (IndexOutOfBoundsException | NegativeArraySizeException e) {
      throw new UserError(
          kernel.name() + " leaves a buffer (" + e.getMessage() + "); see --simulate", e);
    }
    for (int i = 0; i < arrays.length; i++) {
      arguments.get(kernel.buffers().get(i)).segment().copyFrom(segment(arrays[i]));
    }
  }

  /** The elements as a Java array. */
  private static Object array(NdArray values) {
    int n = values.bytes().length / values.dtype().bytes();
    Object array =
        switch (values.dtype()) {
          case F32 -> new float[n];
          case F64 -> new double[n];
          case F16, BF16 -> new short[n];
          case I32, U32 -> new int[n];
          case I64, U64, MBARRIER, HANDLE -> new long[n];
          case I8, U8, BOOL, F8E4M3, F8E5M2 -> new byte[n];
        };
    segment(array).copyFrom(values.segment());
    return array;
  }

  private static MemorySegment segment(Object array) {
    return switch (array) {
      case float[] a -> MemorySegment.ofArray(a);
      case double[] a -> MemorySegment.ofArray(a);
      case short[] a -> MemorySegment.ofArray(a);
      case int[] a -> MemorySegment.ofArray(a);
      case long[] a -> MemorySegment.ofArray(a);
      case byte[] a -> MemorySegment.ofArray(a);
      default -> throw new IllegalArgumentException("no array: " + array.getClass());
    };
  }

  private static String onGpu(
      KernelRequest request, Kernel kernel, Arguments arguments, Map<String, Long> scalars) {
    try (Gpu gpu = open(request.target())) {
      GpuComparison.launch(kernel, arguments, scalars, gpu);
      return gpu.name();
    }
  }

  private static Gpu open(TargetName name) {
    return switch (name) {
      case AUTO ->
          Gpu.find()
              .orElseThrow(
                  () -> new DeviceError(Devices.whyNoGpu() + "; use --simulate for grid kernels"));
      case CPU, SIM ->
          throw new UserError(
              "--target " + name.text() + ": a grid kernel runs on a GPU; use --simulate");
      case SM_75, SM_80, SM_86, SM_89, SM_90A ->
          Devices.require(Devices.target(name), "use --simulate for grid kernels");
    };
  }
}
