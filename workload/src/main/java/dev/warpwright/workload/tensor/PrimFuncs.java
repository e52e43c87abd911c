package dev.warpwright.workload.tensor;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.IterVar;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Range;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.visit.Walk;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Turns tensors into a function: one loop nest with one block for each formula, in an order in
 * which they can be computed.
 */
public final class PrimFuncs {
  private PrimFuncs() {}

  /**
   * {@return the function that computes the outputs}
   *
   * @param name an identifier
   * @param params in the caller's order: the buffers of inputs and outputs, and the scalars that
   *     shapes use
   * @param tensors every tensor that is not an input, each after those that it reads
   * @throws IllegalArgumentException if a formula reads a tensor that is neither a parameter nor
   *     computed before
   */
  public static PrimFunc of(String name, List<Param> params, List<Tensor> tensors) {
    Set<Buffer> known = new HashSet<>();
    Set<String> names = new HashSet<>();
    for (Param param : params) {
      names.add(param.name());
      if (param instanceof Buffer buffer && tensors.stream().noneMatch(t -> t.buffer() == buffer)) {
        known.add(buffer);
      }
    }
    List<Buffer> intermediates = new ArrayList<>();
    List<Stmt> nests = new ArrayList<>();
    for (Tensor tensor : tensors) {
      if (!params.contains(tensor.buffer())) {
        if (!names.add(tensor.name())) {
          throw new IllegalArgumentException("two tensors are called " + tensor.name());
        }
        intermediates.add(tensor.buffer());
      }
      nests.add(nest(tensor, known));
      known.add(tensor.buffer());
    }
    return new PrimFunc(name, params, Stmts.alloc(intermediates, Stmts.seq(nests)), Attrs.NONE);
  }

  private static Stmt nest(Tensor tensor, Set<Buffer> known) {
    Tensor.Definition definition = tensor.definition();
    if (definition == null) {
      throw new IllegalArgumentException(tensor.name() + " is an input and has no formula");
    }
    List<IterVar> iterVars = new ArrayList<>();
    List<Var> loops = new ArrayList<>();
    String[] letters = {"i", "j", "k", "l"};
    for (IterVar iv : definition.spatial()) {
      Var loop = Var.index(letters[Math.min(loops.size(), 3)]);
      loops.add(loop);
      iterVars.add(new IterVar(iv.var(), iv.extent(), iv.kind(), loop));
    }
    for (IterVar iv : definition.reduce()) {
      Var loop = Var.index(definition.reduce().size() == 1 ? "k" : "k" + loops.size());
      loops.add(loop);
      iterVars.add(new IterVar(iv.var(), iv.extent(), iv.kind(), loop));
    }
    List<Expr> indices = definition.spatial().stream().map(iv -> (Expr) iv.var()).toList();
    Stmt body = new Stmt.Store(tensor.buffer(), indices, definition.value());
    Stmt init =
        definition.init() == null
            ? null
            : new Stmt.Store(tensor.buffer(), indices, definition.init());
    Stmt result =
        new Stmt.Block(
            tensor.name(),
            iterVars,
            null,
            reads(tensor, definition, known),
            List.of(point(tensor.buffer(), indices)),
            init,
            body,
            Attrs.NONE);
    for (int i = loops.size() - 1; i >= 0; i--) {
      result = Stmt.For.of(ForKind.SERIAL, loops.get(i), iterVars.get(i).extent(), result);
    }
    return result;
  }

  private static List<Region> reads(
      Tensor tensor, Tensor.Definition definition, Set<Buffer> known) {
    Map<Buffer, Set<List<Expr>>> loads = new LinkedHashMap<>();
    Walk.expressions(
        definition.value(),
        e -> {
          if (e instanceof Expr.Load(Buffer buffer, List<Expr> indices)
              && buffer != tensor.buffer()) {
            if (!known.contains(buffer)) {
              throw new IllegalArgumentException(
                  tensor.name() + " reads " + buffer.name() + ", which is not computed before it");
            }
            loads.computeIfAbsent(buffer, b -> new LinkedHashSet<>()).add(indices);
          }
        });
    List<Region> regions = new ArrayList<>();
    loads.forEach(
        (buffer, all) -> {
          for (List<Expr> indices : all) {
            regions.add(point(buffer, indices));
          }
        });
    return regions;
  }

  private static Region point(Buffer buffer, List<Expr> indices) {
    return new Region(buffer, indices.stream().map(Range::at).toList());
  }
}
