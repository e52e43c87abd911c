package dev.warpwright.networks.rows;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.type.DType;
import dev.warpwright.lower.host.HostLowering;
import dev.warpwright.lower.host.HostProgram;
import dev.warpwright.networks.Scheduled;
import dev.warpwright.schedule.BlockRef;
import dev.warpwright.schedule.BufferRef;
import dev.warpwright.schedule.LoopRef;
import dev.warpwright.schedule.Schedule;
import dev.warpwright.target.HostTarget;
import dev.warpwright.workload.tensor.Ops;
import dev.warpwright.workload.tensor.PrimFuncs;
import dev.warpwright.workload.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** A single product of two matrices that are both new in every call, for the host. */
public final class GemmSchedule {
  /** Columns that are computed side by side on every machine are a divisor of this. */
  private static final long WHOLE_COLUMNS = 32;

  private GemmSchedule() {}

  /** {@code C[m, n] = A[m, k] · B[k, n]} in f32, with the parameters A, B, C. */
  public static PrimFunc function(int m, int n, int k) {
    Tensor a = Tensor.input("A", DType.F32, Exprs.i32(m), Exprs.i32(k));
    Tensor b = Tensor.input("B", DType.F32, Exprs.i32(k), Exprs.i32(n));
    Tensor c = Ops.matmul("C", a, b, false, n, k);
    return PrimFuncs.of("product", List.of(a.buffer(), b.buffer(), c.buffer()), List.of(c));
  }

  /** The kernel for {@link #function}. */
  public static HostProgram lower(PrimFunc function, HostTarget target) {
    return HostLowering.lower(schedule(function, target).tiles(), target, Set.of());
  }

  /**
   * Tiles of rows in parallel. The left operand's rows are copied into scratch memory, where their
   * distance suits the caches; sums go straight into the result where tiles and vectors divide it.
   */
  static Scheduled schedule(PrimFunc function, HostTarget target) {
    Schedule schedule = new Schedule(function);
    BlockRef product = schedule.blocks().getFirst();
    List<BufferRef> scratch = new ArrayList<>();
    long m = function.buffers().getLast().extent(0);
    long rows = HostTiling.productRows(m, target);
    long n = function.buffers().getLast().extent(1);
    BlockRef last = product;
    if (m % rows != 0 || n % WHOLE_COLUMNS != 0) {
      Schedule.Written written = schedule.cacheWrite(product, Scope.SHARED);
      last = written.copy();
      scratch.add(written.buffer());
    }
    LoopRef tiles = schedule.split(schedule.loops(last).getFirst(), rows).outer();
    if (last != product) {
      schedule.computeAt(product, tiles);
    }
    BlockRef left = schedule.cacheRead(schedule.buffer("A"), Scope.SHARED, product);
    schedule.computeAt(left, tiles);
    scratch.add(schedule.buffer(left.name()));
    scratch.forEach(schedule::compact);
    schedule.parallel(tiles);
    for (BlockRef block : List.copyOf(schedule.blocks())) {
      boolean multiplies = block.name().equals(product.name());
      schedule.tensorize(block, multiplies ? Attrs.NONE.with("instr", "fma") : Attrs.NONE);
    }
    return Scheduled.by(schedule);
  }
}
