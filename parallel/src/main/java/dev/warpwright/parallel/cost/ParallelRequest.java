package dev.warpwright.parallel.cost;

import dev.warpwright.base.UserError;
import dev.warpwright.compiler.Device;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.parallel.program.Way;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Precision;
import java.util.List;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * How many GPUs are to share a network, and what is settled of how.
 *
 * @param devices at least 2
 * @param way null for the one that is expected to be faster
 * @param parts of the rows; empty for as many as are expected to be fastest
 * @param link that joins the GPUs; null for what usually does
 */
public record ParallelRequest(
    int devices, @Nullable Way way, OptionalInt parts, @Nullable Link link) {
  /** What the option takes, for its description. */
  public static final String SYNTAX = "N[,tensor|data][,parts=P][,link=L]";

  /**
   * Reads {@code 2}, {@code 2,data} or {@code 4,tensor,parts=2,link=nvlink4}.
   *
   * @return null for one GPU
   * @throws UserError if it is something else
   */
  public static @Nullable ParallelRequest parse(String text) {
    List<String> words = List.of(text.split(",", -1));
    Way way = null;
    OptionalInt parts = OptionalInt.empty();
    Link link = null;
    for (String word : words.subList(1, words.size())) {
      if (word.equals("tensor") || word.equals("data")) {
        way = word.equals("data") ? Way.DATA : Way.TENSOR;
      } else if (word.startsWith("parts=")) {
        parts = OptionalInt.of(number(text, word.substring("parts=".length())));
      } else if (word.startsWith("link=")) {
        link = Link.require(word.substring("link=".length()));
      } else {
        throw wrong(text, word);
      }
    }
    if (way == Way.DATA && parts.orElse(1) != 1) {
      throw new UserError("--gpus " + text + ": data parallel has no parts of rows");
    }
    int devices = number(text, words.getFirst());
    if (devices == 1 && words.size() > 1) {
      throw new UserError("--gpus " + text + ": one GPU shares nothing");
    }
    return devices == 1 ? null : new ParallelRequest(devices, way, parts, link);
  }

  private static int number(String text, String word) {
    try {
      int number = Integer.parseInt(word);
      if (number > 0) {
        return number;
      }
    } catch (NumberFormatException e) {
      // Told below.
    }
    throw wrong(text, word);
  }

  private static UserError wrong(String text, String word) {
    return new UserError("--gpus " + text + ": '" + word + "' does not fit " + SYNTAX);
  }

  /** What joins the GPUs. */
  public Link link(GpuTarget target) {
    return link == null ? Link.usual(target) : link;
  }

  /**
   * What is expected of the ways that this leaves open.
   *
   * @param device one of the GPUs, or one that stands for them
   * @throws UserError if it is no GPU, or nothing is known of such
   */
  public ParallelPlan plan(Graph graph, Device device, Precision precision, int rows) {
    return ParallelPlan.of(graph, device, precision, rows, this);
  }

  boolean allows(Way other) {
    return way == null || way == other;
  }
}
