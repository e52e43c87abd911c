package dev.warpwright.cli.program;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.ThreadBinding;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.ir.text.Printed;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.sim.NdArray;
import dev.warpwright.sim.finding.Source;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * A kernel that writes down, for some threads of one block, what each of its statements gave: the
 * value of each {@code let}, what was stored where, which intrinsic was called. The simulator runs
 * it like any other, so what is shown is what is checked.
 *
 * <pre>{@code
 * let x: f32 = A[tx]   →   let x: f32 = A[tx]
 *                          if bx == 0 && tx < 8 && n[] < 4096 { steps[tx, n[], 0] = 1 … }
 * }</pre>
 */
final class SteppedKernel {
  /** What is kept of a thread; what comes later is not shown. */
  static final int MOST_STEPS = 2048;

  private static final int SITE = 0;
  private static final int VALUE = 1;
  private static final int FIRST_INDEX = 2;

  private final Kernel original;
  private final Printed printed;
  private final int first;
  private final int count;
  private final Buffer steps;
  private final Buffer counter = Buffer.of("steps_taken", DType.I32, Scope.LOCAL, 1);
  private final Expr shown;
  private final Expr thread;
  private final List<Site> sites = new ArrayList<>();
  private final Kernel kernel;

  /**
   * A statement that was written down.
   *
   * @param line of the kernel's text
   * @param statement its first line
   * @param what has a value after it: a name or a buffer; empty for a call
   * @param rank indices that the value has
   */
  record Site(int line, String statement, String what, int rank) {}

  /**
   * What some threads have after a statement, each the same number of times.
   *
   * @param values by thread
   */
  record Step(Site site, Map<Integer, Held> values) {}

  /** A value, and where in its buffer it is. */
  record Held(List<Long> index, double value) {}

  /**
   * Prepares a kernel.
   *
   * @param block whose threads are shown
   * @param first of its threads, counted through
   * @param count threads that are shown
   */
  SteppedKernel(Kernel original, List<Long> block, int first, int count) {
    this.original = original;
    this.printed = new IrPrinter().print(original);
    this.first = first;
    this.count = count;
    int rank = 1 + Math.max(1, original.buffers().stream().mapToInt(Buffer::rank).max().orElse(1));
    this.steps =
        Buffer.of(
            "steps_of_threads", DType.F64, Scope.GLOBAL, count, MOST_STEPS, FIRST_INDEX + rank + 2);
    this.thread = Exprs.add(threadNumber(original), -first);
    this.shown =
        Exprs.and(
            blockIs(original, block),
            Exprs.and(Exprs.ge(thread, Exprs.i32(0)), Exprs.lt(thread, Exprs.i32(count))));
    Stmt body = new Recorder().stmt(original.body());
    List<Param> params = new ArrayList<>(original.params());
    params.add(steps);
    Stmt counted = Stmts.seq(new Stmt.Store(counter, List.of(Exprs.i32(0)), Exprs.i32(0)), body);
    this.kernel =
        new Kernel(
            original.name(),
            original.kind(),
            params,
            original.bindings(),
            new Stmt.Alloc(counter, counted),
            original.attrs());
  }

  Kernel kernel() {
    return kernel;
  }

  Buffer steps() {
    return steps;
  }

  private static Expr threadNumber(Kernel kernel) {
    Expr number = Exprs.i32(0);
    Expr stride = Exprs.i32(1);
    for (ThreadAxis axis : List.of(ThreadAxis.THREAD_X, ThreadAxis.THREAD_Y, ThreadAxis.THREAD_Z)) {
      for (ThreadBinding binding : kernel.bindings()) {
        if (binding.axis() == axis) {
          number = Exprs.add(number, Exprs.mul(binding.var(), stride));
          stride = Exprs.mul(stride, binding.extent());
        }
      }
    }
    return number;
  }

  private static Expr blockIs(Kernel kernel, List<Long> block) {
    boolean exists =
        Stream.of(ThreadAxis.values())
            .filter(ThreadAxis::isBlock)
            .filter(axis -> kernel.bindings().stream().noneMatch(b -> b.axis() == axis))
            .allMatch(axis -> block.get(axis.dimension()) == 0);
    Expr is = Exprs.bool(exists);
    for (ThreadBinding binding : kernel.bindings()) {
      if (binding.axis().isBlock()) {
        is =
            Exprs.and(
                is, Exprs.eq(binding.var(), Exprs.i32(block.get(binding.axis().dimension()))));
      }
    }
    return is;
  }

  private int site(Stmt s, String what, int rank) {
    sites.add(new Site(printed.line(s).orElse(0), Source.firstLine(s), what, rank));
    return sites.size();
  }

