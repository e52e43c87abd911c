package dev.warpwright.cli.run;

import dev.warpwright.cli.networks.NetworkTask;
import dev.warpwright.compiler.Model;
import dev.warpwright.compiler.Warpwright;
import java.util.List;

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
    if (request.network() != null) {
      return new Model(request.network().graph());
    }
    NetworkTask.requireFile(request.file().toString(), List.of());
    return Warpwright.load(request.file(), request.arch());
  }
}
