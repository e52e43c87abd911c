package dev.warpwright.runtime.cuda;

import dev.warpwright.base.DeviceError;
import dev.warpwright.cuda.compile.CompileRequest;
import dev.warpwright.cuda.compile.Cubin;
import dev.warpwright.cuda.compile.CudaCompiler;
import dev.warpwright.cuda.compile.CudaCompilers;
import dev.warpwright.cuda.compile.ResourceUsage;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Compilers, launches and graphs. */
final class LaunchItems extends SelfTestItems {
  LaunchItems(SelfTestBench bench) {
    super(bench);
  }

  @Override
  Map<String, Item> items() {
    Map<String, Item> items = new LinkedHashMap<>();
    items.put("nvcc compiles and its kernel runs", () -> compiler(CudaCompilers.nvcc()));
    items.put("NVRTC compiles and its kernel runs", () -> compiler(CudaCompilers.nvrtc()));
    items.put("arguments are checked", this::arguments);
    items.put("dynamic shared memory above 48 KiB", this::dynamicShared);
    items.put("cooperative launch", this::cooperative);
    items.put("several threads", this::threads);
    items.put("launch overhead", this::overhead);
    return items;
  }

  private String compiler(Optional<? extends CudaCompiler> found) {
    if (found.isEmpty()) {
      return "SKIP not installed";
    }
    CudaCompiler compiler = found.get();
    CompileRequest request = new CompileRequest(SelfTestKernels.PLAIN, context.device().arch());
    long start = System.nanoTime();
    Cubin cubin = compiler.compile(request);
    long first = System.nanoTime() - start;
    start = System.nanoTime();
    compiler.compile(request);
    long second = System.nanoTime() - start;
    try (CudaModule module = context.load(cubin.bytes())) {
      CudaFunction axpy = module.function("axpy");
      ResourceUsage usage =
          cubin.usage("axpy").orElseThrow(() -> new AssertionError("no usage in: " + cubin.log()));
      equal(usage.registers(), axpy.registers(), "registers");
      equal(usage.staticShared(), axpy.staticShared(), "static shared");
      equal(0, axpy.localBytes(), "local bytes");
      check(usage.isClean(), "usage " + usage);
      axpy(axpy, stream);
    }
    return String.format(
        Locale.ROOT,
        "%s, first %.0f ms, then %.1f ms",
        compiler.describe(),
        first / 1e6,
        second / 1e6);
  }

  private String arguments() {
    try (CudaModule module = module();
        CudaBuffer buffer = context.allocate(64)) {
      CudaFunction axpy = module.function("axpy");
      if (ModuleCalls.Parameters.areKnown()) {
        fails(
            DeviceError.class,
            "parameter 0 has 4 bytes",
            () -> new CudaLaunch(axpy, LaunchConfig.of(1, 1), KernelArgument.of(buffer)));
      }
      fails(DeviceError.class, "'missing'", () -> module.function("missing"));
      LaunchConfig huge = LaunchConfig.of(1, 1).withDynamicShared(1 << 20);
      fails(DeviceError.class, "shared memory", () -> new CudaLaunch(axpy, huge));
      fails(DeviceError.class, "cuModuleLoadDataEx", () -> context.load(new byte[100]));
      fails(DeviceError.class, "cuMemAlloc", () -> context.allocate(1L << 50));
      fails(DeviceError.class, "no GPU 99", () -> CudaDriver.require().device(99));
      return "sizes known: " + ModuleCalls.Parameters.areKnown();
    }
  }

  private String dynamicShared() {
    int threads = 1024;
    int bytes = context.device().maxSharedPerBlock();
    try (CudaModule module = module();
        CudaBuffer x = context.allocate(4L * threads * 3);
        CudaBuffer y = context.allocate(4L * threads * 3)) {
      float[] values = randomFloats(threads * 3);
      x.copyFrom(values, stream);
      new CudaLaunch(
              module.function("reverse"),
              LaunchConfig.of(3, threads).withDynamicShared(bytes),
              KernelArgument.of(x),
              KernelArgument.of(y))
          .run(stream);
      float[] result = y.toFloats(stream);
      for (int i = 0; i < result.length; i++) {
        equal(values[i / threads * threads + threads - 1 - i % threads], result[i], "y[" + i + "]");
      }
    }
    return bytes + " bytes";
  }

