package dev.warpwright.runtime.cuda;

import dev.warpwright.cuda.compile.CompileRequest;
import dev.warpwright.cuda.compile.CudaCompilers;
import java.util.LinkedHashMap;
import java.util.Map;

/** What compute capability 9.0 brings: the TMA copy engine, clusters, overlapping launches. */
final class HopperItems extends SelfTestItems {
  HopperItems(SelfTestBench bench) {
    super(bench);
  }

  @Override
  Map<String, Item> items() {
    Map<String, Item> items = new LinkedHashMap<>();
    items.put("tensor map, TMA copy and cluster", this::tensorMap);
    items.put("programmatic launch", this::programmatic);
    return items;
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

  private CudaModule hopper() {
    return context.load(
        CudaCompilers.require()
            .compile(new CompileRequest(SelfTestKernels.HOPPER, "sm_90a"))
            .bytes());
  }
}
