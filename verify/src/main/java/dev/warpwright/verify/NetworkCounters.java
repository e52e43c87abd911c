package dev.warpwright.verify;

import dev.warpwright.compiler.program.CompiledProgram;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Program;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.visit.ScalarEval;
import dev.warpwright.perf.RooflineBound;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.GridOptions;
import dev.warpwright.sim.Options;
import dev.warpwright.sim.ProgramInterpreter;
import dev.warpwright.sim.api.KernelCounters;
import dev.warpwright.target.DeviceModel;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What the launches of a network will ask of the memories of a GPU: of each kernel one block is
 * counted, and two one after the other; its counters are linear in rows.
 */
public final class NetworkCounters {
  private NetworkCounters() {}

  /** The launches of a network for so many rows, or for those that it was compiled for only. */
  public static List<CounterPrediction> predict(
      CompiledProgram network, long rows, DeviceModel device) {
    List<CounterPrediction> predictions = new ArrayList<>();
    if (network.fixedRows().isPresent()) {
      int fixed = network.fixedRows().getAsInt();
      List<KernelCounters> counted =
          new ProgramInterpreter(
                  network.program(), GridOptions.counting(device.sms()), Options.EXACT)
              .count(
                  Checks.arguments(network, fixed, 1),
                  kernel -> CountedKernel.caches(kernel, device.sms(), device));
      double rate = network.precision().peak(device) / 1e12;
      int launch = 0;
      for (Program.Step step : network.program().steps()) {
        if (step instanceof Program.Launch(Kernel kernel, List<Program.Argument> _)) {
          Map<Var, Long> byVar = new HashMap<>();
          kernel.scalars().forEach(s -> byVar.put(s.var(), (long) fixed));
          CountedLaunch all = CountedLaunch.of(counted.get(launch++));
          predictions.add(
              CounterPrediction.whole(
                  kernel, all, CountedKernel.blocks(kernel, byVar), fixed, rate, device));
        }
      }
      return predictions;
    }
    List<Kernel> kernels = network.program().kernels();
    for (int i = 0; i < kernels.size(); i++) {
      Kernel kernel = kernels.get(i);
      long height = CountedKernel.extent(kernel, Map.of(), kernel.scalars().getFirst().name());
      double blocks = (double) rows / height;
      // One block, and two one after the other, on one SM.
      CountedLaunch one = CountedLaunch.of(count(network, kernel, (int) height, device).get(i));
      CountedLaunch two =
          CountedLaunch.of(count(network, kernel, (int) (2 * height), device).get(i));
      double each = Math.max(1, blocks / device.sms());
      CountedLaunch counted =
          one.times(blocks / each * (2 - each), two, blocks / each * (each - 1))
              .with(
                  "dramReadBytes",
                  one.total("dramReadBytes") * (2 - blocks)
                      + two.total("dramReadBytes") * (blocks - 1)
                      + CountedKernel.codeBytes(kernel, device));
      int atOnce = CountedKernel.resident(kernel) * device.sms();
      int waves = (int) Math.ceil(blocks / atOnce);
      double rate = network.precision().peak(device) / 1e12;
      double least = leastBytes(kernel, rows);
      double matrix = 2 * counted.total("matrixMultiplyAdds");
      double simple = 2 * counted.total("multiplyAdds");
      predictions.add(
          new CounterPrediction(
              kernel.name(),
              rows,
              counted.totals(),
              counted.lines(),
              waves,
              blocks / atOnce - (waves - 1),
              least,
              longer(
                  RooflineBound.of(matrix, 1e12 * rate, least, device.dramGBs() * 1e9),
                  RooflineBound.of(
                      simple, 1e12 * device.fp32Tflops(), 0, Double.POSITIVE_INFINITY)),
              CountedKernel.time(
                  counted,
                  rate,
                  least,
                  blocks / (Math.ceil(blocks / device.sms()) * device.sms()),
                  device)));
    }
    return predictions;
  }

  private static RooflineBound longer(RooflineBound a, RooflineBound b) {
    return b.micros() > a.micros() ? b : a;
  }

  /** All that a kernel of a network is given or gives, once. */
  private static double leastBytes(Kernel kernel, long rows) {
    Map<Var, Long> scalars = new HashMap<>();
    kernel.scalars().forEach(s -> scalars.put(s.var(), rows));
    double bytes = 0;
    for (Buffer buffer : kernel.buffers()) {
      double elements = 1;
      for (Expr extent : buffer.shape()) {
        elements *= ScalarEval.eval(extent, scalars);
      }
      bytes += elements * buffer.dtype().bytes();
    }
    return bytes;
  }

  private static List<KernelCounters> count(
      CompiledProgram network, Kernel kernel, int rows, DeviceModel device) {
    Arguments arguments = Checks.arguments(network, rows, 1);
    return new ProgramInterpreter(network.program(), GridOptions.counting(1), Options.EXACT)
        .count(arguments, CountedKernel.caches(kernel, 1, device));
  }
}