  /** Writes one step down. */
  private Stmt record(int site, List<Expr> indices, Expr value) {
    Expr at = Exprs.load(counter, Exprs.i32(0));
    List<Stmt> stores = new ArrayList<>();
    stores.add(store(at, SITE, Exprs.constant(Type.of(DType.F64), site)));
    stores.add(store(at, VALUE, Exprs.cast(DType.F64, value)));
    for (int d = 0; d < indices.size(); d++) {
      stores.add(store(at, FIRST_INDEX + d, Exprs.cast(DType.F64, indices.get(d))));
    }
    stores.add(new Stmt.Store(counter, List.of(Exprs.i32(0)), Exprs.add(at, 1)));
    Expr room = Exprs.lt(at, Exprs.i32(MOST_STEPS));
    return new Stmt.If(Exprs.and(shown, room), Stmts.seq(stores), null);
  }

  private Stmt store(Expr at, int slot, Expr value) {
    return new Stmt.Store(steps, List.of(thread, at, Exprs.i32(slot)), value);
  }

  /** Puts behind each statement that it is written down. */
  private final class Recorder extends Rewriter {
    @Override
    public Stmt stmt(Stmt s) {
      return switch (s) {
        case Stmt.Let(Var v, Expr value, Stmt body)
            when v.type().lanes() == 1 && isNumber(v.type()) -> {
          int site = site(s, v.name(), 0);
          yield new Stmt.Let(v, value, Stmts.seq(record(site, List.of(), v), stmt(body)));
        }
        case Stmt.Store store when isNumber(Type.of(store.buffer().dtype())) -> recorded(store);
        case Stmt.Evaluate call -> {
          int site = site(s, "", 0);
          yield Stmts.seq(call, record(site, List.of(), Exprs.constant(Type.of(DType.F64), 0)));
        }
        default -> super.stmt(s);
      };
    }

    private static boolean isNumber(Type type) {
      return switch (type.dtype()) {
        case MBARRIER, HANDLE, F8E4M3, F8E5M2 -> false;
        case F64, F32, F16, BF16, BOOL, I8, U8, I32, U32, I64, U64 -> true;
      };
    }

    /** Of a vector each element, one after the other. */
    private Stmt recorded(Stmt.Store store) {
      int site = site(store, store.buffer().name(), store.buffer().rank());
      List<Expr> indices = store.indices();
      if (!indices.isEmpty()
          && indices.getLast() instanceof Expr.Ramp(Expr base, long stride, int lanes)) {
        List<Stmt> all = new ArrayList<>(List.of(store));
        for (int lane = 0; lane < lanes; lane++) {
          List<Expr> element = new ArrayList<>(indices.subList(0, indices.size() - 1));
          element.add(Exprs.add(base, lane * stride));
          all.add(record(site, element, new Expr.Load(store.buffer(), element)));
        }
        return Stmts.seq(all);
      }
      if (!indices.isEmpty() && indices.getLast().type().lanes() > 1) {
        return store;
      }
      // Evaluated before the store, which may change what they are made of.
      Var value = new Var("stored", store.value().type());
      List<Expr> kept = new ArrayList<>();
      List<Var> names = new ArrayList<>();
      for (int d = 0; d < indices.size(); d++) {
        Var index = new Var("at_" + d, indices.get(d).type());
        names.add(index);
        kept.add(index);
      }
      Stmt body = Stmts.seq(new Stmt.Store(store.buffer(), kept, value), record(site, kept, value));
      body = new Stmt.Let(value, store.value(), body);
      for (int d = indices.size() - 1; d >= 0; d--) {
        body = new Stmt.Let(names.get(d), indices.get(d), body);
      }
      return body;
    }
  }

  /** What was written down, in the order in which the first thread that came there did so. */
  List<Step> read(NdArray written) {
    Map<List<Integer>, Step> all = new LinkedHashMap<>();
    for (int t = 0; t < count; t++) {
      int[] times = new int[sites.size() + 1];
      for (int n = 0; n < MOST_STEPS; n++) {
        int site = (int) written.get(t, n, SITE);
        if (site == 0) {
          break;
        }
        Site where = sites.get(site - 1);
        List<Long> index = new ArrayList<>();
        for (int d = 0; d < where.rank(); d++) {
          index.add((long) written.get(t, n, FIRST_INDEX + d));
        }
        all.computeIfAbsent(
                List.of(site, times[site]++), key -> new Step(where, new LinkedHashMap<>()))
            .values()
            .put(first + t, new Held(index, written.get(t, n, VALUE)));
      }
    }
    return List.copyOf(all.values());
  }

  /** Whether a thread did more than is kept. */
  boolean isCut(NdArray written) {
    for (int t = 0; t < count; t++) {
      if (written.get(t, MOST_STEPS - 1, SITE) != 0) {
        return true;
      }
    }
    return false;
  }

  Kernel original() {
    return original;
  }
}
