package dev.warpwright.workload;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.MathOp;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import dev.warpwright.target.MatrixRows;
import dev.warpwright.workload.tensor.Approximations;
import dev.warpwright.workload.tensor.PrimFuncs;
import dev.warpwright.workload.tensor.Tensor;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The computation of a GEMM as a function: the sums, block {@code acc}, and what the epilogue makes
 * of them, block {@code C}.
 */
final class GemmFunction {
  /**
   * Activations whose approximations are off by a part of their argument or of themselves, as much
   * as {@link GemmDeviation} allows: near 0 too.
   */
  private static final Set<Activation> APPROXIMATED =
      EnumSet.of(Activation.GELU, Activation.GELU_TANH, Activation.SILU, Activation.SIGMOID);

  /** Those whose approximations are off by a part of 1. */
  private static final Set<Activation> OFF_BY_PART_OF_ONE =
      EnumSet.of(Activation.TANH, Activation.SIN, Activation.COS);

  private final GemmWorkload gemm;
  private final boolean swapAb;
  private final long m;
  private final long n;
  private final long k;
  private final Precision precision;
  private final DType result;
  private final GemmWorkload.Layout layout;
  private final Epilogue epilogue;
  private final Batch batch;

  /**
   * @param swapAb whether the sums are computed as {@code acc[N, M]}
   */
  GemmFunction(GemmWorkload gemm, boolean swapAb) {
    this.gemm = gemm;
    this.swapAb = swapAb;
    this.m = gemm.m();
    this.n = gemm.n();
    this.k = gemm.k();
    this.precision = gemm.precision();
    this.result = gemm.result();
    this.layout = gemm.layout();
    this.epilogue = gemm.epilogue();
    this.batch = gemm.batch();
  }

  /** All of it: parameters A, B, the table of grouped GEMMs, what the epilogue reads, C. */
  PrimFunc whole() {
    Tensor a =
        layout.transposedA()
            ? input("A", many(batch.sharedA()), k, m, gemm.lda(), batch.strides().a())
            : input("A", many(batch.sharedA()), m, k, gemm.lda(), batch.strides().a());
    long matrices = batch.isGrouped() ? batch.groups() : many(batch.sharedB());
    Tensor b =
        layout.transposedB()
            ? input("B", matrices, n, k, gemm.ldb(), batch.strides().b())
            : input("B", matrices, k, n, gemm.ldb(), batch.strides().b());
    Tensor group =
        batch.isGrouped()
            ? Tensor.input(GemmWorkload.GROUP, DType.I32, Exprs.i32(batch.count()))
            : null;
    Tensor sums = k == 0 ? noSums() : sums(a, b, group);
    List<Param> params = new ArrayList<>();
    if (k > 0) {
      params.addAll(List.of(a.buffer(), b.buffer()));
      if (group != null) {
        params.add(group.buffer());
      }
    }
    return finished(gemm.kind() + "_" + gemm.operands().text(), params, sums, norm(a));
  }

  /** The sums of equal parts of K, without an epilogue: {@code C[parts, M, N]}. */
  PrimFunc ofParts(int parts) {
    GemmFunction part = new GemmFunction(gemm.part(parts), swapAb);
    boolean ta = layout.transposedA();
    boolean tb = layout.transposedB();
    Tensor a = input("A", 0, ta ? k : m, ta ? m : k, gemm.lda(), 0);
    Tensor b = input("B", 0, tb ? n : k, tb ? k : n, gemm.ldb(), 0);
    return part.finished(
        gemm.kind() + "_" + gemm.operands().text() + "_parts",
        new ArrayList<>(List.of(a.buffer(), b.buffer())),
        part.sums(a, b, null),
        List.of());
  }

  /** What becomes of the sums of parts: {@code partial[parts, M, N]} in, C out. */
  PrimFunc ofPartialSums(int parts) {
    GemmFunction part = new GemmFunction(gemm.part(parts), swapAb);
    Tensor partial =
        Tensor.input(
            "partial",
            part.result,
            part.all(List.of(Exprs.i32(m), Exprs.i32(n))).toArray(Expr[]::new));
    Tensor sums =
        Tensor.reduce(
            "acc",
            part.result,
            List.of(Exprs.i32(m), Exprs.i32(n)),
            List.of(Exprs.i32(parts)),
            Exprs.zero(Type.of(part.result)),
            (s, r, last) -> Exprs.add(last, partial.at(r.getFirst(), s.get(0), s.get(1))));
    return finished(
        gemm.kind() + "_" + gemm.operands().text() + "_sum",
        new ArrayList<>(List.of(partial.buffer())),
        sums,
        List.of());
  }

