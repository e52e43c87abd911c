package dev.warpwright.verify.mutation;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.visit.Walk;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Where products of a network find something defined that is not theirs. Slices that stay in shared
 * memory have slots of their own, by constants; the slot beside one holds another layer's weights,
 * complete and at rest, where in a ring it would be on its way. And the products of several layers
 * share accumulators, in which the second layer finds what the first has left.
 */
final class ResidentSlices {
  private ResidentSlices() {}

  /** Products that read a slot of shared memory which is named by constants and unrolled loops. */
  static Predicate<Stmt> areReadBy(Kernel kernel) {
    Set<Var> unrolled = new HashSet<>();
    Walk.statements(
        kernel.body(),
        s -> {
          if (s instanceof Stmt.For loop && loop.kind() == ForKind.UNROLLED) {
            unrolled.add(loop.var());
          }
        });
    return s -> {
      Expr.Call call = Planting.call(s, PipelineMutations.PRODUCT);
      return call != null && call.args().stream().anyMatch(arg -> isSlot(arg, unrolled));
    };
  }

  private static boolean isSlot(Expr operand, Set<Var> unrolled) {
    if (!(operand instanceof Expr.AddressOf(Buffer buffer, List<Expr> indices))
        || buffer.scope() != Scope.SHARED) {
      return false;
    }
    boolean[] constant = {true};
    Walk.expressions(
        indices.getFirst(),
        e ->
            constant[0] &=
                !(e instanceof Expr.Load) && !(e instanceof Var v && !unrolled.contains(v)));
    return constant[0];
  }

  /** Products whose accumulators those of another statement use, too. */
  static Predicate<Stmt> shareAccumulators(Kernel kernel) {
    Map<Buffer, Integer> products = new HashMap<>();
    Walk.statements(
        kernel.body(),
        s -> {
          Buffer accumulators = accumulators(s);
          if (accumulators != null) {
            products.merge(accumulators, 1, Integer::sum);
          }
        });
    return s -> {
      Buffer accumulators = accumulators(s);
      return accumulators != null && products.getOrDefault(accumulators, 0) > 1;
    };
  }

  private static @Nullable Buffer accumulators(Stmt s) {
    Expr.Call call = Planting.call(s, PipelineMutations.PRODUCT);
    return call != null && call.args().getFirst() instanceof Expr.AddressOf(Buffer buffer, var _)
        ? buffer
        : null;
  }
}
