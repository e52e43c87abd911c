package dev.warpwright.cli.run;

import dev.warpwright.base.UserError;
import dev.warpwright.compiler.Model;
import dev.warpwright.compiler.Warpwright;

/** Loads the models that requests name. */
final class Models {
  private Models() {}

  /**
   * The model of a request.
   *
   * @throws UserError if its file is no model, or {@code --arch} does not fit it
   */
  static Model load(ModelRequest request) {
    return request.network() == null
        ? Warpwright.load(request.file(), request.arch())
        : new Model(request.network().graph());
  }

  /**
   * The model of a request, which is run on one array.
   *
   * @throws UserError if it has several inputs, or as {@link #load}
   */
  static Model ofOneInput(ModelRequest request) {
    Model model = load(request);
    int inputs = model.graph().inputs().size();
    if (inputs != 1) {
      throw new UserError(
          request.file()
              + ": run takes models of one input, this has "
              + inputs
              + "; from Java, any number works");
    }
    return model;
  }
}
