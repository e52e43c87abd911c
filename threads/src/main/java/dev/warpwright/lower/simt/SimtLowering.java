package dev.warpwright.lower.simt;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.ThreadBinding;
import dev.warpwright.ir.arith.Simplify;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.lower.grid.FusedGemms;
import dev.warpwright.lower.grid.ItemBarriers;
import dev.warpwright.lower.grid.TicketLoops;
import dev.warpwright.lower.grid.TrustedTables;
import dev.warpwright.lower.pass.LowerBlocks;
import dev.warpwright.lower.pass.LoweringException;
import dev.warpwright.lower.pass.PassListener;
import java.util.ArrayList;
import java.util.List;

/**
 * Turns a program of plain loops into a grid kernel. Loops bound to block indices are around
 * everything; inside, there may be several nests bound to the thread indices, which share memory.
 * The passes, in order:
 *
 * <ol>
 *   <li>{@link FusedGemms} ({@code DistributeWork}): of two grids that are one, a loop over the
 *       tiles of both. First, for all that follows sees one program.
 *   <li>{@link LowerBlocks}: from here on there are loops and conditions only.
 *   <li>{@link PlainIndices}: simplifies indices, the same everywhere.
 *   <li>{@link LastBlocks}: what blocks share lies in memory, and the last one goes on with it.
 *       Before barriers, because it places its own.
 *   <li>{@link PipelineLoops}: starts the copies of later iterations early. While nests are still
 *       apart, because it moves whole nests, and before barriers, because it places its own.
 *   <li>{@link ItemBarriers}: where an item ends that blocks draw.
 *   <li>{@link ThreadBarriers}: between nests that touch the same shared memory. While nests are
 *       still apart: inside one, no thread meets another's data.
 *   <li>{@link ThreadIndices}: bound loops become launch indices, their bodies the program of one
 *       thread, and items are drawn ({@link TicketLoops}).
 *   <li>{@link PrivateLocals}: of local buffers that outlive a nest, each thread keeps its part.
 *       Needs the launch indices, to see that nests agree on who holds what; and stands before
 *       {@link Simplify}, which lets indices differ by what conditions say.
 *   <li>{@link Serpentine}: in which order a thread goes through what it has in registers.
 *   <li>{@link Simplify}: with what conditions say, too.
 *   <li>{@link VectorAccesses}: vectorized loops become vector loads and stores where alignment is
 *       certain, and copies element by element elsewhere. Last, when offsets are final.
 *   <li>{@link TrustedTables}: drops bounds that have served, of two grids that are one.
 * </ol>
 */
public final class SimtLowering {
  private SimtLowering() {}

  /**
   * Makes a kernel of loops over threads. The attributes of the program become the kernel's.
   *
   * @param program with loops bound to blocks and threads
   * @return a grid kernel
   * @throws LoweringException if there are tile statements, no bound loops, bound loops that do not
   *     start at 0, nests over different threads, or statements outside of the nests
   */
  public static Kernel lower(PrimFunc program) {
    return lower(program, PassListener.NONE);
  }