  /**
   * What sums are multiplied by where rows of A are normed: {@code squares[i] = Σₖ A[i, k]²}, then
   * {@code norm[i] = 1 / √(squares[i] / K + ε)}, both in f32; nothing where they are not.
   */
  private List<Tensor> norm(Tensor a) {
    if (!epilogue.isNormed()) {
      return List.of();
    }
    List<Expr> rows = List.of(Exprs.i32(m));
    Tensor squares =
        Tensor.reduce(
            "squares",
            DType.F32,
            rows,
            List.of(Exprs.i32(k)),
            Exprs.f32(0),
            (s, r, last) -> {
              Expr element = a.f32At(s.getFirst(), r.getFirst());
              return Exprs.add(last, Exprs.mul(element, element));
            });
    Tensor norm =
        Tensor.compute(
            "norm",
            DType.F32,
            rows,
            v -> {
              Expr mean = Exprs.mul(squares.at(v.getFirst()), Exprs.f32(1.0 / k));
              Expr shifted = Exprs.add(mean, Exprs.f32(epilogue.norm()));
              return Exprs.div(Exprs.f32(1), Exprs.call(MathOp.SQRT, shifted));
            });
    return List.of(squares, norm);
  }

  /**
   * The result of sums; parameters behind those given are what the epilogue reads, and C.
   *
   * @param norm of {@link #norm}
   */
  private PrimFunc finished(String name, List<Param> params, Tensor sums, List<Tensor> norm) {
    Map<Epilogue.Operand, Tensor> operandTensors = new EnumMap<>(Epilogue.Operand.class);
    for (Epilogue.Operand operand : epilogue.operands()) {
      operandTensors.put(operand, input(operand, Exprs.i32(m), Exprs.i32(n)));
    }
    Tensor c =
        Tensor.compute(
            matrix(
                "C", result, many(false), m, gemm.resultColumns(), gemm.ldc(), batch.strides().c()),
            v -> {
              Expr row = v.get(v.size() - 2);
              Function<Expr, Expr> sum =
                  column -> {
                    Expr all = sums.at(at(v, swapAb ? column : row, swapAb ? row : column));
                    return norm.isEmpty()
                        ? all
                        : Exprs.mul(Exprs.cast(DType.F32, all), norm.getLast().at(row));
                  };
              Function<Expr, Function<Epilogue.Operand, Expr>> operands =
                  column ->
                      operand ->
                          element(
                              operand,
                              Objects.requireNonNull(operandTensors.get(operand)),
                              v,
                              column);
              DType type = precision == Precision.F64 ? DType.F64 : DType.F32;
              if (epilogue.glu()) {
                Expr gate = Epilogue.gateColumn(v.getLast());
                Expr up = Exprs.add(gate, Epilogue.GLU_GROUP);
                return rounded(
                    epilogue.glu(
                        type,
                        sum.apply(gate),
                        operands.apply(gate),
                        sum.apply(up),
                        operands.apply(up)));
              }
              Expr column = v.getLast();
              return epilogue.equals(Epilogue.NONE)
                  ? sum.apply(column)
                  : rounded(epilogue.of(type, sum.apply(column), operands.apply(column)));
            });
    operandTensors.values().forEach(operand -> params.add(operand.buffer()));
    params.add(c.buffer());
    List<Tensor> tensors = new ArrayList<>(List.of(sums));
    tensors.addAll(norm);
    tensors.add(c);
    return PrimFuncs.of(name, params, tensors);
  }

  /** What is rounded to 16 bits anyway may be by what the hardware approximates. */
  private Expr rounded(Expr value) {
    Activation activation = epilogue.activation();
    if (isOffByPartOfOne(activation, result)) {
      // As for f16: tanh.approx, which bf16 would get, is off by more.
      return Approximations.of(value, DType.F16);
    }
    return result.bytes() <= 2 && APPROXIMATED.contains(activation)
        ? Approximations.of(value, result)
        : value;
  }

  /** Whether an activation is approximated by what is off as much near 0 as it is near 1. */
  static boolean isOffByPartOfOne(Activation activation, DType result) {
    return result.bytes() <= 2 && OFF_BY_PART_OF_ONE.contains(activation);
  }

  /** How many matrices an operand has; 0 for one without a dimension for that. */
  private long many(boolean shared) {
    return shared || !batch.isMany() ? 0 : batch.count();
  }

