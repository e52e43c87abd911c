package dev.warpwright.cli.run;

import dev.warpwright.cli.output.Progress;
import dev.warpwright.compiler.Model;
import dev.warpwright.compiler.Warpwright;
import dev.warpwright.ir.UserError;
import dev.warpwright.model.Names;
import dev.warpwright.model.graph.Graph;
import java.util.stream.Collectors;

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
   * A model that can be run from one array to one array: of several outputs, the first one.
   *
   * @throws UserError if it has several inputs
   */
  static Model ofOneOutput(ModelRequest request, Model model, Progress progress) {
    Graph graph = model.graph();
    if (graph.inputs().size() != 1) {
      throw new UserError(
          request.file()
              + ": run takes models of one input, this has "
              + graph.inputs().size()
              + "; from Java, any number works");
    }
    if (graph.outputs().size() == 1) {
      return model;
    }
    String names =
        graph.outputs().stream().map(v -> Names.quote(v.name())).collect(Collectors.joining(", "));
    progress.say("of the outputs " + names + " the first is computed; from Java, all are");
    return new Model(graph.withFirstOutput());
  }
}
