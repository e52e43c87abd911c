package dev.warpwright.lower.simt;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.arith.Simplify;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.lower.grid.MergedGrids;
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
 *   <li>{@link LowerBlocks}: from here on there are loops and conditions only.
 *   <li>{@link PlainIndices}: simplifies indices, the same everywhere.
 *   <li>{@link LastBlocks}: what blocks share lies in memory, and the last one goes on with it.
 *       Before barriers, because it places its own.
 *   <li>{@link PipelineLoops}: starts the copies of later iterations early. While nests are still
 *       apart, because it moves whole nests, and before barriers, because it places its own.
 *   <li>{@link ThreadBarriers}: between nests that touch the same shared memory. While nests are
 *       still apart: inside one, no thread meets another's data.
 *   <li>{@link ThreadIndices}: bound loops become launch indices, their bodies the program of one
 *       thread.
 *   <li>{@link PrivateLocals}: of local buffers that outlive a nest, each thread keeps its part.
 *       Needs the launch indices, to see that nests agree on who holds what; and stands before
 *       {@link Simplify}, which lets indices differ by what conditions say.
 *   <li>{@link Serpentine}: in which order a thread goes through what it has in registers.
 *   <li>{@link VectorAccesses}: vectorized loops become vector loads and stores where alignment is
 *       certain, and copies element by element elsewhere. Last, when offsets are final.
 * </ol>
 *
 * <p>Of two grids that are one, each is lowered by itself ({@link MergedGrids}).
 */
public final class SimtLowering {
  private SimtLowering() {}

  /**
   * Lowers. The attributes of the program become the kernel's.
   *
   * @throws LoweringException if there are tile statements, no bound loops, bound loops that do not
   *     start at 0, nests over different threads, or statements outside of the nests
   */
  public static Kernel lower(PrimFunc program) {
    return lower(program, PassListener.NONE);
  }

  /**
   * The same, with someone who is told the result of each pass.
   *
   * @throws LoweringException as {@link #lower(PrimFunc)}
   */
  public static Kernel lower(PrimFunc program, PassListener listener) {
    if (MergedGrids.isMerged(program)) {
      return MergedGrids.lower(program, listener, SimtLowering::lower);
    }
    Walk.statements(program.body(), SimtLowering::refuseTiles);
    PrimFunc blocks = listener.tell("LowerBlocks", LowerBlocks.apply(program));
    PrimFunc plain = listener.tell("PlainIndices", PlainIndices.apply(blocks));
    PrimFunc loops = listener.tell("LastBlocks", LastBlocks.apply(plain));
    PrimFunc pipelined = loops.withBody(PipelineLoops.apply(loops.body()));
    listener.tell("PipelineLoops", pipelined);
    PrimFunc apart = pipelined.withBody(new ThreadBarriers().in(pipelined.body()));
    listener.tell("ThreadBarriers", apart);
    ThreadIndices indices = ThreadIndices.of(program.name(), apart.body());
    Kernel kernel =
        new Kernel(
            program.name(),
            Kernel.Kind.GRID,
            loops.params(),
            indices.bindings(),
            indices.body(),
            loops.attrs());
    kernel = listener.tell("ThreadIndices", kernel);
    kernel = hoistShared(kernel.withBody(PrivateLocals.apply(kernel.body())));
    kernel = kernel.withBody(Serpentine.apply(kernel.body()));
    kernel = Simplify.kernel(listener.tell("PrivateLocals", kernel));
    kernel = Simplify.kernel(kernel.withBody(VectorAccesses.apply(kernel.body())));
    return listener.tell("VectorAccesses", kernel);
  }

  /** One after the other around everything: buffers beside each other would share their space. */
  private static Kernel hoistShared(Kernel kernel) {
    List<Buffer> shared = new ArrayList<>();
    Stmt body =
        new Rewriter() {
          @Override
          public Stmt stmt(Stmt s) {
            if (s instanceof Stmt.Alloc(Buffer buffer, Stmt inner)
                && buffer.scope() == Scope.SHARED) {
              shared.add(buffer);
              return stmt(inner);
            }
            return super.stmt(s);
          }
        }.stmt(kernel.body());
    return kernel.withBody(Stmts.alloc(shared, body));
  }

  private static void refuseTiles(Stmt s) {
    switch (s) {
      case Stmt.TileCopy _,
          Stmt.TileFill _,
          Stmt.TileMma _,
          Stmt.TileMap _,
          Stmt.TileReduce _,
          Stmt.Flow _ ->
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
      case Stmt.Alloc _, Stmt.For _, Stmt.Seq _, Stmt.While _, Stmt.If _, Stmt.Let _ -> {}
      case Stmt.Store _, Stmt.Evaluate _, Stmt.Comment _, Stmt.Block _ -> {}
    }
  }
}