  /** A matrix, or so many. */
  private static Buffer matrix(
      String name, DType dtype, long count, long rows, long columns, long pitch, long stride) {
    List<Expr> shape = new ArrayList<>(List.of(Exprs.i32(rows), Exprs.i32(columns)));
    if (count > 0) {
      shape.addFirst(Exprs.i32(count));
    }
    Buffer dense = Buffer.of(name, dtype, Scope.GLOBAL, shape);
    return new Buffer(
        name,
        dtype,
        dense.shape(),
        Scope.GLOBAL,
        MatrixRows.layout(dense, pitch, stride),
        dense.alignment());
  }

  private Tensor input(String name, long count, long rows, long columns, long pitch, long stride) {
    return Tensor.input(matrix(name, gemm.operands(), count, rows, columns, pitch, stride));
  }

  private Tensor noSums() {
    Type type = Type.of(precision.accumulators());
    return Tensor.compute(
        "acc", type.dtype(), all(List.of(Exprs.i32(m), Exprs.i32(n))), v -> Exprs.zero(type));
  }

  private Tensor input(Epilogue.Operand operand, Expr rows, Expr columns) {
    return switch (operand) {
      case ROW_SCALE -> Tensor.input(operand.buffer(), DType.F32, rows);
      case COLUMN_SCALE, BIAS -> Tensor.input(operand.buffer(), DType.F32, columns);
      case ADDEND, GATE, RESIDUAL ->
          Tensor.input(
              matrix(
                  operand.buffer(),
                  result,
                  many(false),
                  m,
                  gemm.resultColumns(),
                  gemm.ldc(),
                  batch.strides().c()));
    };
  }

  /** The element of an operand for a point of the result and one of its columns of the product. */
  private static Expr element(
      Epilogue.Operand operand, Tensor tensor, List<? extends Expr> point, Expr column) {
    return switch (operand) {
      case ROW_SCALE -> tensor.at(point.get(point.size() - 2));
      case COLUMN_SCALE, BIAS -> tensor.at(column);
      case ADDEND, GATE, RESIDUAL -> tensor.at(point.toArray(Expr[]::new));
    };
  }

  /** The shape of a matrix for each product. */
  private List<Expr> all(List<Expr> shape) {
    List<Expr> all = new ArrayList<>(shape);
    if (batch.isMany()) {
      all.addFirst(Exprs.i32(batch.count()));
    }
    return all;
  }

  /** An element of the matrix of the product at hand. */
  private static Expr[] at(List<? extends Expr> point, Expr row, Expr column) {
    return point.size() == 2
        ? new Expr[] {row, column}
        : new Expr[] {point.getFirst(), row, column};
  }

  /** An element of an operand, of the matrix at hand where there are several. */
  private static Expr element(Tensor operand, Expr matrix, Expr row, Expr column, boolean across) {
    Expr first = across ? column : row;
    Expr second = across ? row : column;
    return operand.buffer().rank() == 2
        ? operand.at(first, second)
        : operand.at(matrix, first, second);
  }

  /** One of the groups: a number beyond them is the nearest, so that no table reads outside B. */
  private Expr chosen(Expr group) {
    return Exprs.min(Exprs.max(group, Exprs.i32(0)), Exprs.i32(batch.groups() - 1));
  }

  private Tensor sums(Tensor a, Tensor b, @Nullable Tensor group) {
    Expr rows = Exprs.i32(swapAb ? n : m);
    Expr columns = Exprs.i32(swapAb ? m : n);
    DType type = precision.accumulators();
    boolean half = precision == Precision.F16_ACCUMULATORS;
    return Tensor.reduce(
        "acc",
        type,
        all(List.of(rows, columns)),
        List.of(Exprs.i32(k)),
        Exprs.zero(Type.of(type)),
        (s, r, last) -> {
          Expr row = swapAb ? s.getLast() : s.get(s.size() - 2);
          Expr column = swapAb ? s.get(s.size() - 2) : s.getLast();
          // Where operands are longer than the sums, products take one part after the other.
          boolean parts = a.buffer().extent(a.buffer().rank() - (layout.transposedA() ? 2 : 1)) > k;
          Expr step = parts ? Exprs.add(Exprs.mul(s.getFirst(), k), r.getFirst()) : r.getFirst();
          Expr product = s.getFirst();
          Expr matrix = group == null ? product : chosen(group.at(product));
          DType wide = half ? DType.F32 : type;
          Expr left = Exprs.cast(wide, element(a, product, row, step, layout.transposedA()));
          Expr right = Exprs.cast(wide, element(b, matrix, column, step, !layout.transposedB()));
          if (type == DType.I32) {
            return Exprs.add(Exprs.mul(left, right), last);
          }
          Expr sum = Exprs.cast(wide, last);
          Expr next = swapAb ? Exprs.fma(right, left, sum) : Exprs.fma(left, right, sum);
          return Exprs.cast(type, next);
        });
  }
}
