package dev.warpwright.model.arch;

import dev.warpwright.base.UserError;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The architecture of weights that come without a graph: what {@code --arch} gives. */
public sealed interface Architecture {
  /**
   * A fully connected network.
   *
   * @param widths the number of inputs, of each hidden layer's outputs, and of outputs; at least
   *     two
   * @param activations one name for each hidden layer, in order; names are not checked here
   */
  record Mlp(List<Integer> widths, List<String> activations) implements Architecture {
    /** Copies the lists. */
    public Mlp {
      widths = List.copyOf(widths);
      activations = List.copyOf(activations);
    }
  }

  /**
   * A JSON file that describes the network.
   *
   * @param file as the text form has it; it is read when weights are assembled, not before
   */
  record Described(Path file) implements Architecture {}

  /**
   * Names of activations that have no weights of their own.
   *
   * @return as {@code --arch} spells them
   */
  static List<String> activations() {
    return ParametricFunction.all().stream()
        .filter(name -> !name.equals(ParametricFunction.PRELU.text()))
        .toList();
  }

  /**
   * Reads {@code mlp:IN,HIDDEN…,OUT:ACTIVATION} or {@code mlp:IN,HIDDEN…,OUT:ACTIVATION,…} with one
   * activation for each hidden layer, or the path of a JSON file.
   *
   * @param text what {@code --arch} takes
   * @return the architecture; a file is not looked at yet
   * @throws UserError if it is neither
   */
  static Architecture parse(String text) {
    if (!text.startsWith("mlp:")) {
      if (text.endsWith(".json")) {
        return new Described(Path.of(text));
      }
      throw new UserError(
          "--arch '" + text + "': give mlp:IN,HIDDEN,OUT:ACTIVATION or the path of a .json file");
    }
    String[] parts = text.split(":", -1);
    var widths = new ArrayList<Integer>();
    for (String width : parts[1].split(",", -1)) {
      widths.add(width(text, width));
    }
    int hidden = widths.size() - 2;
    if (hidden < 0) {
      throw new UserError("--arch '" + text + "': give at least two widths, inputs and outputs");
    }
    if (parts.length > 3 || (parts.length == 2 && hidden > 0)) {
      throw new UserError(
          "--arch '" + text + "': after the widths, give ':' and an activation, once");
    }
    if (parts.length == 2) {
      return new Mlp(widths, List.of());
    }
    var activations = new ArrayList<>(List.of(parts[2].split(",", -1)));
    if (activations.contains("")) {
      throw new UserError("--arch '" + text + "': an activation is empty");
    }
    while (parts[2].indexOf(',') < 0 && activations.size() < hidden) {
      activations.add(parts[2]);
    }
    if (activations.size() != hidden) {
      throw new UserError(
          String.format(
              Locale.ROOT,
              "--arch '%s': %d activations for %d hidden layers",
              text,
              activations.size(),
              hidden));
    }
    return new Mlp(widths, activations);
  }

  private static int width(String text, String width) {
    try {
      int value = Integer.parseInt(width);
      if (value >= 1) {
        return value;
      }
    } catch (NumberFormatException e) {
      // Reported below, like a number that is too small.
    }
    throw new UserError(
        "--arch '" + text + "': the width '" + width + "' is not a positive whole number");
  }
}
