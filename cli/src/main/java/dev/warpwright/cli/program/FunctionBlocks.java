package dev.warpwright.cli.program;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.IterVar;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.schedule.LoopRef;
import dev.warpwright.space.Rejected;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * The blocks of a function, in program order: what each writes, and by which variables.
 *
 * @param blocks at least one
 */
record FunctionBlocks(List<Entry> blocks) {
  /**
   * A block.
   *
   * @param written the buffer that it writes
   * @param output whether that is a parameter
   * @param dimensions for each dimension of the buffer the block's variable that is its index
   * @param reduced variables that are summed over, or the like, in order
   * @param read parameters that it reads
   */
  record Entry(
      String name,
      Buffer written,
      boolean output,
      List<Var> dimensions,
      List<Var> reduced,
      List<Buffer> read) {
    Entry {
      dimensions = List.copyOf(dimensions);
      reduced = List.copyOf(reduced);
      read = List.copyOf(read);
    }

    /** The variables in the order of the block, a number for each. */
    boolean reduces() {
      return !reduced.isEmpty();
    }
  }

  FunctionBlocks {
    blocks = List.copyOf(blocks);
  }

  /**
   * Looks at a function that nothing was done to but inlining.
   *
   * @throws Rejected if a block writes more than one element, or at an index that is no variable
   */
  static FunctionBlocks of(PrimFunc func) {
    List<Entry> entries = new ArrayList<>();
    Walk.statements(
        func.body(),
        s -> {
          if (s instanceof Stmt.Block block) {
            entries.add(entry(func, block));
          }
        });
    return new FunctionBlocks(entries);
  }

  private static Entry entry(PrimFunc func, Stmt.Block block) {
    if (!(block.body() instanceof Stmt.Store(Buffer written, List<Expr> indices, Expr value))) {
      throw new Rejected("block", "block " + block.name() + " is more than a store");
    }
    List<Var> dimensions = new ArrayList<>();
    for (Expr index : indices) {
      if (!(index instanceof Var v) || dimensions.contains(v)) {
        throw new Rejected(
            "block",
            "block " + block.name() + " writes at an index that is no variable of its own");
      }
      dimensions.add(v);
    }
    Set<Buffer> read = new LinkedHashSet<>();
    Walk.expressions(
        value,
        e -> {
          if (e instanceof Expr.Load(Buffer buffer, var _)
              && !buffer.equals(written)
              && func.buffers().contains(buffer)) {
            read.add(buffer);
          }
        });
    return new Entry(
        block.name(),
        written,
        func.buffers().contains(written),
        dimensions,
        block.iterVars().stream().filter(IterVar::isReduce).map(IterVar::var).toList(),
        List.copyOf(read));
  }

  /**
   * The block that writes the only result.
   *
   * @throws Rejected if there are several, or it is not the last
   */
  Entry result() {
    if (blocks.stream().filter(Entry::output).count() != 1 || !blocks.getLast().output()) {
      throw new Rejected("results", "the function has several results, or goes on after its last");
    }
    return blocks.getLast();
  }

  /**
   * The loop that gives a variable of a block its value, among loops around it.
   *
   * @throws Rejected if it is more than one loop
   */
  static LoopRef loop(PrimFunc func, String block, Var variable, List<LoopRef> among) {
    List<LoopRef> found = new ArrayList<>();
    Walk.statements(
        func.body(),
        s -> {
          if (s instanceof Stmt.Block each && each.name().equals(block)) {
            for (IterVar iterVar : each.iterVars()) {
              if (iterVar.var().equals(variable)) {
                Walk.expressions(
                    iterVar.binding(),
                    e ->
                        among.stream()
                            .filter(loop -> loop.variable() == e && !found.contains(loop))
                            .forEach(found::add));
              }
            }
          }
        });
    if (found.size() != 1) {
      throw new Rejected(
          "loops", variable.name() + " of block " + block + " has no loop of its own");
    }
    return found.getFirst();
  }
}
