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

/**
 * The product that a kernel's output is compared with: out[i, j] = f(Σₖ a[i, k] · w[j, k]) with sum
 * and f in f64, one GPU thread for each element.
 *
 * @param func the computation, unscheduled; its parameters are a, w, what the epilogue reads, and
 *     out
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
      extras.put(
          operands.get(i),
          Tensor.input(buffer.name(), buffer.dtype(), buffer.shape().toArray(Expr[]::new)));
    }
    boolean plain = gemm.epilogue().equals(Epilogue.NONE);
    return of(
        "reference",
        gemm.a(),
        gemm.b(),
        gemm.layout(),
        DType.F64,
        List.copyOf(extras.values()),
        (sum, row, column) ->
            plain
                ? sum
                : gemm.epilogue()
                    .of(
                        DType.F64,
                        sum,
                        operand -> {
                          Tensor tensor = Objects.requireNonNull(extras.get(operand));
                          return switch (operand) {
                            case ROW_SCALE -> tensor.at(row);
                            case COLUMN_SCALE, BIAS -> tensor.at(column);
                            case ADDEND, GATE, RESIDUAL -> tensor.at(row, column);
                          };
                        }));
  }

  private static ReferenceProduct of(
      String name, Buffer a, Buffer w, Layout layout, DType out, UnaryOperator<Expr> f) {
    return of(name, a, w, layout, out, List.of(), (sum, row, column) -> f.apply(sum));
  }

  /** What becomes of a sum. */
  private interface Finish {
    Expr of(Expr sum, Expr row, Expr column);
  }

  private static ReferenceProduct of(
      String name,
      Buffer a,
      Buffer w,
      Layout layout,
      DType out,
      List<Tensor> extras,
      Finish finish) {
    boolean ta = layout.transposedA();
    boolean tb = layout.transposedB();
    long m = a.extent(ta ? 1 : 0);
    long k = a.extent(ta ? 0 : 1);
    long n = w.extent(tb ? 0 : 1);
    Tensor left = Tensor.input("a", a.dtype(), Exprs.i32(a.extent(0)), Exprs.i32(a.extent(1)));
    Tensor right = Tensor.input("w", w.dtype(), Exprs.i32(w.extent(0)), Exprs.i32(w.extent(1)));
    List<Expr> shape = List.of(Exprs.i32(m), Exprs.i32(n));
    Tensor sum =
        Tensor.reduce(
            "sum",
            DType.F64,
            shape,
            List.of(Exprs.i32(k)),
            Exprs.zero(Type.of(DType.F64)),
            (s, r, last) ->
                Exprs.fma(
                    Exprs.cast(
                        DType.F64, ta ? left.at(r.get(0), s.get(0)) : left.at(s.get(0), r.get(0))),
                    Exprs.cast(
                        DType.F64,
                        tb ? right.at(s.get(1), r.get(0)) : right.at(r.get(0), s.get(1))),
                    last));
    Tensor result =
        Tensor.compute(
            "out", out, shape, v -> finish.of(sum.at(v.get(0), v.get(1)), v.get(0), v.get(1)));
    List<Param> params = new ArrayList<>(List.of(left.buffer(), right.buffer()));
    extras.forEach(extra -> params.add(extra.buffer()));
    params.add(result.buffer());
    PrimFunc func = PrimFuncs.of(name, params, List.of(sum, result));
    return new ReferenceProduct(func, SimtLowering.lower(schedule(func)));
  }

  private static PrimFunc schedule(PrimFunc func) {
    Schedule schedule = new Schedule(func);
    BlockRef out = schedule.block("out");
    List<LoopRef> loops = schedule.loops(out);
    Schedule.Halves rows = schedule.split(loops.get(0), ROWS);
    Schedule.Halves columns = schedule.split(loops.get(1), COLUMNS);
    schedule.reorder(rows.outer(), columns.outer(), rows.inner(), columns.inner());
    schedule.computeAt(schedule.block("sum"), columns.inner());
    schedule.setScope(new BufferRef("sum"), Scope.LOCAL);
    schedule.compactAll();
    schedule.bind(rows.outer(), ThreadAxis.BLOCK_Y);
    schedule.bind(columns.outer(), ThreadAxis.BLOCK_X);
    schedule.bind(rows.inner(), ThreadAxis.THREAD_Y);
    schedule.bind(columns.inner(), ThreadAxis.THREAD_X);
    return schedule.func();
  }
}
