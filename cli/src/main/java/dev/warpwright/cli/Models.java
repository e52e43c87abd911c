package dev.warpwright.cli;

import dev.warpwright.compiler.Model;
import dev.warpwright.compiler.Warpwright;
import dev.warpwright.ir.UserError;

/** Loads the models that requests name. */
final class Models {
  private Models() {}

  /**
   * The model of a request.
   *
   * @throws UserError if its file is no model, or {@code --arch} does not fit it
   */
  static Model load(ModelRequest request) {
    return Warpwright.load(request.file(), request.arch());
  }

  /**
   * Checks that a model can be run from one array to one array.
   *
   * @throws UserError if it cannot
   */
  static void requireOneInputAndOutput(ModelRequest request, Model model) {
    int inputs = model.graph().inputs().size();
    int outputs = model.graph().outputs().size();
    if (inputs != 1 || outputs != 1) {
      throw new UserError(
          request.file()
              + ": run takes models of one input and one output, this has "
              + inputs
              + " and "
              + outputs);
    }
  }
}
