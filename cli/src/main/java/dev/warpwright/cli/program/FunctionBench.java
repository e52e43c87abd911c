package dev.warpwright.cli.program;

import dev.warpwright.base.DeviceError;
import dev.warpwright.base.UserError;
import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.cuda.compile.CudaCompilers;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.measure.timing.AdaptiveTimer;
import dev.warpwright.measure.timing.TimedGraph;
import dev.warpwright.runtime.cuda.CudaBuffer;
import dev.warpwright.runtime.cuda.CudaLaunch;
import dev.warpwright.runtime.cuda.CudaModule;
import dev.warpwright.runtime.cuda.CudaStream;
import dev.warpwright.runtime.launch.Gpu;
import dev.warpwright.runtime.launch.GridLauncher;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.NdArray;
import dev.warpwright.sim.Verification;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.verify.RoundingTolerance;
import java.util.HashMap;
import java.util.Map;

/**
 * Times kernels of one function on a GPU: each is run on the same random data, its results, which
 * were poisoned before, are compared with the right ones, and only then it is timed.
 */
final class FunctionBench {
  /** How long a turn of launches takes. */
  private static final double TURN_US = 5_000;

  private static final byte POISON = -1;

  private final Gpu gpu;
  private final Arguments inputs;
  private final Arguments right;

  /**
   * Makes a bench.
   *
   * @param inputs of the function
   * @param right the same after the function has run
   */
  FunctionBench(Gpu gpu, Arguments inputs, Arguments right) {
    this.gpu = gpu;
    this.inputs = inputs;
    this.right = right;
  }

  /**
   * Microseconds of a launch, back to back with others.
   *
   * @throws UserError if the results are wrong
   * @throws DeviceError if it does not compile or run
   */
  double micros(Kernel kernel) {
    GpuTarget target = (GpuTarget) gpu.target();
    byte[] cubin = CudaCompilers.compile(CudaPrinter.print(kernel, target), target).bytes();
    Map<Buffer, CudaBuffer> buffers = new HashMap<>();
    try (CudaModule module = gpu.context().load(cubin);
        CudaStream stream = gpu.context().newStream()) {
      try {
        for (Buffer buffer : kernel.buffers()) {
          NdArray data = inputs.get(buffer.name());
          CudaBuffer memory = gpu.context().allocate(Math.max(16, data.segment().byteSize()));
          buffers.put(buffer, memory);
          if (OwnArguments.isRead(kernel, buffer)) {
            memory.copyFrom(data.segment(), stream);
          } else {
            memory.poison(POISON, stream);
          }
        }
        CudaLaunch launch = GridLauncher.of(kernel, module).prepare(buffers, Map.of());
        launch.run(stream);
        stream.synchronize();
        verify(kernel, buffers, stream);
        try (TimedGraph graph =
            TimedGraph.capture(gpu.context(), stream, 1, set -> launch.run(stream), TURN_US)) {
          return AdaptiveTimer.alone(graph::replay).micros();
        }
      } finally {
        buffers.values().forEach(CudaBuffer::close);
      }
    }
  }

  private void verify(Kernel kernel, Map<Buffer, CudaBuffer> buffers, CudaStream stream) {
    for (Map.Entry<Buffer, CudaBuffer> entry : buffers.entrySet()) {
      Buffer buffer = entry.getKey();
      NdArray expected = right.get(buffer.name());
      NdArray result = expected.copy();
      entry.getValue().copyTo(result.segment(), stream);
      stream.synchronize();
      Verification difference = Verification.compare(result, expected);
      if (!difference.within(RoundingTolerance.of(kernel, buffer))) {
        throw new UserError(buffer.name() + " is wrong: " + difference);
      }
    }
  }
}
