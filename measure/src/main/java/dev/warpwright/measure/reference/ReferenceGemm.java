package dev.warpwright.measure.reference;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.MathOp;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import dev.warpwright.lower.simt.SimtLowering;
import dev.warpwright.schedule.BlockRef;
import dev.warpwright.schedule.BufferRef;
import dev.warpwright.schedule.LoopRef;
import dev.warpwright.schedule.Schedule;
import dev.warpwright.workload.Activation;
import dev.warpwright.workload.Epilogue;
import dev.warpwright.workload.GemmDeviation;
import dev.warpwright.workload.GemmWorkload.Layout;
import dev.warpwright.workload.kernel.BoundWorkload;
import dev.warpwright.workload.tensor.PrimFuncs;
import dev.warpwright.workload.tensor.Tensor;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The product that a kernel's output is compared with: out[i, j] = f(Σₖ a[i, k] · w[j, k]) with sum
 * and f in f64, of f64 operands {@link CompensatedSums with a compensated sum}; one GPU thread for
 * each element. Another kernel computes how far an honest result may be from it, in f32: half the
 * memory.
 *
 * @param func the computation, unscheduled; its parameters are a and w, unless K is 0, what the
 *     epilogue reads, the table of grouped products, and out
 * @param kernel the same for a GPU
 * @param deviation for a GPU: of the same parameters the {@link GemmDeviation} of each element
 */
public record ReferenceGemm(PrimFunc func, Kernel kernel, Kernel deviation) {
  private static final int ROWS = 16;
  private static final int COLUMNS = 16;

  /** The products of a workload in order: each but the last gives an operand of the next one. */
  public static List<ReferenceGemm> of(BoundWorkload workload) {
    return switch (workload) {
      case BoundWorkload.Gemm g -> List.of(of(g));
      case BoundWorkload.Ffn(var _, Buffer x, Buffer w1, Buffer h, Buffer w2, Buffer y) ->
          // The second product starts from what a kernel stores between the two.
          List.of(
              of("reference_hidden", x, w1, h.dtype(), Activation.GELU::of, workload.deviation(0)),
              of("reference", h, w2, DType.F64, v -> v, workload.deviation(1)));
    };
  }

  private static ReferenceGemm of(BoundWorkload.Gemm gemm) {
    Map<Epilogue.Operand, Tensor> extras = new EnumMap<>(Epilogue.Operand.class);
    List<Epilogue.Operand> operands = gemm.epilogue().operands();
    for (int i = 0; i < operands.size(); i++) {
      Buffer buffer = gemm.extras().get(i);
      extras.put(operands.get(i), Tensor.input(buffer));
    }
    boolean plain = gemm.epilogue().equals(Epilogue.NONE);
    GemmDeviation deviation = gemm.deviation(0);
    return of(
        "reference",
        gemm.a(),
        gemm.b(),
        gemm.layout(),
        DType.F64,
        gemm.batch().count(),
        gemm.group() == null ? null : Tensor.input(gemm.group()),
        List.copyOf(extras.values()),
        gemm.epilogue().glu(),
        gemm.epilogue().norm(),
        (sums, point) ->
            plain
                ? sums.getFirst()
                : gemm.epilogue().glu()
                    ? glu(gemm.epilogue(), sums, extras, point)
                    : gemm.epilogue()
                        .of(DType.F64, sums.getFirst(), operands(extras, point, point.getLast())),
        (sums, squares, point) ->
            gemm.epilogue().glu()
                ? glu(deviation, sums, squares, extras, point)
                : deviation.of(
                    sums.getFirst(), squares.getFirst(), operands(extras, point, point.getLast())));
  }

  private static Expr glu(
      Epilogue epilogue,
      List<Expr> sums,
      Map<Epilogue.Operand, Tensor> extras,
      List<? extends Expr> point) {
    return epilogue.glu(
        DType.F64,
        sums.get(0),
        operands(extras, point, column(point, 0)),
        sums.get(1),
        operands(extras, point, column(point, 1)));
  }

  private static Expr glu(
      GemmDeviation deviation,
      List<Expr> sums,
      List<Expr> squares,
      Map<Epilogue.Operand, Tensor> extras,
      List<? extends Expr> point) {
    GemmDeviation gate = deviation.gatePart();
    GemmDeviation up = deviation.upPart();
    Function<Epilogue.Operand, Expr> atGate = operands(extras, point, column(point, 0));
    Function<Epilogue.Operand, Expr> atUp = operands(extras, point, column(point, 1));
    return deviation.ofProduct(
        gate.epilogue().of(DType.F32, sums.get(0), atGate),
        gate.of(sums.get(0), squares.get(0), atGate),
        up.epilogue().of(DType.F32, sums.get(1), atUp),
        up.of(sums.get(1), squares.get(1), atUp),
        deviation.epilogue().residual() ? atGate.apply(Epilogue.Operand.RESIDUAL) : null);
  }

