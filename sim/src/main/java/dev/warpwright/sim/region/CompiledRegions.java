package dev.warpwright.sim.region;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.ScalarParam;
import dev.warpwright.ir.Var;
import dev.warpwright.sim.expr.Index3;
import dev.warpwright.sim.finding.Suspicion;
import dev.warpwright.sim.memory.Snapshot;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A kernel of plain threads and block barriers, compiled to bytecode: some hundred times as fast as
 * the {@code GridInterpreter}, and with nothing to report. Whenever something may be wrong it gives
 * up, and the interpreter has to execute the launch.
 */
public final class CompiledRegions {
  private static final int LARGEST_BLOCK_NUMBER = 1 << 20;
  private static final int WORKERS = Math.min(Runtime.getRuntime().availableProcessors(), 8);

  private final RegionPlan plan;
  private final Set<Buffer> written;
  private final MethodHandle entry;

  private CompiledRegions(RegionPlan plan, Set<Buffer> written, MethodHandle entry) {
    this.plan = plan;
    this.written = written;
    this.entry = entry;
  }

  /**
   * Compiles, or gives null for a kernel that does what regions cannot.
   *
   * @param written global buffers that the kernel writes
   */
  public static @Nullable CompiledRegions of(Kernel kernel, Set<Buffer> written) {
    RegionPlan plan = RegionPlan.of(kernel);
    if (plan == null || plan.threads() > 1024) {
      return null;
    }
    try {
      byte[] bytes = new RegionEmitter(plan, written).emit();
      MethodHandles.Lookup generated = MethodHandles.lookup().defineHiddenClass(bytes, true);
      MethodHandle entry =
          generated.findStatic(
              generated.lookupClass(),
              RegionEmitter.ENTRY,
              MethodType.methodType(
                  void.class, RegionState.class, int.class, int.class, int.class));
      return new CompiledRegions(plan, written, entry);
    } catch (RegionPlan.Unsupported | IllegalArgumentException e) {
      return null;
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("compiled code that Java refuses", e);
    }
  }

  /**
   * Executes all blocks, on several threads.
   *
   * @param arrays the bytes of each buffer
   * @param scalars the value of each scalar parameter
   * @return whether nothing was suspicious; otherwise buffers are as they were before
   */
  public boolean run(
      Function<Buffer, byte[]> arrays, Function<Var, Number> scalars, Index3 extents) {
    long blocks = extents.count();
    if (blocks >= LARGEST_BLOCK_NUMBER) {
      return false;
    }
    List<Buffer> buffers = plan.kernel().buffers();
    byte[][] globals = new byte[buffers.size()][];
    int[][] touched = new int[buffers.size()][];
    for (int i = 0; i < globals.length; i++) {
      Buffer b = buffers.get(i);
      globals[i] = arrays.apply(b);
      if (written.contains(b)) {
        touched[i] = new int[globals[i].length / b.dtype().bytes()];
      }
    }
    Snapshot before = Snapshot.of(buffers, written, arrays);
    if (before == null) {
      return false;
    }
    boolean good = runAll(extents, (int) blocks, globals, touched, values(scalars));
    if (!good) {
      before.restore();
    }
    return good;
  }

  private int[] values(Function<Var, Number> scalars) {
    List<Integer> values = new ArrayList<>();
    for (Param param : plan.kernel().params()) {
      if (param instanceof ScalarParam scalar) {
        values.add(scalars.apply(scalar.var()).intValue());
      }
    }
    return values.stream().mapToInt(Integer::intValue).toArray();
  }

  private boolean runAll(
      Index3 extents, int blocks, byte[][] globals, int[][] touched, int[] scalars) {
    AtomicInteger next = new AtomicInteger();
    AtomicBoolean suspicious = new AtomicBoolean();
    Runnable worker =
        () -> {
          RegionState state = new RegionState(globals, touched, scalars, plan);
          for (int b = next.getAndIncrement();
              b < blocks && !suspicious.get();
              b = next.getAndIncrement()) {
            Index3 index = extents.index(b);
            state.begin(b);
            try {
              entry.invokeExact(state, (int) index.x(), (int) index.y(), (int) index.z());
            } catch (Suspicion
                | IndexOutOfBoundsException
                | ArithmeticException
                | NegativeArraySizeException e) {
              suspicious.set(true);
            } catch (Throwable e) {
              throw new IllegalStateException("compiled regions of " + plan.kernel().name(), e);
            }
          }
        };
    List<Thread> threads = new ArrayList<>();
    for (int i = 1; i < Math.min(WORKERS, blocks); i++) {
      threads.add(Thread.ofPlatform().daemon().name("simulator-" + i).start(worker));
    }
    worker.run();
    for (Thread thread : threads) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        suspicious.set(true);
        Thread.currentThread().interrupt();
      }
    }
    return !suspicious.get();
  }
}
