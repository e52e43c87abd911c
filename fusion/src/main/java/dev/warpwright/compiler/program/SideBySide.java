package dev.warpwright.compiler.program;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.ThreadBinding;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.visit.Substitution;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.schedule.trace.Trace;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * Makes one launch of neighbours that do not need each other: each is so short that it would mostly
 * wait for the one before it.
 *
 * <pre>{@code
 * launch a   grid 8 × 2                  grid 16 + 5
 * launch b   grid 5             →        if (blockIdx.x < 16) a at (blockIdx.x % 8, blockIdx.x / 8)
 *                                        else b at blockIdx.x - 16
 * }</pre>
 *
 * <p>Of kernels with as many threads, no clusters, no counters, and a grid of known size.
 */
public final class SideBySide {
  /** Launches of more blocks fill the GPU by themselves. */
  private static final long FEW_BLOCKS = 1024;

  private static final String MIN_BLOCKS = "minBlocks";

  private static final String THREADS = "threads";

  /** What is known of attributes of several kernels together. */
  private static final Set<String> KEPT = Set.of(MIN_BLOCKS, THREADS, Attrs.COMMENT);

  private SideBySide() {}

  /**
   * The calls, neighbours together where they can be.
   *
   * @param calls in order
   */
  public static List<KernelCall> of(List<KernelCall> calls) {
    List<KernelCall> result = new ArrayList<>();
    List<KernelCall> together = new ArrayList<>();
    for (KernelCall call : calls) {
      if (!together.isEmpty() && !joins(together, call)) {
        result.add(one(together));
        together.clear();
      }
      together.add(call);
    }
    if (!together.isEmpty()) {
      result.add(one(together));
    }
    return result;
  }

  private static boolean joins(List<KernelCall> together, KernelCall call) {
    Kernel first = together.getFirst().compiled().kernel();
    Kernel kernel = call.compiled().kernel();
    if (!isShort(first)
        || !isShort(kernel)
        || !call.zeroed().isEmpty()
        || !together.getFirst().zeroed().isEmpty()
        || first.threadsPerBlock() != kernel.threadsPerBlock()) {
      return false;
    }
    Set<Buffer> written = written(call);
    Set<Buffer> touched = touched(call);
    return together.stream()
        .allMatch(
            before ->
                Collections.disjoint(written(before), touched)
                    && Collections.disjoint(touched(before), written));
  }

  /** Whether it is formulas or sums on a known grid, of threads along one axis. */
  private static boolean isShort(Kernel kernel) {
    return kernel.bindings().stream()
            .allMatch(
                b ->
                    b.extent() instanceof Expr.IntImm
                        && b.axis() != ThreadAxis.BLOCK_Z
                        && (b.axis().isBlock() || b.axis() == ThreadAxis.THREAD_X))
        && kernel.binding(ThreadAxis.THREAD_X).isPresent()
        && KEPT.containsAll(kernel.attrs().values().keySet())
        && blocks(kernel) <= FEW_BLOCKS;
  }

  private static long blocks(Kernel kernel) {
    return extent(kernel, ThreadAxis.BLOCK_X) * extent(kernel, ThreadAxis.BLOCK_Y);
  }

  private static long extent(Kernel kernel, ThreadAxis axis) {
    return ((Expr.IntImm) kernel.extent(axis)).value();
  }

  private static Set<Buffer> written(KernelCall call) {
    Set<Buffer> formals = new HashSet<>();
    // Behind an address there may be anything, as a TMA store.
    Walk.all(
        call.compiled().kernel().body(),
        s -> {
          if (s instanceof Stmt.Store store) {
            formals.add(store.buffer());
          }
        },
        e -> {
          if (e instanceof Expr.AddressOf address) {
            formals.add(address.buffer());
          }
        });
    Set<Buffer> written = new HashSet<>();
    List<Param> params = call.compiled().kernel().params();
    for (int i = 0; i < params.size(); i++) {
      if (params.get(i) instanceof Buffer formal && formals.contains(formal)) {
        written.add((Buffer) call.arguments().get(i));
      }
    }
    return written;
  }

