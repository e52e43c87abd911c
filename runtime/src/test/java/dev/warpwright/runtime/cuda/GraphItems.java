package dev.warpwright.runtime.cuda;

import dev.warpwright.base.DeviceError;
import java.lang.foreign.ValueLayout;
import java.util.LinkedHashMap;
import java.util.Map;

/** Captured work. */
final class GraphItems extends SelfTestItems {
  GraphItems(SelfTestBench bench) {
    super(bench);
  }

  @Override
  Map<String, Item> items() {
    Map<String, Item> items = new LinkedHashMap<>();
    items.put("graph capture and replay", this::graph);
    items.put("a capture that fails leaves the stream usable", this::failedCapture);
    return items;
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
}
