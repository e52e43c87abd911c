package dev.warpwright.parallel.gpu;

import dev.warpwright.compiler.execute.ConstantStore;
import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.cuda.compile.CudaCompilers;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Program;
import dev.warpwright.parallel.program.ParallelProgram;
import dev.warpwright.parallel.program.Way;
import dev.warpwright.runtime.cuda.CudaEvent;
import dev.warpwright.runtime.cuda.CudaGraph;
import dev.warpwright.sim.NdArray;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/**
 * A program for several devices on GPUs. One thread gives the steps to all devices, kernels on one
 * stream of each and sums on another, which waits for the kernels before a sum; kernels that use
 * what is added wait for the sum. A program is captured into a CUDA graph for each device.
 */
public final class ParallelExecutable implements AutoCloseable {
  private static final byte POISON = (byte) 0xFF;

  private final ParallelProgram parallel;
  private final GpuGroup group;
  private final List<DeviceMemory> devices = new ArrayList<>();
  private final Map<Buffer, Program.View> views = new IdentityHashMap<>();
  private List<CudaGraph> graphs = List.of();

  /**
   * Compiles the kernels and puts everything on the devices.
   *
   * @param group as many devices as the program is for; it stays open
   */
  public ParallelExecutable(ParallelProgram parallel, GpuGroup group) {
    if (group.size() != parallel.devices()) {
      throw new IllegalArgumentException(
          "a program for " + parallel.devices() + " devices on " + group.size());
    }
    this.parallel = parallel;
    this.group = group;
    parallel.program().views().forEach(view -> views.put(view.view(), view));
    byte[] cubin =
        CudaCompilers.compile(
                CudaPrinter.print(parallel.program(), parallel.target()), parallel.target())
            .bytes();
    ConstantStore constants = new ConstantStore();
    for (int i = 0; i < group.size(); i++) {
      devices.add(new DeviceMemory(parallel, i, group.contexts().get(i), cubin, constants));
    }
  }

  /**
   * Runs once, for verification: outputs are poisoned first.
   *
   * @param inputs [rows, features] each, in the graph's order
   * @return the outputs of the graph, [rows, features] each
   */
  public List<float[]> run(List<float[]> inputs) {
    for (int device = 0; device < devices.size(); device++) {
      DeviceMemory memory = devices.get(device);
      for (int i = 0; i < inputs.size(); i++) {
        Buffer buffer = parallel.inputs().get(i);
        int width = Math.toIntExact(buffer.extent(1));
        int first = parallel.firstRow(device) * width;
        float[] own =
            Arrays.copyOfRange(inputs.get(i), first, first + parallel.rowsOf(device) * width);
        NdArray filled =
            NdArray.ofFloats(
                    Arrays.copyOf(own, parallel.height() * width), parallel.height(), width)
                .to(buffer.dtype());
        memory.buffer(buffer).copyFrom(filled.segment(), memory.kernels());
      }
      parallel.outputs().forEach(o -> memory.buffer(o).poison(POISON, memory.kernels()));
    }
    give();
    synchronize();
    return parallel.outputs().stream().map(this::gathered).toList();
  }

  private float[] gathered(Buffer output) {
    int width = Math.toIntExact(output.extent(1));
    float[] all = new float[parallel.rows() * width];
    int last = parallel.way() == Way.TENSOR ? 1 : devices.size();
    for (int device = 0; device < last; device++) {
      NdArray own = NdArray.of(output);
      DeviceMemory memory = devices.get(device);
      memory.buffer(output).copyTo(own.segment(), memory.kernels());
      System.arraycopy(
          own.toFloats(),
          0,
          all,
          parallel.firstRow(device) * width,
          parallel.rowsOf(device) * width);
    }
    return all;
  }

