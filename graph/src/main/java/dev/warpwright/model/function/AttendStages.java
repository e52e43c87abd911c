package dev.warpwright.model.function;

import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.MathOp;
import dev.warpwright.ir.ReduceOp;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import dev.warpwright.model.graph.Attend;
import dev.warpwright.workload.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

/**
 * Attention of a row's features as stages, the way it is defined: a score for each head and key,
 * the largest of each head, weights, their sums, and sums of weighted values. Columns are counted
 * on: head by head, key by key.
 */
final class AttendStages {
  private final Attend node;
  private final Tensor q;
  private final Tensor k;
  private final Tensor v;
  private final Expr rows;
  private final UnaryOperator<String> fresh;
  private final List<Tensor> tensors = new ArrayList<>();
  private final List<NetworkFunction.Stage> stages = new ArrayList<>();
  private final long keys;
  private final long size;

  /**
   * For a node.
   *
   * @param q [rows, features] and more columns, and so on
   * @param rows how many
   * @param fresh makes a name that nothing has
   */
  AttendStages(Attend node, Tensor q, Tensor k, Tensor v, Expr rows, UnaryOperator<String> fresh) {
    this.node = node;
    this.q = q;
    this.k = k;
    this.v = v;
    this.rows = rows;
    this.fresh = fresh;
    this.keys = node.keys();
    this.size = node.headSize();
  }

  List<Tensor> tensors() {
    return tensors;
  }

  List<NetworkFunction.Stage> stages() {
    return stages;
  }

  /** An element of the result at a row and column. */
  @FunctionalInterface
  interface Result {
    Expr at(Expr row, Expr col);
  }

  /** Adds the stages; what they make. */
  Result add() {
    long pairs = node.heads() * keys;
    Tensor scores =
        reduce(
            "attention_scores",
            pairs,
            size,
            ReduceOp.SUM,
            (row, col, d) ->
                Exprs.mul(
                    at(q, row, Exprs.add(Exprs.mul(Exprs.div(col, keys), size), d)),
                    at(
                        k,
                        row,
                        Exprs.add(
                            Exprs.mul(key(Exprs.div(col, keys), Exprs.mod(col, keys)), size), d))));
    Expr scale = Exprs.f32(node.scale());
    Tensor top =
        reduce(
            "attention_top",
            node.heads(),
            keys,
            ReduceOp.MAX,
            (row, col, s) -> at(scores, row, Exprs.add(Exprs.mul(col, keys), s)));
    Tensor weights =
        Tensor.compute(
            fresh.apply("attention_weights"),
            DType.F32,
            List.of(rows, Exprs.i32(pairs)),
            i ->
                Exprs.call(
                    MathOp.EXP,
                    Exprs.mul(
                        Exprs.sub(
                            at(scores, i.get(0), i.get(1)),
                            at(top, i.get(0), Exprs.div(i.get(1), keys))),
                        scale)));
    tensors.add(weights);
    stages.add(new NetworkFunction.Map(weights.name(), weights.buffer(), false, null));
    Tensor total =
        reduce(
            "attention_total",
            node.heads(),
            keys,
            ReduceOp.SUM,
            (row, col, s) -> at(weights, row, Exprs.add(Exprs.mul(col, keys), s)));
    Tensor sums =
        reduce(
            "attention_sums",
            node.heads() * size,
            keys,
            ReduceOp.SUM,
            (row, col, s) ->
                Exprs.mul(
                    at(weights, row, Exprs.add(Exprs.mul(Exprs.div(col, size), keys), s)),
                    at(
                        v,
                        row,
                        Exprs.add(
                            Exprs.mul(key(Exprs.div(col, size), s), size), Exprs.mod(col, size)))));
    return (row, col) -> Exprs.div(at(sums, row, col), at(total, row, Exprs.div(col, size)));
  }

  /** Which of a row's keys, counted through its heads of keys, a query head's key is. */
  private Expr key(Expr head, Expr key) {
    Expr kv = Exprs.div(head, node.heads() / node.kvHeads());
    return Exprs.add(Exprs.mul(kv, keys), key);
  }

  @FunctionalInterface
  private interface Element {
    Expr at(Expr row, Expr col, Expr reduced);
  }

  private Tensor reduce(String prefix, long columns, long extent, ReduceOp op, Element element) {
    Tensor result =
        Tensor.reduce(
            fresh.apply(prefix),
            DType.F32,
            List.of(rows, Exprs.i32(columns)),
            List.of(Exprs.i32(extent)),
            op.identity(Type.F32),
            (s, r, last) -> op.combine(last, element.at(s.get(0), s.get(1), r.getFirst())));
    tensors.add(result);
    stages.add(new NetworkFunction.Reduction(result.name(), result.buffer()));
    return result;
  }

  /** An element; a schedule cannot tell which columns of a row are enough. */
  private static Expr at(Tensor tensor, Expr row, Expr col) {
    Expr last = Exprs.sub(tensor.shape().getLast(), Exprs.i32(1));
    return tensor.f32At(row, Exprs.min(Exprs.max(col, Exprs.i32(0)), last));
  }
}
