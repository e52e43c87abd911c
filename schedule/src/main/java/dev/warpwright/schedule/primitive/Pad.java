package dev.warpwright.schedule.primitive;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.IterVar;
import dev.warpwright.ir.MathOp;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.visit.Substitution;
import dev.warpwright.schedule.analysis.Access;
import dev.warpwright.schedule.analysis.Accesses;
import dev.warpwright.schedule.analysis.Nest;
import dev.warpwright.schedule.analysis.Tree;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Lets a sum of products run over whole tiles: its operands are copies that are zero where there is
 * nothing, so that no condition is left in the sum.
 *
 * <pre>{@code
 * pad(c, 4, 4):
 * for i in 5 { for k in 6 { a[i, k] = x[i, k] } }
 * for k in 6 { b[k] = w[k] }
 * for i in 5 { for k in 6 { c[i] = fma(a[i, k], b[k], c[i]) } }
 * →
 * for i in 8 { for k in 8 { a[i, k] = select(i < 5 && k < 6, x[i, k], 0) } }
 * for k in 8 { b[k] = select(k < 6, w[k], 0) }
 * for i in 8 { for k in 8 { c[i] = fma(a[i, k], b[k], c[i]) } }
 * }</pre>
 *
 * <p>The extent of each iteration variable of the block, in their order, becomes a multiple of the
 * number given for it. Readers of the result go on reading what they read. A sum that was {@code
 * -0} may become {@code +0}.
 *
 * <p>With {@link Edge#REPEATED} only what is summed over is filled with zeros. Elsewhere the last
 * element is read again, {@code x[min(i, 4), k]}: the sums that come of it are read by nobody, and
 * an index is cheaper than a condition around each load. Along the rows of x it is the last vector
 * that is read again, if rows are whole vectors: of 8 columns of f32 {@code x[k, min(i / 4, 1) * 4
 * + i % 4]}, so that a thread's neighbouring elements stay neighbours.
 *
 * <p>Requires:
 *
 * <ol>
 *   <li>The block exists, and a positive number is given for each of its variables.
 *   <li>It is {@code c = fma(a, b, c)} of floats, with c initialised to a constant; all indices are
 *       its variables, and those of the sum occur in a and in b.
 *   <li>It is alone in loops over its variables, from 0 over constant extents, without conditions:
 *       pad before tiling.
 *   <li>a, b and c are intermediates without layout; a and b are each written by one block like it,
 *       and read by no other; nothing else writes c.
 * </ol>
 */
public final class Pad {
  private static final String NAME = "pad";

  /** Bytes of the widest access of a thread. */
  private static final int VECTOR = 16;

  /** What operands are beyond the result's edges. */
  public enum Edge {
    ZERO,
    REPEATED
  }

  private Pad() {}

  public static PrimFunc apply(PrimFunc func, String blockName, List<Long> multiples, Edge edge) {
    Check check = new Check(NAME, func);
    List<Stmt> path = check.block(1, blockName);
    Stmt.Block block = (Stmt.Block) path.getLast();
    check.require(
        1,
        multiples.size() == block.iterVars().size() && multiples.stream().allMatch(m -> m >= 1),
        multiples + " are not positive numbers for the variables of block " + blockName,
        block);
    Product product = Product.of(check, block);
    Map<Var, Expr> extents = new HashMap<>();
    for (int i = 0; i < multiples.size(); i++) {
      IterVar v = block.iterVars().get(i);
      long extent = constant(check, v.extent(), block);
      extents.put(v.var(), Exprs.i32(Math.ceilDiv(extent, multiples.get(i)) * multiples.get(i)));
    }

    Set<Expr> summed = new LinkedHashSet<>();
    block.iterVars().stream().filter(IterVar::isReduce).forEach(v -> summed.add(v.var()));
    Map<Buffer, Buffer> grown = new HashMap<>();
    Map<Stmt, Stmt> nests = new IdentityHashMap<>();
    nests.put(Nest.of(path), grow(check, path, block, extents, block.body()));
    for (Expr.Load operand : product.operands()) {
      Buffer buffer = operand.buffer();
      grown.put(buffer, grow(check, buffer, operand.indices(), extents));
      Stmt.Block writer = writer(check, buffer, block);
      List<Stmt> writerPath = check.block(4, writer.name());
      Map<Var, Expr> own = new HashMap<>();
      Set<Var> repeated = new LinkedHashSet<>();
      Stmt.Store store = plainStore(check, writer);
      for (int d = 0; d < buffer.rank(); d++) {
        Expr extent = extents.get(operand.indices().get(d));
        if (store.indices().get(d) instanceof Var v && extent != null) {
          own.put(v, extent);
          if (edge == Edge.REPEATED && !summed.contains(operand.indices().get(d))) {
            repeated.add(v);
          }
        }
      }
      check.require(
          4,
          own.size() == writer.iterVars().size(),
          "block " + writer.name() + " does not write the element that its variables name",
          writer);
      nests.put(
          Nest.of(writerPath),
          grow(check, writerPath, writer, own, outside(writer, store, own, repeated)));
    }
    Buffer result = product.result().buffer();
    grown.put(result, grow(check, result, product.result().indices(), extents));
    checkResult(check, result, block);

    Stmt body = func.body();
    for (Map.Entry<Stmt, Stmt> nest : nests.entrySet()) {
      body = Tree.replace(body, nest.getKey(), nest.getValue());
    }
    return func.withBody(Substitution.ofBuffers(grown).stmt(body));
  }

  /** The parts of {@code c = fma(a, b, c)}. */
  private record Product(List<Expr.Load> operands, Expr.Load result) {
    static Product of(Check check, Stmt.Block block) {
      String reason = "block " + block.name() + " is no sum of products of its elements";
      if (!(block.body() instanceof Stmt.Store(Buffer to, List<Expr> indices, Expr value))
          || !(value instanceof Expr.Call(var op, List<Expr> args, var type))
          || op != MathOp.FMA
          || !(type.dtype() == DType.F32 || type.dtype() == DType.F64)
          || !(args.get(0) instanceof Expr.Load a)
          || !(args.get(1) instanceof Expr.Load b)
          || !(args.get(2) instanceof Expr.Load c)
          || c.buffer() != to
          || !c.indices().equals(indices)
          || !(block.init() instanceof Stmt.Store init)
          || !(init.value() instanceof Expr.FloatImm)) {
        throw check.error(2, reason, block);
      }
      Set<Expr> variables = new LinkedHashSet<>();
      Set<Expr> summed = new LinkedHashSet<>();
      for (IterVar v : block.iterVars()) {
        variables.add(v.var());
        if (v.isReduce()) {
          summed.add(v.var());
        }
      }
      boolean named =
          List.of(a, b, c).stream()
              .allMatch(
                  load ->
                      variables.containsAll(load.indices())
                          && new LinkedHashSet<>(load.indices()).size() == load.indices().size());
      check.require(
          2,
          named
              && a.buffer() != b.buffer()
              && a.indices().containsAll(summed)
              && b.indices().containsAll(summed),
          reason,
          block);
      return new Product(List.of(a, b), c);
    }
  }

  private static long constant(Check check, Expr extent, Stmt at) {
    if (extent instanceof Expr.IntImm imm) {
      return imm.value();
    }
    throw check.error(3, "the extent " + extent + " is not constant", at);
  }

  private static Buffer grow(
      Check check, Buffer buffer, List<Expr> indices, Map<Var, Expr> extents) {
    Stmt alloc = check.alloc(4, buffer).getLast();
    check.require(4, buffer.layout() == null, buffer.name() + " has a layout already", alloc);
    List<Expr> shape = new ArrayList<>();
    for (Expr index : indices) {
      Expr extent = extents.get(index);
      shape.add(extent == null ? index : extent);
    }
    return buffer.withShape(shape);
  }

  /** The one block that writes an operand, which nothing but the product reads. */
  private static Stmt.Block writer(Check check, Buffer buffer, Stmt.Block product) {
    check.alloc(4, buffer);
    Stmt.Block writer = null;
    for (Access access : Accesses.of(check.func().body(), buffer)) {
      if (access.isWrite() && access.leaf() instanceof Stmt.Block b && writer == null) {
        writer = b;
      } else {
        check.require(
            4,
            !access.isWrite() && access.leaf() == product,
            buffer.name() + " is written or read elsewhere, too",
            access.leaf());
      }
    }
    if (writer == null) {
      throw check.error(4, buffer.name() + " is not written by a block", product);
    }
    return writer;
  }

  private static Stmt.Store plainStore(Check check, Stmt.Block writer) {
    if (writer.init() == null && writer.body() instanceof Stmt.Store store) {
      return store;
    }
    throw check.error(4, "block " + writer.name() + " is not one store", writer);
  }

  private static void checkResult(Check check, Buffer result, Stmt.Block block) {
    for (Access access : Accesses.of(check.func().body(), result)) {
      check.require(
          4,
          !access.isWrite() || access.leaf() == block,
          result.name() + " is written elsewhere, too",
          access.leaf());
    }
  }

  /** A copy's store, with the last element again or zero where there is none. */
  private static Stmt outside(
      Stmt.Block writer, Stmt.Store store, Map<Var, Expr> extents, Set<Var> repeated) {
    List<Expr> conditions = new ArrayList<>();
    Map<Var, Expr> last = new HashMap<>();
    for (IterVar v : writer.iterVars()) {
      if (v.extent().equals(extents.get(v.var()))) {
        continue;
      }
      if (repeated.contains(v.var())) {
        last.put(v.var(), repeated(store.value(), v));
      } else {
        conditions.add(Exprs.lt(v.var(), v.extent()));
      }
    }
    Expr value = Substitution.ofVars(last).expr(store.value());
    Expr inside = Guard.all(conditions);
    return new Stmt.Store(
        store.buffer(),
        store.indices(),
        inside == null ? value : Exprs.select(inside, value, Exprs.zero(value.type())));
  }

  /** The index that stands for v in what is copied. */
  private static Expr repeated(Expr copied, IterVar v) {
    if (copied instanceof Expr.Load(Buffer from, List<Expr> indices)
        && indices.getLast() == v.var()
        && v.extent() instanceof Expr.IntImm(var _, long extent)) {
      long run = Math.min(VECTOR / from.dtype().bytes(), Long.lowestOneBit(extent));
      if (run > 1) {
        Expr group =
            Exprs.min(Exprs.div(v.var(), run), Exprs.i32(Math.toIntExact(extent / run - 1)));
        return Exprs.add(Exprs.mul(group, run), Exprs.mod(v.var(), run));
      }
    }
    return Exprs.min(v.var(), Exprs.add(v.extent(), -1));
  }

  /** The nest of a block, over larger extents. */
  private static Stmt grow(
      Check check, List<Stmt> path, Stmt.Block block, Map<Var, Expr> extents, Stmt body) {
    check.require(
        3, block.predicate() == null, "block " + block.name() + " has a condition", block);
    List<Stmt.For> loops = Tree.loops(path.subList(Tree.indexOn(path, Nest.of(path)), path.size()));
    check.require(
        3,
        Tree.loops(path).size() == block.iterVars().size()
            && loops.size() == Tree.loops(path).size(),
        "block " + block.name() + " is not alone in loops over its variables",
        block);
    List<IterVar> iterVars = new ArrayList<>();
    Map<Var, Expr> ofLoops = new HashMap<>();
    for (IterVar v : block.iterVars()) {
      Expr extent = extents.get(v.var());
      if (!(v.binding() instanceof Var loop) || extent == null) {
        throw check.error(3, "variable " + v.var() + " is not the one of a loop", block);
      }
      iterVars.add(new IterVar(v.var(), extent, v.kind(), v.binding()));
      ofLoops.put(loop, extent);
    }
    Stmt result =
        new Stmt.Block(
            block.name(),
            iterVars,
            null,
            block.reads(),
            block.writes(),
            block.init(),
            body,
            block.attrs());
    for (Stmt.For loop : loops.reversed()) {
      check.serial(3, loop);
      check.fromZero(3, loop);
      Expr extent = ofLoops.get(loop.var());
      if (extent == null) {
        throw check.error(3, "loop " + loop.var() + " is over no variable of the block", loop);
      }
      result =
          new Stmt.For(
              loop.var(), loop.min(), extent, loop.kind(), loop.axis(), loop.attrs(), result);
    }
    return result;
  }
}
