package dev.warpwright.compiler.execute;

import dev.warpwright.compiler.CompiledModel;
import dev.warpwright.compiler.CpuDevice;
import dev.warpwright.compiler.Device;
import dev.warpwright.compiler.Model;
import dev.warpwright.compiler.Warpwright;
import java.nio.file.Path;
import java.util.Random;

/** The digits model, rows for it, and what the CPU makes of them. */
final class Digits {
  static final int FEATURES = 64;
  static final Model MODEL =
      Warpwright.load(Path.of("..", "models", "digits-relu-128-64", "model.onnx"));

  private Digits() {}

  static float[] rows(int rows, long seed) {
    Random random = new Random(seed);
    float[] x = new float[rows * FEATURES];
    for (int i = 0; i < x.length; i++) {
      x[i] = random.nextFloat() * 2 - 1;
    }
    return x;
  }

  static float[] expected(float[] x) {
    try (Device cpu = new CpuDevice();
        CompiledModel model = MODEL.compile(cpu)) {
      return model.run(x);
    }
  }
}
