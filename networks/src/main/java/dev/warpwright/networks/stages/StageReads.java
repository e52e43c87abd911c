package dev.warpwright.networks.stages;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.visit.Walk;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;

/** The buffers that blocks read. */
public final class StageReads {
  private final Map<String, Set<Buffer>> reads = new HashMap<>();

  private StageReads() {}

  /** What the blocks of a function read; in one walk, as deep networks have thousands of them. */
  public static StageReads of(PrimFunc func) {
    StageReads all = new StageReads();
    Walk.statements(
        func.body(),
        s -> {
          if (s instanceof Stmt.Block block) {
            Set<Buffer> own =
                all.reads.computeIfAbsent(block.name(), name -> new LinkedHashSet<>());
            Walk.expressions(
                block.body(),
                e -> {
                  if (e instanceof Expr.Load load) {
                    own.add(load.buffer());
                  }
                });
          }
        });
    return all;
  }

  /** The buffers that the block of a name reads; none if there is no such block. */
  public Set<Buffer> by(String block) {
    return reads.getOrDefault(block, Set.of());
  }
}
