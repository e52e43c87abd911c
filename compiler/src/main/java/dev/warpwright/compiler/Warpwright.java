package dev.warpwright.compiler;

import dev.warpwright.base.DeepStack;
import dev.warpwright.base.files.FileBytes;
import dev.warpwright.model.ModelFile;
import dev.warpwright.model.arch.Architecture;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Where it begins: {@code Warpwright.load(Path.of("model.onnx")).compile(Device.best())}. */
public final class Warpwright {
  private Warpwright() {}

  /**
   * {@return a model, imported}
   *
   * @param file the model: .onnx, .pt2, .safetensors or .pth
   * @throws dev.warpwright.base.UserError if the file cannot be read or is no model that can be
   *     compiled
   */
  public static Model load(Path file) {
    return new Model(FileBytes.reading(() -> DeepStack.call(() -> ModelFile.load(file))));
  }

  /**
   * {@return a model, or weights without a graph, imported}
   *
   * @param architecture of the weights; null for a file that has its own
   * @param file the model: .onnx, .pt2, .safetensors or .pth
   * @throws dev.warpwright.base.UserError if the file cannot be read, is no model that can be
   *     compiled, or does not fit the architecture
   */
  public static Model load(Path file, @Nullable Architecture architecture) {
    return new Model(
        FileBytes.reading(() -> DeepStack.call(() -> ModelFile.load(file, architecture))));
  }
}