  private static Set<Buffer> touched(KernelCall call) {
    Set<Buffer> touched = new HashSet<>();
    call.arguments().stream()
        .filter(Buffer.class::isInstance)
        .forEach(argument -> touched.add((Buffer) argument));
    return touched;
  }

  private static KernelCall one(List<KernelCall> together) {
    if (together.size() == 1) {
      return together.getFirst();
    }
    Map<Param, Param> actuals = new HashMap<>();
    Set<Param> params = new LinkedHashSet<>();
    Set<Param> functionParams = new LinkedHashSet<>();
    List<Stmt> tiles = new ArrayList<>();
    List<String> stages = new ArrayList<>();
    for (KernelCall call : together) {
      List<Param> formals = call.compiled().kernel().params();
      for (int i = 0; i < formals.size(); i++) {
        actuals.put(formals.get(i), call.arguments().get(i));
      }
      params.addAll(formals);
      functionParams.addAll(call.compiled().tileProgram().params());
      tiles.add(call.compiled().tileProgram().body());
      stages.addAll(call.compiled().stages());
    }
    CompiledKernel first = together.getFirst().compiled();
    PrimFunc program =
        new PrimFunc(
            first.function().name(),
            List.copyOf(functionParams),
            Stmts.seq(tiles),
            first.tileProgram().attrs());
    CompiledKernel all =
        new CompiledKernel(
            kernel(together, List.copyOf(params)),
            program,
            new Trace(List.of()),
            program,
            first.strategy(),
            first.why()
                + "; one launch of "
                + together.size()
                + " that do not need each other, for each would mostly wait",
            stages);
    return new KernelCall(
        all,
        params.stream().map(formal -> Objects.requireNonNull(actuals.get(formal))).toList(),
        List.of());
  }

  private static Kernel kernel(List<KernelCall> together, List<Param> params) {
    Kernel first = together.getFirst().compiled().kernel();
    Var block = Var.index("block");
    Var thread = first.binding(ThreadAxis.THREAD_X).orElseThrow().var();
    long end = together.stream().mapToLong(call -> blocks(call.compiled().kernel())).sum();
    long all = end;
    long minBlocks = Long.MAX_VALUE;
    Stmt body = Stmt.Seq.EMPTY;
    for (KernelCall call : together.reversed()) {
      Kernel kernel = call.compiled().kernel();
      long begin = end - blocks(kernel);
      Stmt own = at(kernel, Exprs.sub(block, Exprs.i32(begin)), thread);
      body = end == all ? own : new Stmt.If(Exprs.lt(block, Exprs.i32(end)), own, body);
      end = begin;
      minBlocks = Math.min(minBlocks, kernel.attrs().getLong(MIN_BLOCKS, 1));
    }
    return new Kernel(
        first.name(),
        first.kind(),
        params,
        List.of(
            new ThreadBinding(ThreadAxis.BLOCK_X, block, Exprs.i32(all)),
            first.binding(ThreadAxis.THREAD_X).orElseThrow()),
        body,
        Attrs.NONE.with(MIN_BLOCKS, minBlocks).with(THREADS, first.threadsPerBlock()));
  }

  /** The body of a block of a kernel, counted along x first. */
  private static Stmt at(Kernel kernel, Expr number, Var thread) {
    Map<Var, Expr> places = new HashMap<>();
    long across = extent(kernel, ThreadAxis.BLOCK_X);
    for (ThreadBinding binding : kernel.bindings()) {
      places.put(
          binding.var(),
          switch (binding.axis()) {
            case BLOCK_X -> Exprs.mod(number, (int) across);
            case BLOCK_Y -> Exprs.div(number, (int) across);
            default -> thread;
          });
    }
    return Substitution.ofVars(places).stmt(kernel.body());
  }
}
