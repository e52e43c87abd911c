package dev.warpwright.ir.verify;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.IterVar;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.arith.Affine;
import dev.warpwright.ir.verify.Verifier.Findings;
import dev.warpwright.ir.visit.Walk;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** What a block says about itself, and reductions. */
final class BlockRules {
  private final Findings findings;

  BlockRules(Findings findings) {
    this.findings = findings;
  }

  void check(Stmt.Block b, Place place) {
    signature(b);
    outerVariables(b, place);
    reduction(b);
  }

  private void problem(Rule rule, Stmt.Block b, String message) {
    findings.add(rule, b, "block '" + b.name() + "' " + message);
  }

  /** Reads and writes name exactly the buffers from outside that the body stores to and loads. */
  private void signature(Stmt.Block b) {
    Set<Buffer> loaded = new HashSet<>();
    Set<Buffer> stored = new HashSet<>();
    Set<Buffer> own = new HashSet<>();
    Uses.of(b.body(), loaded, stored);
    Walk.statements(
        b.body(),
        s -> {
          if (s instanceof Stmt.Alloc alloc) {
            own.add(alloc.buffer());
          }
        });
    if (b.init() != null) {
      Uses.of(b.init(), loaded, stored);
    }
    Set<Buffer> reads = buffers(b.reads());
    Set<Buffer> writes = buffers(b.writes());
    for (Buffer buffer : stored) {
      if (!own.contains(buffer) && !writes.contains(buffer)) {
        problem(Rule.BLOCKS, b, "writes '" + buffer.name() + "' without saying so");
      }
    }
    for (Buffer buffer : loaded) {
      if (!own.contains(buffer) && !reads.contains(buffer) && !writes.contains(buffer)) {
        problem(Rule.BLOCKS, b, "reads '" + buffer.name() + "' without saying so");
      }
    }
    for (Buffer buffer : writes) {
      if (!stored.contains(buffer)) {
        problem(Rule.BLOCKS, b, "says that it writes '" + buffer.name() + "' but does not");
      }
    }
  }

  private static Set<Buffer> buffers(List<Region> regions) {
    Set<Buffer> buffers = new HashSet<>();
    regions.forEach(region -> buffers.add(region.buffer()));
    return buffers;
  }

  /** The body depends on loops only through the iteration variables. */
  private void outerVariables(Stmt.Block b, Place place) {
    Set<Var> loops = new HashSet<>(place.loops());
    Set<Var> reported = new HashSet<>();
    Walk.expressions(
        b.body(),
        e -> {
          if (e instanceof Var v && loops.contains(v) && reported.add(v)) {
            problem(
                Rule.BLOCKS,
                b,
                "uses '" + v.name() + "' of a loop around it, not an iteration variable");
          }
        });
  }

  private void reduction(Stmt.Block b) {
    List<Var> reduced = b.iterVars().stream().filter(IterVar::isReduce).map(IterVar::var).toList();
    Stmt init = b.init();
    if (init != null && reduced.isEmpty()) {
      problem(Rule.REDUCTIONS, b, "has an init but no reduce variable");
    }
    if (init != null) {
      Walk.expressions(
          init,
          e -> {
            if (e instanceof Var v && reduced.contains(v)) {
              problem(Rule.REDUCTIONS, b, "uses reduce variable '" + v.name() + "' in its init");
            }
          });
    }
    for (Region region : b.writes()) {
      boolean moves =
          region.ranges().stream()
              .anyMatch(
                  range ->
                      Affine.mentions(range.min(), reduced)
                          || Affine.mentions(range.extent(), reduced));
      if (moves) {
        problem(
            Rule.REDUCTIONS,
            b,
            "writes a place of '" + region.buffer().name() + "' that depends on a reduce variable");
      }
    }
  }
}
