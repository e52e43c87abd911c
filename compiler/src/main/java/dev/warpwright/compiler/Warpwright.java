package dev.warpwright.compiler;

import dev.warpwright.model.ModelFile;
import java.nio.file.Path;

/** Where it begins: {@code Warpwright.load(Path.of("model.onnx")).compile(Device.best())}. */
public final class Warpwright {
  private Warpwright() {}

  /**
   * Imports a model.
   *
   * @throws dev.warpwright.ir.UserError if the file cannot be read or is no model that can be
   *     compiled
   */
  public static Model load(Path file) {
    return new Model(ModelFile.load(file));
  }
}
