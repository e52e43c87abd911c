package dev.warpwright.measure.reference;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Kernel;
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
        (sum, point) -> plain ? sum : gemm.epilogue().of(DType.F64, sum, operands(extras, point)),
        (sum, squares, point) -> deviation.of(sum, squares, operands(extras, point)));
  }

  /** The element of an operand that belongs to one of the result. */
  private static Function<Epilogue.Operand, Expr> operands(
      Map<Epilogue.Operand, Tensor> extras, List<? extends Expr> point) {
    return operand -> {
      Tensor tensor = Objects.requireNonNull(extras.get(operand));
      return switch (operand) {
        case ROW_SCALE -> tensor.at(point.get(point.size() - 2));
        case COLUMN_SCALE, BIAS -> tensor.at(point.getLast());
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
        (sum, point) -> f.apply(sum),
        (sum, squares, point) ->
            deviation.of(
                sum,
                squares,
                operand -> {
                  throw new IllegalStateException("no " + operand);
                }));
  }

  /** What becomes of a sum. */
  private interface Finish {
    Expr of(Expr sum, List<? extends Expr> point);
  }

  /** What may be added to it. */
  private interface Spread {
    Expr of(Expr sum, Expr squares, List<? extends Expr> point);
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
      Finish finish,
      Spread spread) {
    boolean ta = layout.transposedA();
    boolean tb = layout.transposedB();
    long m = a.extent(a.rank() - (ta ? 1 : 2));
    long k = a.extent(a.rank() - (ta ? 2 : 1));
    long n = w.extent(w.rank() - (tb ? 2 : 1));
    Tensor left = Tensor.input(a.withName("a"));
    Tensor right = Tensor.input(w.withName("w"));
    List<Expr> shape = new ArrayList<>(List.of(Exprs.i32(m), Exprs.i32(n)));
    if (a.rank() == 3 || w.rank() == 3 || batch > 1) {
      shape.addFirst(Exprs.i32(batch));
    }
    Factors factors =
        (type, s, step) -> {
          Expr product = s.getFirst();
          Expr matrix = group == null ? product : group.at(product);
          return List.of(
              Exprs.cast(type, element(left, product, s.get(s.size() - 2), step, ta)),
              Exprs.cast(type, element(right, matrix, s.getLast(), step, !tb)));
        };
    Tensor sum =
        sum("sum", DType.F64, shape, k, (s, r, last) -> added(factors.at(DType.F64, s, r), last));
    Tensor result =
        Tensor.compute("out", out, shape, v -> finish.of(sum.at(v.toArray(Expr[]::new)), v));
    List<Param> inputs = new ArrayList<>();
    if (k > 0) {
      inputs.addAll(List.of(left.buffer(), right.buffer()));
    }
    extras.forEach(extra -> inputs.add(extra.buffer()));
    if (group != null) {
      inputs.add(group.buffer());
    }
    PrimFunc func = PrimFuncs.of(name, with(inputs, result), List.of(sum, result));
    Kernel kernel = SimtLowering.lower(schedule(func, "sum"));
    Tensor rough =
        sum("sum", DType.F32, shape, k, (s, r, last) -> added(factors.at(DType.F32, s, r), last));
    Tensor squares =
        sum(
            "squares",
            DType.F32,
            shape,
            k,
            (s, r, last) -> {
              List<Expr> pair = factors.at(DType.F32, s, r);
              Expr product = Exprs.mul(pair.get(0), pair.get(1));
              return Exprs.fma(product, product, last);
            });
    Tensor deviation =
        Tensor.compute(
            "out",
            DType.F32,
            shape,
            v -> {
              Expr[] at = v.toArray(Expr[]::new);
              return spread.of(rough.at(at), squares.at(at), v);
            });
    PrimFunc spreads =
        PrimFuncs.of(
            name + "_deviation", with(inputs, deviation), List.of(rough, squares, deviation));
    // A reference is more precise than what is compared with it.
    return new ReferenceGemm(
        func,
        a.dtype() == DType.F64 ? CompensatedSums.apply(kernel, "sum") : kernel,
        SimtLowering.lower(schedule(spreads, "sum", "squares")));
  }

  /** The factors of a step, in a type. */
  private interface Factors {
    List<Expr> at(DType type, List<? extends Expr> point, Expr step);
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

  private static List<Param> with(List<Param> inputs, Tensor result) {
    List<Param> params = new ArrayList<>(inputs);
    params.add(result.buffer());
    return params;
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
