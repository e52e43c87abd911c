package dev.warpwright.verify.mutation;

import java.util.List;
import java.util.stream.Stream;

/** All kinds of mistakes that can be planted. */
public final class Mutations {
  /** In the order of the table in the documentation. */
  public static final List<Mutation> ALL =
      Stream.of(BarrierMutations.ALL, PipelineMutations.ALL, IndexMutations.ALL, GridMutations.ALL)
          .flatMap(List::stream)
          .toList();

  private Mutations() {}

  /**
   * The mistake of this name.
   *
   * @throws IllegalArgumentException if there is none
   */
  public static Mutation named(String name) {
    return ALL.stream()
        .filter(m -> m.name().equals(name))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("no mistake is called '" + name + "'"));
  }
}
