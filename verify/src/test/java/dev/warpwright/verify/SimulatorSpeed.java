package dev.warpwright.verify;

import dev.warpwright.compiler.CompiledModel;
import dev.warpwright.compiler.Device;
import dev.warpwright.compiler.SimulatedDevice;
import dev.warpwright.compiler.Warpwright;
import dev.warpwright.compiler.program.CompiledProgram;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.text.IrParser;
import dev.warpwright.measure.data.KernelData;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.GridInterpreter;
import dev.warpwright.sim.GridOptions;
import dev.warpwright.sim.Options;
import dev.warpwright.sim.ProgramInterpreter;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.intrinsic.Intrinsics;
import dev.warpwright.workload.Precision;
import dev.warpwright.workload.kernel.BoundKernel;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;

/**
 * Times fully checked executions, for docs/benchmarks; run by hand in this module's folder.
 *
 * <pre>{@code java -cp … SimulatorSpeed fast|interpreter RUNS SUBJECT…}</pre>
 *
 * <p>A subject is {@code kernel:NAME:M,N,K} for a file in {@code kernels}, or {@code
 * network:MODEL:PRECISION:ROWS}.
 */
final class SimulatorSpeed {
  private static final long SEED = 7;

  private SimulatorSpeed() {}

  public static void main(String[] args) throws IOException {
    GridOptions options =
        args[0].equals("interpreter")
            ? GridOptions.DEFAULT.withEngine(GridOptions.Engine.INTERPRETER)
            : GridOptions.DEFAULT;
    ThreadMXBean thread = ManagementFactory.getThreadMXBean();
    for (int i = 2; i < args.length; i++) {
      String[] subject = args[i].split(":", -1);
      Runnable run =
          subject[0].equals("kernel")
              ? kernel(subject[1], subject[2].split(",", -1), options)
              : network(subject[1], subject[2], Integer.parseInt(subject[3]), options);
      StringBuilder times = new StringBuilder();
      for (int r = 0; r < Integer.parseInt(args[1]); r++) {
        long start = System.nanoTime();
        long busy = thread.getCurrentThreadCpuTime();
        run.run();
        times.append(
            String.format(
                Locale.ROOT,
                " %.3f (%.3f)",
                (System.nanoTime() - start) * 1e-9,
                (thread.getCurrentThreadCpuTime() - busy) * 1e-9));
      }
      System.out.println(args[0] + " " + args[i] + ", s (of which the thread was busy):" + times);
    }
  }

  private static Runnable kernel(String name, String[] shape, GridOptions options)
      throws IOException {
    Kernel kernel =
        new IrParser(Intrinsics::find)
            .kernel(name, Files.readString(Path.of("..", "kernels", name + ".kernel")));
    BoundKernel bound =
        BoundKernel.of(
            kernel,
            Map.of(
                "M", Long.parseLong(shape[0]),
                "N", Long.parseLong(shape[1]),
                "K", Long.parseLong(shape[2])));
    GridInterpreter interpreter = new GridInterpreter(bound.kernel(), options);
    Arguments arguments = KernelData.of(bound, SEED);
    return () -> interpreter.run(arguments);
  }

  private static Runnable network(String model, String precision, int rows, GridOptions options) {
    Path file = Path.of("..", "models", model, "model.onnx");
    try (Device gpu = new SimulatedDevice(GpuTarget.SM_90A);
        CompiledModel compiled =
            Warpwright.load(file)
                .compile(gpu, Precision.valueOf(precision.toUpperCase(Locale.ROOT)))) {
      CompiledProgram program = compiled.program(rows);
      ProgramInterpreter interpreter =
          new ProgramInterpreter(program.program(), options, Options.CHECKED);
      return () -> interpreter.run(Checks.arguments(program, rows, SEED));
    }
  }
}
