package dev.warpwright.schedule.primitive;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.IterVar;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.Substitution;
import dev.warpwright.schedule.analysis.Access;
import dev.warpwright.schedule.analysis.Accesses;
import dev.warpwright.schedule.analysis.Nest;
import dev.warpwright.schedule.analysis.Tree;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Lets the producer of a buffer compute what its one consumer, an elementwise block, makes of it.
 *
 * <pre>{@code
 * for i { h[i] = f(x[i]) }  for i { y[i] = g(h[i]) }
 * →
 * for i { y[i] = g(f(x[i])) }
 * }</pre>
 *
 * <p>What stays is the producer, with its loops and its name.
 *
 * <p>Requires:
 *
 * <ol>
 *   <li>The block exists.
 *   <li>It is one store, not of a reduction, and reads nothing of its own buffer.
 *   <li>It reads one intermediate that it alone reads, each element once: by its variables, each
 *       naming one dimension in full.
 *   <li>That buffer is written by one block, which is one store and no reduction, and whose
 *       variables name all of it: it was not made larger for whole tiles.
 *   <li>Nothing in between touches what the block writes, or writes what else it reads; its buffers
 *       are allocated around the producer.
 *   <li>The value does not grow beyond {@link ComputeInline#MAX_NODES} nodes.
 *   <li>Parallel loops of the result are independent.
 * </ol>
 */
public final class ReverseComputeInline {
  private static final String NAME = "reverseComputeInline";

  private final Check check;
  private final PrimFunc func;
  private final List<Stmt> path;
  private final Stmt.Block block;
  private final Stmt.Store store;

  private ReverseComputeInline(PrimFunc func, String blockName) {
    this.check = new Check(NAME, func);
    this.func = func;
    this.path = check.block(1, blockName);
    this.block = (Stmt.Block) path.getLast();
    if (block.isReduction()
        || !(block.body() instanceof Stmt.Store only)
        || Accesses.read(block).contains(only.buffer())) {
      throw check.error(2, "block " + blockName + " is not one elementwise store", block);
    }
    this.store = only;
  }

  public static PrimFunc apply(PrimFunc func, String blockName) {
    return new ReverseComputeInline(func, blockName).apply();
  }

  private PrimFunc apply() {
    List<Region> loads = named();
    check.require(
        3,
        loads.size() == 1,
        "block " + block.name() + " does not read one intermediate by all of its variables",
        block);
    Region read = loads.getFirst();
    Buffer buffer = read.buffer();
    Stmt.Alloc alloc = (Stmt.Alloc) check.alloc(3, buffer).getLast();
    Stmt.Block producer = null;
    for (Access access : Accesses.of(func.body(), buffer)) {
      check.require(
          3,
          access.isWrite() || access.leaf() == block,
          "another statement reads " + buffer.name(),
          access.leaf());
      if (access.isWrite()) {
        check.require(
            4,
            access.leaf() instanceof Stmt.Block writer
                && (producer == null || producer == writer)
                && !writer.isReduction()
                && writer.body() instanceof Stmt.Store,
            buffer.name() + " is not computed by one store of one block",
            access.leaf());
        producer = (Stmt.Block) access.leaf();
      }
    }
    if (producer == null || !(producer.body() instanceof Stmt.Store first)) {
      throw check.error(4, "nothing computes " + buffer.name(), block);
    }
    check.require(
        4,
        Check.namesAll(producer, buffer),
        "block " + producer.name() + " does not compute all of " + buffer.name(),
        producer);
    Order order = Order.of(func);
    check.require(
        4, order.isBefore(producer, block), buffer.name() + " is computed later", producer);
    order.requireNothingInBetween(check, 5, path, check.block(1, producer.name()), Set.of(buffer));

    Stmt.Block joined = joined(producer, first, read);
    check.require(
        6,
        ComputeInline.nodes(joined.body()) <= ComputeInline.MAX_NODES,
        "the value of block " + producer.name() + " would become too large",
        producer);
    Stmt nest = Nest.of(path);
    Stmt.Block old = producer;
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
            return s == old ? joined : super.stmt(s);
          }
        }.stmt(func.body());
    return check.parallelLoopsIndependent(7, func.withBody(Tree.tidy(body)));
  }

  /** Loads of intermediates by all variables of the block, each naming a dimension in full. */
  private List<Region> named() {
    List<Region> named = new ArrayList<>();
    for (Region load : Accesses.loads(store.value())) {
      Set<Var> vars = new HashSet<>();
      boolean all = load.ranges().size() == block.iterVars().size();
      for (int d = 0; d < load.ranges().size(); d++) {
        Expr index = load.ranges().get(d).min();
        Expr extent = load.buffer().shape().get(d);
        all &=
            block.iterVars().stream()
                .anyMatch(v -> v.var() == index && v.extent().equals(extent) && vars.add(v.var()));
      }
      boolean elsewhere =
          Accesses.loads(store.value()).stream()
              .anyMatch(other -> other.buffer() == load.buffer() && !other.equals(load));
      if (all && !elsewhere && Tree.pathToAlloc(func, load.buffer()) != null) {
        named.add(load);
      }
    }
    return named;
  }

  private Stmt.Block joined(Stmt.Block producer, Stmt.Store first, Region read) {
    Map<Var, Expr> at = new HashMap<>();
    for (int d = 0; d < read.ranges().size(); d++) {
      for (IterVar iterVar : block.iterVars()) {
        if (iterVar.var() == read.ranges().get(d).min()) {
          at.put(iterVar.var(), first.indices().get(d));
        }
      }
    }
    Substitution bound = Substitution.ofVars(at);
    Rewriter inliner =
        new Rewriter() {
          @Override
          public Expr expr(Expr e) {
            return e instanceof Expr.Load load && load.buffer() == read.buffer()
                ? first.value()
                : super.expr(e);
          }
        };
    List<Expr> indices = store.indices().stream().map(bound::expr).toList();
    Expr value = inliner.expr(bound.expr(store.value()));
    Set<Region> reads = new LinkedHashSet<>(Accesses.loads(value));
    indices.forEach(index -> reads.addAll(Accesses.loads(index)));
    return new Stmt.Block(
        producer.name(),
        producer.iterVars(),
        producer.predicate(),
        List.copyOf(reads),
        List.of(Accesses.point(store.buffer(), indices)),
        null,
        new Stmt.Store(store.buffer(), indices, value),
        producer.attrs());
  }
}
