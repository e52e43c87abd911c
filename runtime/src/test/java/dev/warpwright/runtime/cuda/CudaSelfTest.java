package dev.warpwright.runtime.cuda;

import dev.warpwright.cuda.compile.CompileRequest;
import dev.warpwright.cuda.compile.Cubin;
import dev.warpwright.cuda.compile.CudaCompiler;
import dev.warpwright.cuda.compile.CudaCompilers;
import dev.warpwright.cuda.compile.ResourceUsage;
import dev.warpwright.ir.DeviceError;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Tries everything that the runtime does with a GPU, and prints PASS, FAIL or SKIP for each item.
 *
 * <p>As a program it needs nothing but the class folders: {@code java
 * --enable-native-access=ALL-UNNAMED -cp
 * runtime/build/test-classes:runtime/build/classes:cuda/build/classes:target/build/classes:ir/build/classes
 * dev.warpwright.runtime.cuda.CudaSelfTest}. It ends with 0 if nothing failed, 1 if something did,
 * 3 without a GPU.
 */
public final class CudaSelfTest {
  private final CudaContext context;
  private final CudaStream stream;
  private final Random random;
  private final List<String> failures = new ArrayList<>();
  private byte[] plain = new byte[0];

  private CudaSelfTest(CudaContext context, long seed) {
    this.context = context;
    this.stream = context.newStream();
    this.random = new Random(seed);
  }

  public static void main(String[] args) {
    Optional<CudaDriver> driver = CudaDriver.find();
    if (driver.isEmpty()) {
      System.out.println("SKIP everything: " + CudaDriver.whyMissing());
      System.exit(3);
    }
    List<String> failures = run(driver.get(), Long.getLong("seed", System.nanoTime()));
    System.exit(failures.isEmpty() ? 0 : 1);
  }

  /** Runs all items on the first device and returns the names of those that failed. */
  static List<String> run(CudaDriver driver, long seed) {
    CudaDevice device = driver.device(0);
    System.out.println("driver " + driver.versionText() + ", seed " + seed + ", " + device);
    CudaContext context = device.open();
    CudaSelfTest test = new CudaSelfTest(context, seed);
    test.items();
    System.out.println(
        test.failures.isEmpty() ? "all passed" : "FAILED: " + String.join(", ", test.failures));
    return test.failures;
  }

  private void items() {
    item("nvcc compiles and its kernel runs", () -> compiler(CudaCompilers.nvcc()));
    item("NVRTC compiles and its kernel runs", () -> compiler(CudaCompilers.nvrtc()));
    item("poison and fill", this::poison);
    item("copies of ordinary memory", this::copies);
    item("copies of pinned memory and on the device", this::pinned);
    item("arguments are checked", this::arguments);
    item("closed means closed", this::lifetimes);
    item("dynamic shared memory above 48 KiB", this::dynamicShared);
    item("occupancy", this::occupancy);
    item("cooperative launch", this::cooperative);
    item("graph capture and replay", this::graph);
    item("a capture that fails leaves the stream usable", this::failedCapture);
    item("events", this::events);
    item("several threads", this::threads);
    item("tensor map, bulk copy and cluster", this::tensorMap);
    item("programmatic launch", this::programmatic);
    item("launch overhead", this::overhead);
    item("cuBLAS", this::cublas);
    // Last, for it costs the context.
    item("a fault is reported and the context is lost", this::fault);
  }

  private interface Item {
    /** Returns what to print behind PASS, or {@code SKIP …}. */
    String run() throws Exception;
  }