  private String cooperative() {
    int blocks = context.device().sms();
    try (CudaModule module = module();
        CudaBuffer total = context.allocate(4)) {
      total.poison((byte) 0, stream);
      new CudaLaunch(
              module.function("count"),
              LaunchConfig.of(blocks, 32).withCooperative(true),
              KernelArgument.of(total),
              KernelArgument.of(blocks))
          .run(stream);
      int[] count = new int[1];
      total.copyTo(MemorySegment.ofArray(count), stream);
      equal(blocks, count[0], "blocks");
    }
    return blocks + " blocks";
  }

  private String threads() throws Exception {
    try (CudaModule module = module();
        ExecutorService pool = Executors.newFixedThreadPool(4)) {
      List<Future<Integer>> results = new ArrayList<>();
      for (int t = 0; t < 4; t++) {
        Callable<Integer> work =
            () -> {
              try (CudaStream own = context.newStream()) {
                for (int i = 0; i < 5; i++) {
                  axpy(module.function("axpy"), own);
                }
              }
              return 5;
            };
        results.add(pool.submit(work));
      }
      int runs = 0;
      for (Future<Integer> result : results) {
        runs += result.get();
      }
      return runs + " runs on 4 threads";
    }
  }

  private String overhead() {
    try (CudaModule module = module();
        CudaBuffer buffer = context.allocate(64);
        CudaEvent start = context.newEvent();
        CudaEvent end = context.newEvent()) {
      CudaLaunch launch = emptyLaunch(module, buffer, LaunchConfig.of(1, 32));
      double plainMicros = launchMicros(launch);
      double cooperativeMicros =
          launchMicros(emptyLaunch(module, buffer, LaunchConfig.of(1, 32).withCooperative(true)));
      int kernels = 200;
      try (CudaGraph graph =
          CudaGraph.capture(
              stream,
              () -> {
                for (int i = 0; i < kernels; i++) {
                  launch.run(stream);
                }
              })) {
        graph.replay(stream);
        stream.synchronize();
        start.record(stream);
        for (int i = 0; i < 10; i++) {
          graph.replay(stream);
        }
        end.record(stream);
        stream.synchronize();
        double graphMicros = end.millisSince(start) * 1e3 / (10 * kernels);
        check(plainMicros < 20, plainMicros + " µs a launch");
        return String.format(
            Locale.ROOT,
            "%.2f µs a launch (with attributes %.2f), %.2f µs a kernel in a graph",
            plainMicros,
            cooperativeMicros,
            graphMicros);
      }
    }
  }

  private static CudaLaunch emptyLaunch(CudaModule module, CudaBuffer buffer, LaunchConfig config) {
    return new CudaLaunch(
        module.function("empty"),
        config,
        KernelArgument.of(buffer),
        KernelArgument.of(1),
        KernelArgument.of(1f));
  }

  /** The best of several bursts, each short enough for the queue to hold it. */
  private double launchMicros(CudaLaunch launch) {
    double best = Double.MAX_VALUE;
    for (int burst = 0; burst < 200; burst++) {
      long begin = System.nanoTime();
      for (int i = 0; i < 200; i++) {
        launch.run(stream);
      }
      best = Math.min(best, (System.nanoTime() - begin) / 1e3 / 200);
      stream.synchronize();
    }
    return best;
  }

  private void axpy(CudaFunction axpy, CudaStream on) {
    int n = 100_003;
    float[] x = randomFloats(n);
    float[] y = randomFloats(n);
    float a = random.nextFloat();
    try (CudaBuffer dx = context.allocate(4L * n);
        CudaBuffer dy = context.allocate(4L * n)) {
      dx.copyFrom(x, on);
      dy.copyFrom(y, on);
      new CudaLaunch(
              axpy,
              LaunchConfig.of(Math.ceilDiv(n, 256), 256),
              KernelArgument.of(a),
              KernelArgument.of(dx),
              KernelArgument.of(dy),
              KernelArgument.of(n),
              KernelArgument.of(3L))
          .run(on);
      float[] result = dy.toFloats(on);
      for (int i = 0; i < n; i++) {
        equal(a * x[i] + y[i] + 3f, result[i], "y[" + i + "]");
      }
    }
  }
}