  /**
   * Microseconds that a run takes, by graphs replayed back to back: the median of bursts. After
   * {@link #run}, on its inputs.
   *
   * @param bursts at least 1
   * @param runs of a burst
   */
  public double time(int bursts, int runs) {
    if (graphs.isEmpty()) {
      graphs = CudaGraph.capture(devices.stream().map(DeviceMemory::kernels).toList(), this::give);
    }
    double[] micros = new double[bursts];
    DeviceMemory first = devices.getFirst();
    try (CudaEvent start = first.context().newEvent();
        CudaEvent end = first.context().newEvent()) {
      for (int burst = -1; burst < bursts; burst++) {
        start.record(first.kernels());
        for (int i = 0; i < runs; i++) {
          for (int device = 0; device < devices.size(); device++) {
            graphs.get(device).replay(devices.get(device).kernels());
          }
        }
        end.record(first.kernels());
        synchronize();
        if (burst >= 0) {
          micros[burst] = end.millisSince(start) * 1e3 / runs;
        }
      }
    }
    Arrays.sort(micros);
    return micros[bursts / 2];
  }

  private void synchronize() {
    devices.forEach(device -> device.kernels().synchronize());
  }

  /** A sum that is under way: what it is of, and an event behind it for each device. */
  private record UnderWay(Buffer buffer, List<CudaEvent> done) {}

  /** Gives all steps to all devices. */
  private void give() {
    List<UnderWay> sums = new ArrayList<>();
    List<CudaEvent> events = new ArrayList<>();
    try {
      for (Program.Step step : parallel.program().steps()) {
        switch (step) {
          case Program.Launch launch -> {
            for (Program.Argument argument : launch.arguments()) {
              if (argument instanceof Program.BufferArgument(Buffer buffer)) {
                await(sums, buffer);
              }
            }
            devices.forEach(device -> device.launch(launch));
          }
          case Program.Memset(Buffer buffer, int value) -> {
            await(sums, buffer);
            devices.forEach(d -> d.buffer(buffer).poison((byte) value, d.kernels()));
          }
          case Program.Carry(Buffer from, Buffer to) ->
              devices.forEach(
                  d -> d.buffer(to).copyFrom(d.buffer(from), d.buffer(to).bytes(), d.kernels()));
          case Program.AllReduce(Buffer buffer) -> sums.add(sum(buffer, events));
        }
      }
      // The graph, and who waits for the kernels' stream, ends behind all sums.
      sums.forEach(this::await);
    } finally {
      events.forEach(CudaEvent::close);
    }
  }

  private UnderWay sum(Buffer buffer, List<CudaEvent> events) {
    for (DeviceMemory device : devices) {
      CudaEvent ready = event(device, events);
      ready.record(device.kernels());
      device.sums().waitFor(ready);
    }
    group
        .communicators()
        .sum(
            devices.stream().map(device -> device.buffer(buffer)).toList(),
            buffer.storageElements(),
            buffer.dtype(),
            devices.stream().map(DeviceMemory::sums).toList());
    List<CudaEvent> done = new ArrayList<>();
    for (DeviceMemory device : devices) {
      CudaEvent event = event(device, events);
      event.record(device.sums());
      done.add(event);
    }
    return new UnderWay(buffer, done);
  }

  private static CudaEvent event(DeviceMemory device, List<CudaEvent> events) {
    CudaEvent event = device.context().newEvent();
    events.add(event);
    return event;
  }

  /** Lets kernels wait for sums of what they use. */
  private void await(List<UnderWay> sums, Buffer buffer) {
    for (UnderWay sum : List.copyOf(sums)) {
      if (shares(sum.buffer(), buffer)) {
        await(sum);
        sums.remove(sum);
      }
    }
  }

  private void await(UnderWay sum) {
    for (int device = 0; device < devices.size(); device++) {
      devices.get(device).kernels().waitFor(sum.done().get(device));
    }
  }

  /** Whether two buffers have rows in common. */
  private boolean shares(Buffer one, Buffer other) {
    Program.View view = views.get(one);
    Program.View second = views.get(other);
    Buffer base = view == null ? one : view.of();
    if (base != (second == null ? other : second.of())) {
      return false;
    }
    return view == null
        || second == null
        || view.first() < second.first() + other.extent(0)
            && second.first() < view.first() + one.extent(0);
  }

  @Override
  public void close() {
    graphs.forEach(CudaGraph::close);
    graphs = List.of();
    devices.forEach(DeviceMemory::close);
  }
}
