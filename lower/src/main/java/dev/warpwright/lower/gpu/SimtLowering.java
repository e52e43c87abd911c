package dev.warpwright.lower.gpu;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.ThreadBinding;
import dev.warpwright.ir.Walk;
import dev.warpwright.ir.arith.Simplify;
import dev.warpwright.lower.pass.LowerBlocks;
import java.util.ArrayList;
import java.util.List;

/**
 * Turns a program of plain loops, the outer ones bound to block and thread indices, into a grid
 * kernel: the body of the innermost bound loop is the program of one thread. There are no tiles, no
 * shared memory and no barriers, which makes this the lowering of reference kernels.
 *
 * <p>Guarantees: no block and no bound loop is left; what was allocated around the bound loops in
 * local scope is a thread's own.
 */
public final class SimtLowering {
  private SimtLowering() {}

  /**
   * Lowers.
   *
   * @throws LoweringException if there are tile statements, bound loops beside each other, bound
   *     loops that do not start at 0, or buffers that threads share
   */
  public static Kernel lower(PrimFunc program) {
    List<ThreadBinding> bindings = new ArrayList<>();
    List<Buffer> registers = new ArrayList<>();
    Stmt body = takeBindings(LowerBlocks.apply(program.body()), bindings, registers);
    if (bindings.isEmpty()) {
      throw new LoweringException(program.name() + " has no loop bound to a launch index");
    }
    body = Stmts.alloc(registers, body);
    Walk.statements(body, SimtLowering::check);
    Kernel kernel =
        new Kernel(program.name(), Kernel.Kind.GRID, program.params(), bindings, body, Attrs.NONE);
    return Simplify.kernel(kernel);
  }

  private static Stmt takeBindings(Stmt s, List<ThreadBinding> bindings, List<Buffer> registers) {
    return switch (s) {
      case Stmt.For loop when loop.kind() == ForKind.THREAD_BOUND && loop.axis() != null -> {
        if (!Exprs.isConst(loop.min(), 0)) {
          throw new LoweringException(
              "loop "
                  + loop.var()
                  + " bound to "
                  + loop.axis().text()
                  + " starts at "
                  + loop.min());
        }
        bindings.add(new ThreadBinding(loop.axis(), loop.var(), loop.extent()));
        yield takeBindings(loop.body(), bindings, registers);
      }
      case Stmt.Alloc(Buffer buffer, Stmt inner) -> {
        registers.add(buffer);
        yield takeBindings(inner, bindings, registers);
      }
      case Stmt.Seq(List<Stmt> stmts) when stmts.size() == 1 ->
          takeBindings(stmts.getFirst(), bindings, registers);
      default -> s;
    };
  }

  private static void check(Stmt s) {
    switch (s) {
      case Stmt.For loop when loop.kind() == ForKind.THREAD_BOUND ->
          throw new LoweringException(
              "loop "
                  + loop.var()
                  + " is bound to a launch index, but is not all there is in the"
                  + " loop around it");
      case Stmt.Alloc(Buffer buffer, Stmt inner) when buffer.scope() != Scope.LOCAL ->
          throw new LoweringException(
              "buffer "
                  + buffer.name()
                  + " is "
                  + buffer.scope()
                  + ", threads have local ones only");
      case Stmt.TileCopy _, Stmt.TileFill _, Stmt.TileMma _, Stmt.TileMap _, Stmt.TileReduce _ ->
          throw new LoweringException(
              "a tile statement in a program of single threads: lower it as a tile program");
      case Stmt.For _, Stmt.Alloc _, Stmt.Seq _, Stmt.While _, Stmt.If _, Stmt.Let _ -> {}
      case Stmt.Store _, Stmt.Evaluate _, Stmt.Comment _, Stmt.Block _ -> {}
    }
  }
}
