package dev.warpwright.schedule.primitive;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.Substitution;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.schedule.analysis.Access;
import dev.warpwright.schedule.analysis.Accesses;
import dev.warpwright.schedule.analysis.Nest;
import dev.warpwright.schedule.analysis.Tree;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Puts what an elementwise block computes in the place of the loads of its result.
 *
 * <pre>{@code
 * for i { h[i] = f(x[i]) }  for i { y[i] = g(h[i]) }
 * →
 * for i { y[i] = g(f(x[i])) }
 * }</pre>
 *
 * <p>Requires:
 *
 * <ol>
 *   <li>The block exists.
 *   <li>It is one store to the element that its spatial variables name, and reads nothing of its
 *       own buffer.
 *   <li>The buffer is an intermediate that no other statement writes.
 *   <li>All readers are blocks, and no {@link Blockize}d ones.
 *   <li>What the block reads is computed outside its loops, and not written from the block on.
 *   <li>No block's value grows beyond {@link #MAX_NODES} nodes.
 * </ol>
 */
public final class ComputeInline {
  /** Expressions that are larger are not worth computing twice. */
  public static final int MAX_NODES = 1000;

  private static final String NAME = "computeInline";

  private ComputeInline() {}

  public static PrimFunc apply(PrimFunc func, String blockName) {
    Check check = new Check(NAME, func);
    List<Stmt> path = check.block(1, blockName);
    Stmt.Block block = (Stmt.Block) path.getLast();
    if (block.isReduction()
        || !(block.body() instanceof Stmt.Store store)
        || Accesses.read(block).contains(store.buffer())) {
      throw check.error(2, "block " + blockName + " is not one elementwise store", block);
    }
    List<Var> vars = new ArrayList<>();
    for (Expr index : store.indices()) {
      check.require(
          2,
          index instanceof Var v
              && !vars.contains(v)
              && block.iterVars().stream().anyMatch(iv -> iv.var() == v),
          "block " + blockName + " does not store to the element that its variables name",
          block);
      vars.add((Var) index);
    }
    check.require(
        2,
        vars.size() == block.iterVars().size(),
        "block " + blockName + " has a variable that names no dimension",
        block);
    Buffer buffer = store.buffer();
    Stmt.Alloc alloc = (Stmt.Alloc) check.alloc(3, buffer).getLast();
    Order order = Order.of(func);
    for (Access access : Accesses.of(func.body(), buffer)) {
      check.require(
          3,
          !access.isWrite() || access.leaf() == block,
          "another statement writes " + buffer.name(),
          access.leaf());
      check.require(
          4,
          access.leaf() instanceof Stmt.Block,
          "a statement that is no block reads " + buffer.name(),
          access.leaf());
      check.require(
          4,
          access.leaf() == block
              || access.leaf() instanceof Stmt.Block reader && Blockize.innerOf(reader) == null,
          "a blockized block reads " + buffer.name(),
          access.leaf());
    }
    Set<Buffer> sources = Accesses.read(block);
    order.requireUnchangedAfter(check, 5, block, sources);
    for (Access access : Accesses.of(func.body(), buffer)) {
      List<Stmt> reader = Tree.pathTo(func.body(), access.leaf());
      if (reader != null) {
        order.requireSources(check, 5, path, reader, sources);
      }
    }

    Stmt nest = Nest.of(path);
    Stmt body =
        new Rewriter() {
          @Override
          public Stmt stmt(Stmt s) {
            if (s == nest) {
              return Stmt.Seq.EMPTY;
            }
            if (s == alloc) {
              return stmt(alloc.body());
            }
            if (s instanceof Stmt.Block reader && Accesses.reads(reader, buffer)) {
              Stmt.Block inlined = inline(reader, buffer, vars, store.value());
              check.require(
                  6,
                  nodes(inlined.body()) <= MAX_NODES,
                  "the value of block " + reader.name() + " would become too large",
                  reader);
              return inlined;
            }
            return super.stmt(s);
          }
        }.stmt(func.body());
    return func.withBody(Tree.tidy(body));
  }

  private static Stmt.Block inline(Stmt.Block reader, Buffer buffer, List<Var> vars, Expr value) {
    Rewriter inliner =
        new Rewriter() {
          @Override
          public Expr expr(Expr e) {
            if (e instanceof Expr.Load(Buffer b, List<Expr> indices) && b == buffer) {
              Map<Var, Expr> at = new HashMap<>();
              for (int d = 0; d < vars.size(); d++) {
                at.put(vars.get(d), expr(indices.get(d)));
              }
              return Substitution.ofVars(at).expr(value);
            }
            return super.expr(e);
          }
        };
    Stmt body = inliner.stmt(reader.body());
    Set<Region> reads = new LinkedHashSet<>();
    reader.reads().stream().filter(region -> region.buffer() != buffer).forEach(reads::add);
    Walk.expressions(
        body, e -> reads.addAll(e instanceof Expr.Load ? Accesses.loads(e) : List.of()));
    reads.removeIf(region -> reader.writes().stream().anyMatch(w -> w.buffer() == region.buffer()));
    return new Stmt.Block(
        reader.name(),
        reader.iterVars(),
        reader.predicate(),
        List.copyOf(reads),
        reader.writes(),
        reader.init(),
        body,
        reader.attrs());
  }

  /** The number of expressions in a statement. */
  static int nodes(Stmt s) {
    int[] count = {0};
    Walk.expressions(s, e -> count[0]++);
    return count[0];
  }
}