  private void item(String name, Item item) {
    try {
      String result = item.run();
      System.out.println(
          result.startsWith("SKIP")
              ? "SKIP " + name + ":" + result.substring("SKIP".length())
              : "PASS " + name + ": " + result);
    } catch (Throwable t) {
      failures.add(name);
      System.out.println("FAIL " + name + ": " + t);
      t.printStackTrace(System.out);
    }
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
    plain = cubin.bytes();
    try (CudaModule module = context.load(plain)) {
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

  private String poison() {
    try (CudaBuffer buffer = context.allocate(1003)) {
      buffer.poison((byte) 0xa5, stream);
      buffer.fill(0x12345678, 8, 3, stream);
      byte[] bytes = new byte[1003];
      buffer.copyTo(MemorySegment.ofArray(bytes), stream);
      for (int i = 0; i < bytes.length; i++) {
        int expected = i >= 8 && i < 20 ? 0x12345678 >> 8 * (i % 4) & 0xff : 0xa5;
        equal(expected, Byte.toUnsignedInt(bytes[i]), "byte " + i);
      }
    }
    return "1003 bytes";
  }

  private String copies() {
    long[] sizes = {
      1,
      3,
      4096,
      Staging.SLOT_BYTES - 1,
      Staging.SLOT_BYTES,
      Staging.SLOT_BYTES + 1,
      2 * Staging.SLOT_BYTES,
      5 * Staging.SLOT_BYTES + 12
    };
    for (long size : sizes) {
      byte[] source = new byte[(int) size];
      random.nextBytes(source);
      try (CudaBuffer buffer = context.allocate(size + 7);
          Arena arena = Arena.ofConfined()) {
        buffer.poison((byte) 1, stream);
        buffer.copyFrom(MemorySegment.ofArray(source), 7, stream);
        MemorySegment target = arena.allocate(size);
        buffer.copyTo(target, 7, stream);
        check(Arrays.equals(source, target.toArray(ValueLayout.JAVA_BYTE)), "size " + size);
      }
    }
    int bytes = 256 << 20;
    byte[] large = new byte[bytes];
    try (CudaBuffer buffer = context.allocate(bytes)) {
      long start = System.nanoTime();
      buffer.copyFrom(MemorySegment.ofArray(large), stream);
      stream.synchronize();
      double up = bytes / (double) (System.nanoTime() - start);
      start = System.nanoTime();
      buffer.copyTo(MemorySegment.ofArray(large), stream);
      double down = bytes / (double) (System.nanoTime() - start);
      return String.format(Locale.ROOT, "up %.1f GB/s, down %.1f GB/s", up, down);
    }
  }

  private String pinned() {
    int bytes = 64 << 20;
    try (PinnedBuffer from = context.allocatePinned(bytes);
        PinnedBuffer to = context.allocatePinned(bytes);
        CudaBuffer a = context.allocate(bytes);
        CudaBuffer b = context.allocate(bytes)) {
      for (int i = 0; i < bytes / 8; i++) {
        from.segment().setAtIndex(ValueLayout.JAVA_LONG, i, random.nextLong());
      }
      to.segment().fill((byte) 7);
      long start = System.nanoTime();
      a.copyFrom(from, bytes, stream);
      stream.synchronize();
      double up = bytes / (double) (System.nanoTime() - start);
      b.copyFrom(a, stream);
      b.copyTo(to, bytes, stream);
      stream.synchronize();
      equal(-1L, from.segment().mismatch(to.segment()), "first difference");
      return String.format(Locale.ROOT, "up %.1f GB/s", up);
    }
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

  private String lifetimes() {
    CudaBuffer buffer = context.allocate(64);
    CudaModule module = module();
    CudaLaunch launch =
        new CudaLaunch(
            module.function("empty"),
            LaunchConfig.of(1, 32),
            KernelArgument.of(buffer),
            KernelArgument.of(1),
            KernelArgument.of(1f));
    launch.run(stream);
    CudaGraph graph = CudaGraph.capture(stream, () -> launch.run(stream));
    graph.replay(stream);
    stream.synchronize();
    buffer.close();
    buffer.close();
    fails(IllegalStateException.class, "buffer of 64 bytes is closed", () -> launch.run(stream));
    fails(IllegalStateException.class, "buffer of 64 bytes is closed", () -> graph.replay(stream));
    fails(IllegalStateException.class, "is closed", () -> buffer.poison((byte) 0, stream));
    module.close();
    fails(IllegalStateException.class, "module", () -> launch.run(stream));
    graph.close();
    fails(IllegalStateException.class, "graph is closed", () -> graph.replay(stream));
    PinnedBuffer pinned = context.allocatePinned(64);
    pinned.close();
    fails(
        IllegalStateException.class,
        "closed",
        () -> pinned.segment().set(ValueLayout.JAVA_BYTE, 0, (byte) 1));
    CudaContext second = context.device().open();
    CudaBuffer forgotten = second.allocate(64);
    second.close();
    second.close();
    forgotten.close();
    fails(IllegalStateException.class, "context", () -> second.allocate(64));
    return "7 kinds";
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

  private String occupancy() {
    try (CudaModule module = module()) {
      CudaFunction reverse = module.function("reverse");
      int small = reverse.maxActiveBlocks(LaunchConfig.of(1, 256).withDynamicShared(1024));
      int large =
          reverse.maxActiveBlocks(
              LaunchConfig.of(1, 256).withDynamicShared(context.device().maxSharedPerBlock()));
      check(small >= 4, small + " small blocks");
      equal(1, large, "large blocks");
      String clusters = "none";
      if (context.device().major() >= 9) {
        LaunchConfig two = LaunchConfig.of(2, 256).withCluster(new Dim3(2));
        LaunchConfig sixteen = LaunchConfig.of(16, 256).withCluster(new Dim3(16));
        clusters =
            reverse.maxActiveClusters(two)
                + " of 2, "
                + reverse.maxActiveClusters(sixteen)
                + " of 16";
      }
      return small + " blocks an SM, clusters " + clusters;
    }
  }

  private String cooperative() {
    int blocks = context.device().multiprocessors();
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

  private String graph() {
    int n = 1000;
    float[] x = randomFloats(n);
    try (CudaModule module = module();
        CudaBuffer dx = context.allocate(4L * n);
        CudaBuffer dy = context.allocate(4L * n);
        PinnedBuffer result = context.allocatePinned(4L * n)) {
      dx.copyFrom(x, stream);
      dy.poison((byte) 0, stream);
      CudaLaunch launch =
          new CudaLaunch(
              module.function("axpy"),
              LaunchConfig.of(4, 256),
              KernelArgument.of(2f),
              KernelArgument.of(dx),
              KernelArgument.of(dy),
              KernelArgument.of(n),
              KernelArgument.of(0L));
      float[] expected = new float[n];
      try (CudaGraph graph =
          CudaGraph.capture(
              stream,
              () -> {
                launch.run(stream);
                launch.run(stream);
                dy.copyTo(result, 4L * n, stream);
              })) {
        // Captured arguments stay as they were.
        launch.set(0, KernelArgument.of(100f));
        for (int replay = 0; replay < 10; replay++) {
          graph.replay(stream);
          stream.synchronize();
          for (int i = 0; i < n; i++) {
            expected[i] = 2f * x[i] + expected[i];
            expected[i] = 2f * x[i] + expected[i];
            equal(
                expected[i],
                result.segment().getAtIndex(ValueLayout.JAVA_FLOAT, i),
                "y[" + i + "]");
          }
        }
      }
    }
    return "10 replays of 2 kernels and a copy";
  }

  private String failedCapture() {
    IllegalArgumentException mine = new IllegalArgumentException("mine");
    fails(
        IllegalArgumentException.class,
        "mine",
        () ->
            CudaGraph.capture(
                stream,
                () -> {
                  throw mine;
                }));
    try (CudaBuffer buffer = context.allocate(64)) {
      fails(
          IllegalStateException.class,
          "cannot be captured",
          () -> CudaGraph.capture(stream, () -> buffer.toFloats(stream)));
      fails(
          DeviceError.class,
          "cuStreamSynchronize",
          () -> CudaGraph.capture(stream, stream::synchronize));
      buffer.poison((byte) 1, stream);
      buffer.toFloats(stream);
    }
    return "3 ways";
  }

  private String events() {
    long bytes = 256L << 20;
    try (CudaEvent start = context.newEvent();
        CudaEvent end = context.newEvent();
        CudaStream other = context.newStream();
        CudaBuffer a = context.allocate(bytes);
        CudaBuffer b = context.allocate(bytes)) {
      b.copyFrom(a, stream);
      start.record(stream);
      b.copyFrom(a, stream);
      end.record(stream);
      other.waitFor(end);
      other.synchronize();
      check(stream.isDone(), "stream done");
      float millis = end.millisSince(start);
      double rate = 2 * bytes / (millis * 1e6);
      check(rate > 10 && rate < 20_000, rate + " GB/s");
      return String.format(Locale.ROOT, "device copy %.0f GB/s, read and write", rate);
    }
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

  private String tensorMap() {
    if (context.device().major() != 9) {
      return "SKIP needs compute capability 9.0";
    }
    int rows = 20;
    int columns = 32;
    int blocks = 4;
    float[] matrix = randomFloats(rows * columns);
    try (CudaModule module = hopper();
        CudaBuffer in = context.allocate(4L * rows * columns);
        CudaBuffer out = context.allocate(4L * blocks * 256)) {
      in.copyFrom(matrix, stream);
      out.poison((byte) 0xff, stream);
      TensorMap map =
          TensorMap.tiled(
              in,
              0,
              TensorMapSpec.matrix(
                  TensorMapSpec.Type.F32,
                  rows,
                  columns,
                  4L * columns,
                  8,
                  columns,
                  TensorMapSpec.Swizzle.NONE));
      new CudaLaunch(
              module.function("boxes"),
              LaunchConfig.of(blocks, 256).withCluster(new Dim3(2)),
              KernelArgument.of(map),
              KernelArgument.of(out))
          .run(stream);
      float[] result = out.toFloats(stream);
      for (int block = 0; block < blocks; block++) {
        for (int i = 0; i < 256; i++) {
          // Rows beyond the tensor arrive as zeros.
          float own = element(matrix, block * 256 + i);
          float peer = element(matrix, (block ^ 1) * 256 + i);
          equal(own + 1000f * peer, result[block * 256 + i], "block " + block + " element " + i);
        }
      }
      fails(
          IllegalArgumentException.class,
          "multiple of 16",
          () ->
              TensorMap.tiled(
                  in,
                  4,
                  TensorMapSpec.matrix(
                      TensorMapSpec.Type.F32, 4, 32, 128, 4, 32, TensorMapSpec.Swizzle.NONE)));
    }
    return "4 boxes in clusters of 2";
  }

  private static float element(float[] matrix, int index) {
    return index < matrix.length ? matrix[index] : 0f;
  }

  private String programmatic() {
    if (context.device().major() != 9) {
      return "SKIP needs compute capability 9.0";
    }
    int n = 100_000;
    float[] values = randomFloats(n);
    try (CudaModule module = hopper();
        CudaBuffer x = context.allocate(4L * n)) {
      x.copyFrom(values, stream);
      CudaLaunch launch =
          new CudaLaunch(
              module.function("follow"),
              LaunchConfig.of(Math.ceilDiv(n, 256), 256).withProgrammatic(true),
              KernelArgument.of(x),
              KernelArgument.of(n));
      for (int i = 0; i < 10; i++) {
        launch.run(stream);
      }
      float[] result = x.toFloats(stream);
      for (int i = 0; i < n; i++) {
        float expected = values[i];
        for (int k = 0; k < 10; k++) {
          expected = expected * 2f + 1f;
        }
        equal(expected, result[i], "x[" + i + "]");
      }
    }
    return "10 in a row";
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

  private String cublas() {
    Optional<Cublas> found = Cublas.open(stream);
    if (found.isEmpty()) {
      return "SKIP not installed";
    }
    int m = 33;
    int n = 48;
    int k = 40;
    try (Cublas cublas = found.get();
        CudaBuffer a = context.allocate(4L * m * k);
        CudaBuffer b = context.allocate(4L * n * k);
        CudaBuffer d = context.allocate(4L * m * n);
        CudaBuffer workspace = context.allocate(32 << 20)) {
      cublas.setWorkspace(workspace);
      float[] fa = randomFloats(m * k);
      float[] fb = randomFloats(n * k);
      for (boolean transposed : new boolean[] {true, false}) {
        a.copyFrom(fa, stream);
        b.copyFrom(fb, stream);
        d.poison((byte) 0xff, stream);
        Cublas.Type f32 = Cublas.Type.F32;
        cublas.gemm(
            new Cublas.Gemm(m, n, k, f32, f32, Cublas.Compute.F32_PEDANTIC, transposed), a, b, d);
        product(fa, fb, d, m, n, k, transposed, 1e-6);
        a.copyFrom(MemorySegment.ofArray(bf16(fa)), stream);
        b.copyFrom(MemorySegment.ofArray(bf16(fb)), stream);
        d.poison((byte) 0xff, stream);
        cublas.gemm(
            new Cublas.Gemm(m, n, k, Cublas.Type.BF16, f32, Cublas.Compute.F32, transposed),
            a,
            b,
            d);
        product(rounded(fa), rounded(fb), d, m, n, k, transposed, 1e-5);
      }
      return cublas.path() + " version " + cublas.version();
    }
  }

  private void product(
      float[] a, float[] b, CudaBuffer d, int m, int n, int k, boolean transposed, double rtol) {
    float[] result = d.toFloats(stream);
    double error = 0;
    double norm = 0;
    for (int i = 0; i < m; i++) {
      for (int j = 0; j < n; j++) {
        double sum = 0;
        for (int l = 0; l < k; l++) {
          sum += (double) a[i * k + l] * (transposed ? b[j * k + l] : b[l * n + j]);
        }
        error += Math.pow(sum - result[i * n + j], 2);
        norm += sum * sum;
      }
    }
    double relative = Math.sqrt(error / norm);
    check(relative <= rtol, "relative error " + relative + ", transposed " + transposed);
  }

  private static short[] bf16(float[] values) {
    short[] bits = new short[values.length];
    for (int i = 0; i < bits.length; i++) {
      bits[i] = (short) (Float.floatToRawIntBits(values[i]) >>> 16);
    }
    return bits;
  }

  private static float[] rounded(float[] values) {
    float[] rounded = new float[values.length];
    for (int i = 0; i < rounded.length; i++) {
      rounded[i] = Float.intBitsToFloat(Float.floatToRawIntBits(values[i]) & 0xffff0000);
    }
    return rounded;
  }

  private String fault() {
    CudaModule module = module();
    CudaBuffer buffer = context.allocate(64);
    // A pointer to memory that was never allocated: the address is passed as a number.
    CudaLaunch launch =
        new CudaLaunch(module.function("fault"), LaunchConfig.of(1, 1), KernelArgument.of(8L));
    launch.run(stream);
    fails(DeviceError.class, "CUDA_ERROR_ILLEGAL_ADDRESS", stream::synchronize);
    check(context.isLost(), "the context is lost");
    fails(DeviceError.class, "CUDA_ERROR_ILLEGAL_ADDRESS", () -> buffer.poison((byte) 0, stream));
    // Closing says nothing new.
    buffer.close();
    context.close();
    return "closed quietly";
  }

  private CudaModule module() {
    if (plain.length == 0) {
      throw new IllegalStateException("no compiler worked");
    }
    return context.load(plain);
  }

  private CudaModule hopper() {
    return context.load(
        CudaCompilers.require()
            .compile(new CompileRequest(SelfTestKernels.HOPPER, "sm_90a"))
            .bytes());
  }

  private float[] randomFloats(int count) {
    float[] values = new float[count];
    synchronized (random) {
      for (int i = 0; i < count; i++) {
        values[i] = (float) random.nextGaussian();
      }
    }
    return values;
  }

  private static void fails(Class<? extends Throwable> type, String message, Runnable action) {
    try {
      action.run();
    } catch (Throwable t) {
      if (type.isInstance(t)
          && t.getMessage().contains(message)
          && !t.getMessage().contains("\n")) {
        return;
      }
      throw new AssertionError("expected " + type.getSimpleName() + " with '" + message + "'", t);
    }
    throw new AssertionError("nothing thrown, expected '" + message + "'");
  }

  private static void equal(Object expected, Object actual, String what) {
    if (!expected.equals(actual)) {
      throw new AssertionError(what + " is " + actual + ", expected " + expected);
    }
  }

  private static void check(boolean condition, String what) {
    if (!condition) {
      throw new AssertionError(what);
    }
  }
}
