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
   * @throws UserError if its file is no model, or has a graph and {@code --arch} gives another
   */
  static Model load(ModelRequest request) {
    Model model = Warpwright.load(request.file());
    if (request.arch() != null) {
      throw new UserError(
          request.file() + ": an ONNX file has its architecture in it; leave --arch out");
    }
    return model;
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
