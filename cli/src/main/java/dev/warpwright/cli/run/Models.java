package dev.warpwright.cli.run;

import dev.warpwright.base.UserError;
import dev.warpwright.compiler.Model;
import dev.warpwright.compiler.Warpwright;
import java.nio.file.Files;
import java.nio.file.Path;

/** Loads the models that requests name. */
final class Models {
  private Models() {}

  /**
   * The model of a request.
   *
   * @throws UserError if its file is no model, or {@code --arch} does not fit it
   */
  static Model load(ModelRequest request) {
    Path file = request.file();
    if (request.network() == null && !file.toString().matches(".*[./].*") && !Files.exists(file)) {
      // A word that was misspelt, not a file.
      throw new UserError(
          "'" + file + "': it is mlp, ffn, attention or a model's file, and there is no such file");
    }
    return request.network() == null
        ? Warpwright.load(request.file(), request.arch())
        : new Model(request.network().graph());
  }
}
