package dev.warpwright.cli.attention;

import dev.warpwright.base.UserError;
import dev.warpwright.base.json.Json;
import dev.warpwright.cli.output.Report;
import dev.warpwright.compiler.CpuDevice;
import dev.warpwright.ir.Program;
import dev.warpwright.ir.accuracy.Deviations;
import dev.warpwright.ir.accuracy.ErrorBound;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Numerics;
import dev.warpwright.measure.data.AttentionData;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.NdArray;
import dev.warpwright.sim.ProgramInterpreter;
import dev.warpwright.sim.Verification;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Attention;
import dev.warpwright.workload.AttentionCache;
import dev.warpwright.workload.AttentionReference;
import java.util.Locale;

/** Runs attention on random ragged entries and compares every element with its definition. */
public final class AttentionRun {
  /** Operations of which the reference, and the simulator, take a minute or so. */
  private static final double MOST_VERIFIED = 4e10;

  private static final double MOST_SIMULATED = 4e8;

  private AttentionRun() {}

  /** On the CPU. */
  public static Report onCpu(AttentionTask task, long seed) {
    task.refuseProjection("run on a CPU");
    Attention attention = task.attention();
    require(attention, MOST_VERIFIED, "verify");
    AttentionCache cache = AttentionCache.random(attention, seed);
    Arguments arguments = AttentionData.of(cache, attention.func().params(), seed);
    AttentionReference expected = AttentionData.reference(cache, arguments);
    Object o = array(arguments.get("O"));
    try (CpuDevice device = new CpuDevice()) {
      device
          .attention(attention)
          .run(
              array(arguments.get("Q")),
              array(arguments.get("K")),
              array(arguments.get("V")),
              cache.lengths(),
              cache.table(),
              o);
    }
    return report(attention, "cpu", values(attention.type(), o), expected, seed);
  }

  /** In the simulator of a target, every access checked. */
  public static Report simulated(AttentionTask task, GpuTarget target, long seed) {
    Attention attention = task.attention();
    require(attention, MOST_SIMULATED, "simulate");
    boolean projects = task.features() > 0;
    Program program = projects ? task.projected(target).program() : task.kernels(target).program();
    AttentionCache cache =
        projects ? AttentionCache.full(attention, seed) : AttentionCache.random(attention, seed);
    Arguments arguments = AttentionData.of(cache, ProgramInterpreter.params(program), seed);
    AttentionReference attended = AttentionData.reference(cache, arguments);
    AttentionReference expected =
        projects ? AttentionData.projected(attended, cache, arguments) : attended;
    ProgramInterpreter.run(program, arguments);
    double[] values = arguments.get(projects ? "Y" : "O").toDoubles();
    return report(attention, "sim of " + target.name(), values, expected, seed);
  }

  private static void require(Attention attention, double most, String what) {
    if (attention.flops() > most) {
      throw new UserError(
          attention.text()
              + " is too much to "
              + what
              + "; give fewer keys S, tokens T or heads HQ");
    }
  }

  private static Report report(
      Attention attention, String where, double[] got, AttentionReference expected, long seed) {
    double error = Verification.compare(got, expected.values()).relError();
    Deviations deviations =
        Deviations.of(
            ErrorBound.of(attention.type()),
            i -> got[i],
            i -> expected.values()[i],
            i -> expected.deviations()[i],
            got.length,
            0,
            false);
    boolean verified = deviations.honest() && error <= attention.tolerance();
    String text =
        String.format(
            Locale.ROOT,
            "%s on %s: relative error %.2e, %s (seed %d)%s",
            attention.text(),
            where,
            error,
            verified ? "verified" : "WRONG",
            seed,
            deviations.honest() ? "" : ": " + deviations.text(attention.headSize()));
    return new Report(
        verified,
        text,
        Json.object()
            .with("workload", attention.key().text())
            .with("target", where)
            .with("relError", error)
            .with("verified", verified)
            .with("seed", seed));
  }

  private static Object array(NdArray values) {
    if (values.dtype() == DType.F32) {
      return values.toFloats();
    }
    short[] bits = new short[values.size()];
    for (int i = 0; i < bits.length; i++) {
      float value = (float) values.element(i);
      bits[i] =
          values.dtype() == DType.F16 ? Float.floatToFloat16(value) : Numerics.bf16Bits(value);
    }
    return bits;
  }

  private static double[] values(DType type, Object array) {
    if (array instanceof float[] floats) {
      double[] values = new double[floats.length];
      for (int i = 0; i < values.length; i++) {
        values[i] = floats[i];
      }
      return values;
    }
    short[] bits = (short[]) array;
    double[] values = new double[bits.length];
    for (int i = 0; i < values.length; i++) {
      values[i] =
          type == DType.F16 ? Float.float16ToFloat(bits[i]) : Float.intBitsToFloat(bits[i] << 16);
    }
    return values;
  }
}