  /** The column of the product that one of the two sums of a gated linear unit is of. */
  private static Expr column(List<? extends Expr> point, int part) {
    return Exprs.add(Epilogue.gateColumn(point.getLast()), part * Epilogue.GLU_GROUP);
  }

  /** The element of an operand that belongs to one of the result. */
  private static Function<Epilogue.Operand, Expr> operands(
      Map<Epilogue.Operand, Tensor> extras, List<? extends Expr> point, Expr column) {
    return operand -> {
      Tensor tensor = Objects.requireNonNull(extras.get(operand));
      return switch (operand) {
        case ROW_SCALE -> tensor.at(point.get(point.size() - 2));
        case COLUMN_SCALE, BIAS -> tensor.at(column);
        case ADDEND, GATE, RESIDUAL -> tensor.at(point.toArray(Expr[]::new));
      };
    };
  }

  private static ReferenceGemm of(
      String name, Buffer a, Buffer w, DType out, UnaryOperator<Expr> f, GemmDeviation deviation) {
    return of(
        name,
        a,
        w,
        Layout.NT,
        out,
        1,
        null,
        List.of(),
        false,
        Epilogue.NONE.norm(),
        (sums, point) -> f.apply(sums.getFirst()),
        (sums, squares, point) ->
            deviation.of(
                sums.getFirst(),
                squares.getFirst(),
                operand -> {
                  throw new IllegalStateException("no " + operand);
                }));
  }

  /** What becomes of a sum, or two. */
  private interface Finish {
    Expr of(List<Expr> sums, List<? extends Expr> point);
  }

  /** What may be added to it. */
  private interface Spread {
    Expr of(List<Expr> sums, List<Expr> squares, List<? extends Expr> point);
  }

  private static ReferenceGemm of(
      String name,
      Buffer a,
      Buffer w,
      Layout layout,
      DType out,
      long batch,
      @Nullable Tensor group,
      List<Tensor> extras,
      boolean glu,
      double norm,
      Finish finish,
      Spread spread) {
    boolean ta = layout.transposedA();
    boolean tb = layout.transposedB();
    long m = a.extent(a.rank() - (ta ? 1 : 2));
    long k = a.extent(a.rank() - (ta ? 2 : 1));
    long n = w.extent(w.rank() - (tb ? 2 : 1)) / (glu ? 2 : 1);
    Tensor left = Tensor.input(a.withName("a"));
    Tensor right = Tensor.input(w.withName("w"));
    List<Expr> shape = new ArrayList<>(List.of(Exprs.i32(m), Exprs.i32(n)));
    if (a.rank() == 3 || w.rank() == 3 || batch > 1) {
      shape.addFirst(Exprs.i32(batch));
    }
    Factors factors =
        (type, s, step, part) -> {
          Expr product = s.getFirst();
          Expr matrix = group == null ? product : group.at(product);
          return List.of(
              Exprs.cast(type, element(left, product, s.get(s.size() - 2), step, ta)),
              Exprs.cast(
                  type, element(right, matrix, glu ? column(s, part) : s.getLast(), step, !tb)));
        };
    List<Tensor> sums = new ArrayList<>();
    List<Tensor> rough = new ArrayList<>();
    List<Tensor> squares = new ArrayList<>();
    for (int part = 0; part < (glu ? 2 : 1); part++) {
      int own = part;
      String suffix = part == 0 ? "" : "_up";
      sums.add(
          sum(
              "sum" + suffix,
              DType.F64,
              shape,
              k,
              (s, r, last) -> added(factors.at(DType.F64, s, r, own), last)));
      rough.add(
          sum(
              "sum" + suffix,
              DType.F32,
              shape,
              k,
              (s, r, last) -> added(factors.at(DType.F32, s, r, own), last)));
      squares.add(
          sum(
              "squares" + suffix,
              DType.F32,
              shape,
              k,
              (s, r, last) -> {
                List<Expr> pair = factors.at(DType.F32, s, r, own);
                Expr product = Exprs.mul(pair.get(0), pair.get(1));
                return Exprs.fma(product, product, last);
              }));
    }
    List<Tensor> exact = new ArrayList<>(sums);
    List<Tensor> both = new ArrayList<>(rough);
    both.addAll(squares);
    if (norm >= 0) {
      exact.add(rowSquares(DType.F64, shape, k, factors));
      both.add(rowSquares(DType.F32, shape, k, factors));
    }
    Tensor result =
        Tensor.compute(
            "out", out, shape, v -> finish.of(normed(at(sums, v), exact, v, k, norm), v));
    List<Param> inputs = new ArrayList<>();
    if (k > 0) {
      inputs.addAll(List.of(left.buffer(), right.buffer()));
    }
    extras.forEach(extra -> inputs.add(extra.buffer()));
    if (group != null) {
      inputs.add(group.buffer());
    }
    PrimFunc func = PrimFuncs.of(name, with(inputs, result.buffer()), with(exact, result));
    Kernel kernel = SimtLowering.lower(schedule(func, names(exact)));
    Tensor deviation =
        Tensor.compute(
            "out",
            DType.F32,
            shape,
            v ->
                spread.of(
                    normed(at(rough, v), both, v, k, norm),
                    normed(normed(at(squares, v), both, v, k, norm), both, v, k, norm),
                    v));
    PrimFunc spreads =
        PrimFuncs.of(name + "_deviation", with(inputs, deviation.buffer()), with(both, deviation));
    // A reference is more precise than what is compared with it.
    return new ReferenceGemm(
        func,
        a.dtype() == DType.F64 ? CompensatedSums.apply(kernel, "sum") : kernel,
        SimtLowering.lower(schedule(spreads, names(both))));
  }

