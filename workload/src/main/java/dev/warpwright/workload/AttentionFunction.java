package dev.warpwright.workload;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.MathOp;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import dev.warpwright.workload.tensor.PrimFuncs;
import dev.warpwright.workload.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;

/** Attention as formulas of tensors, the way it is defined: scores of all pairs in memory. */
final class AttentionFunction {
  private final Attention attention;
  private final Tensor q;
  private final Tensor k;
  private final Tensor v;
  private final Tensor lengths;
  private final Tensor table;
  private final List<Expr> rows;
  private final List<Expr> pairs;

  private AttentionFunction(Attention attention) {
    this.attention = attention;
    q = Tensor.input(attention.rowsBuffer("Q"));
    k = Tensor.input(attention.cache("K"));
    v = Tensor.input(attention.cache("V"));
    lengths = Tensor.input(attention.lengths());
    table = Tensor.input(attention.table());
    rows = List.of(Exprs.i32(attention.heads()), Exprs.i32(attention.rows()));
    pairs = with(rows, attention.keys());
  }

  static PrimFunc of(Attention attention) {
    return new AttentionFunction(attention).func();
  }

  private static List<Expr> with(List<Expr> shape, long last) {
    List<Expr> more = new ArrayList<>(shape);
    more.add(Exprs.i32(last));
    return more;
  }

  private PrimFunc func() {
    Expr nothing = Exprs.f32(Double.NEGATIVE_INFINITY);
    Tensor dots =
        Tensor.reduce(
            "dots",
            DType.F32,
            pairs,
            List.of(Exprs.i32(attention.headSize())),
            Exprs.zero(Type.F32),
            (s, r, last) ->
                Exprs.select(
                    isSeen(s.get(0), s.get(1), s.get(2)),
                    Exprs.fma(
                        q.f32At(s.get(0), s.get(1), r.getFirst()),
                        k.f32At(slab(s.get(0), s.get(2)), inSlab(s.get(2)), r.getFirst()),
                        last),
                    last));
    Tensor scores =
        Tensor.compute(
            "scores",
            DType.F32,
            pairs,
            s ->
                Exprs.select(
                    isSeen(s.get(0), s.get(1), s.get(2)),
                    Exprs.mul(dots.at(s.get(0), s.get(1), s.get(2)), Exprs.f32(attention.scale())),
                    nothing));
    Tensor top =
        Tensor.reduce(
            "top",
            DType.F32,
            rows,
            List.of(Exprs.i32(attention.keys())),
            nothing,
            (s, r, last) -> Exprs.max(last, scores.at(s.get(0), s.get(1), r.getFirst())));
    Tensor weights =
        Tensor.compute(
            "weights",
            DType.F32,
            pairs,
            s ->
                Exprs.select(
                    isSeen(s.get(0), s.get(1), s.get(2)),
                    Exprs.call(
                        MathOp.EXP,
                        Exprs.sub(
                            scores.at(s.get(0), s.get(1), s.get(2)), top.at(s.get(0), s.get(1)))),
                    Exprs.f32(0)));
    Tensor sum =
        Tensor.reduce(
            "sum",
            DType.F32,
            rows,
            List.of(Exprs.i32(attention.keys())),
            Exprs.zero(Type.F32),
            (s, r, last) -> Exprs.add(last, weights.at(s.get(0), s.get(1), r.getFirst())));
    Tensor sums =
        Tensor.reduce(
            "sums",
            DType.F32,
            with(rows, attention.headSize()),
            List.of(Exprs.i32(attention.keys())),
            Exprs.zero(Type.F32),
            (s, r, last) ->
                Exprs.select(
                    isSeen(s.get(0), s.get(1), r.getFirst()),
                    Exprs.fma(
                        weights.at(s.get(0), s.get(1), r.getFirst()),
                        v.f32At(slab(s.get(0), r.getFirst()), inSlab(r.getFirst()), s.get(2)),
                        last),
                    last));
    Tensor o =
        Tensor.compute(
            attention.rowsBuffer("O"),
            s -> {
              Expr all = sum.at(s.get(0), s.get(1));
              return Exprs.select(
                  Exprs.eq(all, Exprs.f32(0)),
                  Exprs.f32(0),
                  Exprs.div(sums.at(s.get(0), s.get(1), s.get(2)), all));
            });
    List<Param> params = new ArrayList<>(List.of(q.buffer(), k.buffer(), v.buffer()));
    params.add(lengths.buffer());
    if (attention.isPaged()) {
      params.add(table.buffer());
    }
    params.add(o.buffer());
    return PrimFuncs.of(
        "attention_" + attention.type().text(),
        params,
        List.of(dots, scores, top, weights, sum, sums, o));
  }

  private Expr entry(Expr head) {
    return Exprs.div(head, attention.kvHeads());
  }

  private Expr slab(Expr head, Expr key) {
    if (!attention.isPaged()) {
      return head;
    }
    Expr page = table.at(entry(head), Exprs.div(key, attention.page()));
    return Exprs.add(Exprs.mul(page, attention.kvHeads()), Exprs.mod(head, attention.kvHeads()));
  }

  private Expr inSlab(Expr key) {
    return attention.isPaged() ? Exprs.mod(key, attention.page()) : key;
  }

  private Expr isSeen(Expr head, Expr row, Expr key) {
    Expr length = lengths.at(entry(head));
    Expr there = Exprs.lt(key, length);
    if (!attention.causal()) {
      return there;
    }
    Expr last =
        Exprs.add(
            Exprs.sub(length, Exprs.i32(attention.tokens())), Exprs.mod(row, attention.tokens()));
    return Exprs.and(there, Exprs.fold(BinaryOp.LE, key, last));
  }
}