  /**
   * Makes a kernel of loops over threads, with someone who is told the result of each pass.
   *
   * @param program with loops bound to blocks and threads
   * @param listener is told the result of each pass
   * @return a grid kernel
   * @throws LoweringException as {@link #lower(PrimFunc)}
   */
  public static Kernel lower(PrimFunc program, PassListener listener) {
    Walk.statements(program.body(), SimtLowering::refuseTiles);
    PrimFunc items = listener.tell("DistributeWork", FusedGemms.ofBlocks(program));
    PrimFunc blocks = listener.tell("LowerBlocks", LowerBlocks.apply(items));
    PrimFunc plain = listener.tell("PlainIndices", PlainIndices.apply(blocks));
    PrimFunc loops = listener.tell("LastBlocks", LastBlocks.apply(plain));
    PrimFunc pipelined = loops.withBody(PipelineLoops.apply(loops.body()));
    listener.tell("PipelineLoops", pipelined);
    PrimFunc meeting = pipelined.withBody(ItemBarriers.apply(pipelined.body()));
    listener.tell("ItemBarriers", meeting);
    PrimFunc apart = meeting.withBody(new ThreadBarriers().in(meeting.body()));
    listener.tell("ThreadBarriers", apart);
    ThreadIndices indices = ThreadIndices.of(program.name(), apart.body());
    Kernel kernel =
        new Kernel(
            program.name(),
            Kernel.Kind.GRID,
            loops.params(),
            indices.bindings(),
            drawn(loops, indices),
            loops.attrs());
    kernel = listener.tell("ThreadIndices", kernel);
    kernel = kernel.withBody(hoistShared(PrivateLocals.apply(kernel.body())));
    listener.tell("PrivateLocals", kernel);
    kernel = listener.tell("Serpentine", kernel.withBody(Serpentine.apply(kernel.body())));
    kernel = listener.tell("Simplify", Simplify.kernel(kernel));
    kernel = Simplify.kernel(kernel.withBody(VectorAccesses.apply(kernel.body())));
    return TrustedTables.apply(listener.tell("VectorAccesses", kernel), listener);
  }

  /** Loops over items that blocks draw, by the first thread of each. */
  private static Stmt drawn(PrimFunc func, ThreadIndices indices) {
    Expr blocks = Exprs.i32(1);
    Expr first = Exprs.bool(true);
    for (ThreadBinding binding : indices.bindings()) {
      if (binding.axis().isBlock()) {
        blocks = Exprs.mul(blocks, binding.extent());
      } else {
        first = Exprs.and(first, Exprs.eq(binding.var(), Exprs.i32(0)));
      }
    }
    Expr condition = first;
    return TicketLoops.ofBlock(func, blocks, s -> new Stmt.If(condition, s, null))
        .drawn(indices.body());
  }

  /**
   * One after the other around everything: buffers beside each other would share their space. That
   * is right only on the ways of a condition that differ from item to item, for a barrier stands
   * between items.
   */
  private static Stmt hoistShared(Stmt body) {
    List<Buffer> shared = new ArrayList<>();
    Stmt inside =
        new Rewriter() {
          private boolean items;

          @Override
          public Stmt stmt(Stmt s) {
            switch (s) {
              case Stmt.Alloc(Buffer buffer, Stmt inner) when buffer.scope() == Scope.SHARED -> {
                shared.add(buffer);
                return stmt(inner);
              }
              case Stmt.While _ -> {
                items = true;
                Stmt loop = super.stmt(s);
                items = false;
                return loop;
              }
              case Stmt.If(Expr condition, Stmt then, Stmt otherwise)
                  when items && otherwise != null -> {
                return new Stmt.If(condition, hoistShared(then), hoistShared(otherwise));
              }
              default -> {
                return super.stmt(s);
              }
            }
          }
        }.stmt(body);
    return Stmts.alloc(shared, inside);
  }

  private static void refuseTiles(Stmt s) {
    switch (s) {
      case Stmt.TileCopy _, Stmt.TileFill _, Stmt.TileMma _, Stmt.TileMap _, Stmt.TileReduce _ ->
          throw new LoweringException(
              "a tile statement in a program of single threads: lower it as a tile program");
      case Stmt.Alloc(Buffer buffer, Stmt inner)
          when buffer.scope() != Scope.LOCAL
              && buffer.scope() != Scope.SHARED
              && buffer.scope() != Scope.GLOBAL ->
          throw new LoweringException(
              "buffer "
                  + buffer.name()
                  + " is "
                  + buffer.scope()
                  + ", blocks of threads have local and shared ones");
      case Stmt.Flow flow ->
          throw new LoweringException(
              flow.getClass().getSimpleName()
                  + " in a program of single threads: lower it as a tile program");
      case Stmt.Alloc _, Stmt.For _, Stmt.Seq _, Stmt.While _, Stmt.If _, Stmt.Let _ -> {}
      case Stmt.Store _, Stmt.Evaluate _, Stmt.Comment _, Stmt.Block _ -> {}
    }
  }
}
