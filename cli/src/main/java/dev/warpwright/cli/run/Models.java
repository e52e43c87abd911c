package dev.warpwright.cli.run;

import dev.warpwright.compiler.Model;
import dev.warpwright.compiler.Warpwright;

/** Loads the models that requests name. */
final class Models {
  private Models() {}

  /**
   * The model of a request.
   *
   * @throws dev.warpwright.base.UserError if its file is no model, or {@code --arch} does not fit
   *     it
   */
  static Model load(ModelRequest request) {
    return request.network() == null
        ? Warpwright.load(request.file(), request.arch())
        : new Model(request.network().graph());
  }
}
