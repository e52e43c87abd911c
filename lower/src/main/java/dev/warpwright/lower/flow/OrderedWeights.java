package dev.warpwright.lower.flow;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Pipe;
import dev.warpwright.ir.Range;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.visit.FlowSites;
import dev.warpwright.ir.visit.Leaves;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.lower.gpu.CopyLowering;
import dev.warpwright.lower.gpu.FragmentOrder;
import dev.warpwright.lower.gpu.Guards;
import dev.warpwright.lower.gpu.MMajor;
import dev.warpwright.lower.pass.LoweringException;
import dev.warpwright.target.intrinsic.Intrinsics;
import java.util.List;

/**
 * Weights that stay in shared memory in the order of the registers of warps' products: what {@link
 * ChooseMovement} and {@link LowerPipes} do with them. All threads of the block copy them, by 16
 * bytes each where the caller has packed them, and meet once.
 *
 * <pre>{@code
 * pipe kept[1] shared (Ws: f16[1, 64, 64])       alloc Ws: f16[1, 64, 64] shared layout …
 * produce kept { tile.copy Ws[0] <- W }          tile.copy Ws[0] <- W [by = "cp.async"]
 * roles {                                        cp.async.commit(); cp.async.wait(0); sync_threads()
 *   role math[12] as g warps 1 {             →   roles {
 *     consume kept peek {                          role math[12] as g warps 1 {
 *       tile.mma acc += a * Ws[0]^T                  tile.mma acc += a * Ws[0]^T
 * } } }                                          } }
 * }</pre>
 */
final class OrderedWeights {
  private OrderedWeights() {}

  /** Whether all that reads the tiles of a pipe are such products. */
  static boolean are(Pipe pipe, Stmt body) {
    boolean[] only = {!pipe.buffers().isEmpty(), false};
    pipe.buffers().forEach(tile -> only[0] &= FragmentOrder.fits(tile));
    Walk.statements(
        body,
        s -> {
          for (Buffer tile : pipe.buffers()) {
            if (Leaves.of(s).reads().contains(tile)) {
              only[1] = true;
              only[0] &=
                  s instanceof Stmt.TileMma mma
                      && FragmentOrder.isFor(mma)
                      && mma.b().buffer() == tile;
            }
          }
        });
    return only[0] && only[1];
  }

  /**
   * Whether all that reads the tiles of a pipe are warps' GEMMs by fma, for which weights lie as
   * they are.
   */
  static boolean arePlain(Pipe pipe, Stmt body) {
    boolean[] only = {!pipe.buffers().isEmpty(), false};
    Walk.statements(
        body,
        s -> {
          for (Buffer tile : pipe.buffers()) {
            if (Leaves.of(s).reads().contains(tile)) {
              only[1] = true;
              only[0] &=
                  s instanceof Stmt.TileMma mma && MMajor.isFor(mma) && mma.b().buffer() == tile;
            }
          }
        });
    return only[0] && only[1];
  }

  /** Whether the tiles of a pipe lie in this order. */
  static boolean are(Pipe pipe) {
    return !pipe.buffers().isEmpty() && pipe.buffers().stream().allMatch(FragmentOrder::is);
  }

  /** Who carries a copy into such a tile. */
  static String by(Stmt.TileCopy copy) {
    boolean plain = !FragmentOrder.is(copy.to().buffer());
    return plain && CopyLowering.canBeAsynchronous(copy) || isLinear(copy)
        ? ChooseMovement.ASYNC
        : ChooseMovement.REGISTERS;
  }

  /** Whether both sides of a copy are the same elements in the same order: blocks along K. */
  static boolean isLinear(Stmt.TileCopy copy) {
    Buffer from = copy.from().buffer();
    List<Range> to = copy.to().tile();
    return from.scope() == Scope.GLOBAL
        && FragmentOrder.is(from)
        && from.rank() == 2
        && from.dtype() == copy.to().buffer().dtype()
        && to.size() == 2
        && Guards.extent(to.get(0)) == from.extent(0)
        && copy.to().buffer().extent(copy.to().buffer().rank() - 2) == from.extent(0)
        && isWholeDepth(copy.to())
        && Exprs.isConst(copy.from().ranges().get(0).min(), 0)
        && CopyLowering.multipleOf(copy.from().ranges().get(1).min(), FragmentOrder.BLOCK);
  }

  private static boolean isWholeDepth(Region region) {
    int last = region.buffer().rank() - 1;
    return Exprs.isConst(region.ranges().get(last).min(), 0)
        && Guards.extent(region.ranges().get(last)) == region.buffer().extent(last)
        && Exprs.isConst(region.ranges().get(last - 1).min(), 0);
  }

  /**
   * Whether a pipe is such a one.
   *
   * @throws LoweringException if it is, but its tiles do not stay
   */
  static boolean stay(Pipe pipe, Stmt body, FlowSites sites) {
    if (!are(pipe) && !arePlain(pipe, body)) {
      return false;
    }
    int produces = 0;
    boolean kept = pipe.stages() == 1;
    for (FlowSites.Site site : sites.of(pipe)) {
      switch (site.kind()) {
        case PRODUCE -> {
          produces++;
          kept &= site.role() == null;
        }
        case PEEK, CONSUME -> {}
        case SKIP -> kept = false;
      }
    }
    if (!kept || produces != 1) {
      throw new LoweringException(
          "pipe " + pipe.name() + ": weights of GEMMs of warps stay, or nobody copies them");
    }
    return true;
  }

  /** All threads have copied, and see what the others did. */
  static List<Stmt> arrived() {
    return List.of(
        Exprs.evaluate(Intrinsics.CP_ASYNC_COMMIT),
        Exprs.evaluate(Intrinsics.CP_ASYNC_WAIT, Exprs.i32(0)),
        Exprs.evaluate(Intrinsics.SYNC_THREADS));
  }
}