  /** Of each element the squares of its row of A, added up. */
  private static Tensor rowSquares(DType type, List<Expr> shape, long k, Factors factors) {
    return sum(
        "rows",
        type,
        shape,
        k,
        (s, r, last) -> {
          Expr element = factors.at(type, s, r, 0).getFirst();
          return Exprs.fma(element, element, last);
        });
  }

  /** Values over √(Σ a² / K + ε), where the last tensor is Σ a²; as they are without an ε. */
  private static List<Expr> normed(
      List<Expr> values, List<Tensor> tensors, List<? extends Expr> point, long k, double epsilon) {
    if (epsilon < 0) {
      return values;
    }
    Expr squares = tensors.getLast().at(point.toArray(Expr[]::new));
    Type type = squares.type();
    Expr mean = Exprs.fma(squares, Exprs.constant(type, 1.0 / k), Exprs.constant(type, epsilon));
    return values.stream().map(v -> Exprs.div(v, Exprs.call(MathOp.SQRT, mean))).toList();
  }

  private static List<Expr> at(List<Tensor> tensors, List<? extends Expr> point) {
    return tensors.stream().map(tensor -> tensor.at(point.toArray(Expr[]::new))).toList();
  }

  private static String[] names(List<Tensor> tensors) {
    return tensors.stream().map(Tensor::name).toArray(String[]::new);
  }

  /** The factors of a step, in a type. */
  private interface Factors {
    List<Expr> at(DType type, List<? extends Expr> point, Expr step, int part);
  }

  /** What a step makes of a sum. */
  private interface Step {
    Expr next(List<? extends Expr> point, Expr step, Expr last);
  }

  private static Expr added(List<Expr> factors, Expr last) {
    return Exprs.fma(factors.get(0), factors.get(1), last);
  }

  private static Tensor sum(String name, DType type, List<Expr> shape, long k, Step step) {
    Expr zero = Exprs.zero(Type.of(type));
    return k == 0
        ? Tensor.compute(name, type, shape, v -> zero)
        : Tensor.reduce(
            name,
            type,
            shape,
            List.of(Exprs.i32(k)),
            zero,
            (s, r, last) -> step.next(s, r.get(0), last));
  }

  private static <T> List<T> with(List<T> before, T last) {
    List<T> all = new ArrayList<>(before);
    all.add(last);
    return all;
  }

  /** Element [row, step] of a matrix, which is stored across, or of one of several. */
  private static Expr element(Tensor operand, Expr matrix, Expr row, Expr step, boolean across) {
    Expr first = across ? step : row;
    Expr second = across ? row : step;
    return operand.buffer().rank() == 2
        ? operand.at(first, second)
        : operand.at(matrix, first, second);
  }

  private static PrimFunc schedule(PrimFunc func, String... sums) {
    Schedule schedule = new Schedule(func);
    BlockRef out = schedule.block("out");
    List<LoopRef> loops = schedule.loops(out);
    Schedule.Halves rows = schedule.split(loops.get(loops.size() - 2), ROWS);
    Schedule.Halves columns = schedule.split(loops.getLast(), COLUMNS);
    schedule.reorder(rows.outer(), columns.outer(), rows.inner(), columns.inner());
    for (String sum : sums) {
      schedule.computeAt(schedule.block(sum), columns.inner());
      schedule.setScope(new BufferRef(sum), Scope.LOCAL);
    }
    schedule.compactAll();
    if (loops.size() == 3) {
      schedule.bind(loops.getFirst(), ThreadAxis.BLOCK_Z);
    }
    schedule.bind(rows.outer(), ThreadAxis.BLOCK_Y);
    schedule.bind(columns.outer(), ThreadAxis.BLOCK_X);
    schedule.bind(rows.inner(), ThreadAxis.THREAD_Y);
    schedule.bind(columns.inner(), ThreadAxis.THREAD_X);
    return schedule.func();
  }
}
