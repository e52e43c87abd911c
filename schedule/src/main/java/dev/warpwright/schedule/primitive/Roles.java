package dev.warpwright.schedule.primitive;

import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.schedule.analysis.Tree;

/**
 * Divides the warpgroups of a block: some only start copies, the others compute.
 *
 * <pre>{@code
 * primfunc f(…) { … }  →  primfunc f(…) [consumers = c, producers = p] { … }
 * }</pre>
 *
 * <p>The copies of pipelined loops go to the producers, everything else to the consumers, which
 * share the rows of a tile. A statement of what runs where, not of what is computed.
 *
 * <p>Requires:
 *
 * <ol>
 *   <li>There is at least one producer and one consumer.
 *   <li>Together they have at most 1024 threads, 128 each.
 *   <li>There is a pipelined loop, whose copies the producers start.
 * </ol>
 */
public final class Roles {
  private static final String NAME = "roles";
  private static final int MAX_WARPGROUPS = 8;

  private Roles() {}

  public static PrimFunc apply(PrimFunc func, long producers, long consumers) {
    Check check = new Check(NAME, func);
    check.require(
        1,
        producers >= 1 && consumers >= 1,
        producers + " producers and " + consumers + " consumers",
        null);
    check.require(
        2,
        producers + consumers <= MAX_WARPGROUPS,
        producers + consumers + " warpgroups have more than 1024 threads",
        null);
    check.require(
        3,
        Tree.allLoops(func.body()).stream().anyMatch(l -> l.kind() == ForKind.PIPELINED),
        "no loop is pipelined, so there is nothing to produce",
        null);
    return func.withAttrs(func.attrs().with("producers", producers).with("consumers", consumers));
  }
}
