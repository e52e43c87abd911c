package dev.warpwright.cli.run;

import dev.warpwright.cli.output.Progress;
import dev.warpwright.model.graph.ConstantTensor;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.model.graph.Node;
import java.util.Locale;
import java.util.function.IntToDoubleFunction;

/** Says where numbers are NaN or infinite, since a network carries one such number everywhere. */
final class NonFinite {
  private NonFinite() {}

  /** Tells of a matrix that came from {@code where}, if anything in it is not finite. */
  static void tell(
      String where, int count, int columns, IntToDoubleFunction at, Progress progress) {
    long bad = 0;
    int first = -1;
    for (int i = 0; i < count; i++) {
      if (!Double.isFinite(at.applyAsDouble(i))) {
        first = bad == 0 ? i : first;
        bad++;
      }
    }
    if (bad > 0) {
      progress.say(
          String.format(
              Locale.ROOT,
              "%s: %d of %d elements %s NaN or infinite, the first at [%d, %d]",
              where,
              bad,
              count,
              bad == 1 ? "is" : "are",
              first / columns,
              first % columns));
    }
  }

  /** Tells of the first weight of a network that is not finite throughout. */
  static void tell(String where, Graph graph, Progress progress) {
    for (Node node : graph.nodes()) {
      for (ConstantTensor tensor : node.constants()) {
        long first = tensor.firstNonFinite();
        if (first >= 0) {
          progress.say(
              String.format(
                  Locale.ROOT,
                  "%s: weight '%s' has the element %s; what depends on it will not be finite"
                      + " either",
                  where,
                  tensor.name(),
                  tensor.doubleAt(first)));
          return;
        }
      }
    }
  }
}
