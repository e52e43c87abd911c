package dev.warpwright.compiler.bench;

import dev.warpwright.families.Epilogue;
import dev.warpwright.families.GemmWorkload.Layout;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.DType;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.Type;
import dev.warpwright.lower.simt.SimtLowering;
import dev.warpwright.schedule.BlockRef;
import dev.warpwright.schedule.BufferRef;
import dev.warpwright.schedule.LoopRef;
import dev.warpwright.schedule.Schedule;
import dev.warpwright.tensor.Ops;
import dev.warpwright.tensor.PrimFuncs;
import dev.warpwright.tensor.Tensor;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The product that a kernel's output is compared with: out[i, j] = f(Σₖ a[i, k] · w[j, k]) with sum
 * and f in f64, of f64 operands {@link CompensatedSums with a compensated sum}; one GPU thread for
 * each element.
 *
 * @param func the computation, unscheduled; its parameters are a and w, unless K is 0, what the
 *     epilogue reads, the table of grouped products, and out
 * @param kernel the same for a GPU
 */
record ReferenceProduct(PrimFunc func, Kernel kernel) {
  private static final int ROWS = 16;
  private static final int COLUMNS = 16;

  /** The products of a workload in order: each but the last gives an operand of the next one. */
  static List<ReferenceProduct> of(Workload workload) {
    return switch (workload) {
      case Workload.Gemm g -> List.of(of(g));
      case Workload.FfnGelu(Buffer x, Buffer w1, Buffer h, Buffer w2, Buffer y) ->
          // The second product starts from what a kernel stores between the two.
          List.of(
              of("reference_hidden", x, w1, Layout.NT, h.dtype(), Ops::gelu),
              of("reference", h, w2, Layout.NT, DType.F64, v -> v));
    };
  }

  private static ReferenceProduct of(Workload.Gemm gemm) {
    Map<Epilogue.Operand, Tensor> extras = new EnumMap<>(Epilogue.Operand.class);
    List<Epilogue.Operand> operands = gemm.epilogue().operands();
    for (int i = 0; i < operands.size(); i++) {
      Buffer buffer = gemm.extras().get(i);
      extras.put(operands.get(i), Tensor.input(buffer));
    }
    boolean plain = gemm.epilogue().equals(Epilogue.NONE);
    return of(
        "reference",
        gemm.a(),
        gemm.b(),
        gemm.layout(),
        DType.F64,
        gemm.batch().count(),
        gemm.group() == null ? null : Tensor.input(gemm.group()),
        List.copyOf(extras.values()),
        (sum, point) ->
            plain
                ? sum
                : gemm.epilogue()
                    .of(
                        DType.F64,
                        sum,
                        operand -> {
                          Tensor tensor = Objects.requireNonNull(extras.get(operand));
                          return switch (operand) {
                            case ROW_SCALE -> tensor.at(point.get(point.size() - 2));
                            case COLUMN_SCALE, BIAS -> tensor.at(point.getLast());
                            case ADDEND, GATE, RESIDUAL -> tensor.at(point.toArray(Expr[]::new));
                          };
                        }));
  }

  private static ReferenceProduct of(
      String name, Buffer a, Buffer w, Layout layout, DType out, UnaryOperator<Expr> f) {
    return of(name, a, w, layout, out, 1, null, List.of(), (sum, point) -> f.apply(sum));
  }

  /** What becomes of a sum. */
  private interface Finish {
    Expr of(Expr sum, List<? extends Expr> point);
  }

  private static ReferenceProduct of(
      String name,
      Buffer a,
      Buffer w,
      Layout layout,
      DType out,
      long batch,
      @Nullable Tensor group,
      List<Tensor> extras,
      Finish finish) {
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
    Expr zero = Exprs.zero(Type.of(DType.F64));
    Tensor sum =
        k == 0
            ? Tensor.compute("sum", DType.F64, shape, v -> zero)
            : Tensor.reduce(
                "sum",
                DType.F64,
                shape,
                List.of(Exprs.i32(k)),
                zero,
                (s, r, last) -> {
                  Expr product = s.getFirst();
                  Expr matrix = group == null ? product : group.at(product);
                  Expr row = s.get(s.size() - 2);
                  return Exprs.fma(
                      Exprs.cast(DType.F64, element(left, product, row, r.get(0), ta)),
                      Exprs.cast(DType.F64, element(right, matrix, s.getLast(), r.get(0), !tb)),
                      last);
                });
    Tensor result =
        Tensor.compute("out", out, shape, v -> finish.of(sum.at(v.toArray(Expr[]::new)), v));
    List<Param> params = new ArrayList<>();
    if (k > 0) {
      params.addAll(List.of(left.buffer(), right.buffer()));
    }
    extras.forEach(extra -> params.add(extra.buffer()));
    if (group != null) {
      params.add(group.buffer());
    }
    params.add(result.buffer());
    PrimFunc func = PrimFuncs.of(name, params, List.of(sum, result));
    Kernel kernel = SimtLowering.lower(schedule(func));
    // A reference is more precise than what is compared with it.
    return new ReferenceProduct(
        func, a.dtype() == DType.F64 ? CompensatedSums.apply(kernel, "sum") : kernel);
  }

  /** Element [row, step] of a matrix, which is stored across, or of one of several. */
  private static Expr element(Tensor operand, Expr matrix, Expr row, Expr step, boolean across) {
    Expr first = across ? step : row;
    Expr second = across ? row : step;
    return operand.buffer().rank() == 2
        ? operand.at(first, second)
        : operand.at(matrix, first, second);
  }

  private static PrimFunc schedule(PrimFunc func) {
    Schedule schedule = new Schedule(func);
    BlockRef out = schedule.block("out");
    List<LoopRef> loops = schedule.loops(out);
    Schedule.Halves rows = schedule.split(loops.get(loops.size() - 2), ROWS);
    Schedule.Halves columns = schedule.split(loops.getLast(), COLUMNS);
    schedule.reorder(rows.outer(), columns.outer(), rows.inner(), columns.inner());
    schedule.computeAt(schedule.block("sum"), columns.inner());
    schedule.setScope(new BufferRef("sum"), Scope.LOCAL);
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
