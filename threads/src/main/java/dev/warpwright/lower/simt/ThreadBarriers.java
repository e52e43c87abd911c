package dev.warpwright.lower.simt;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.lower.pass.Barriers;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Barriers between nests of threads that meet in memory. Threads of one nest do not meet each
 * other's data.
 *
 * <p>A loop that {@link PipelineLoops} made has its barriers already, and needs none before it.
 */
final class ThreadBarriers extends Barriers {
  /** On a loop: its barriers are in place. */
  static final String PLACED = "barriers";

  @Override
  protected @Nullable Stmt placed(Stmt unit) {
    return isPlaced(unit) ? ((Stmt.For) unit).withAttrs(PipelineLoops.kept((Stmt.For) unit)) : null;
  }

  private static boolean isPlaced(Stmt s) {
    return s instanceof Stmt.For loop && loop.attrs().has(PLACED);
  }

  @Override
  protected @Nullable Touched unit(Stmt s) {
    return switch (s) {
      case Stmt.Seq _, Stmt.Alloc _, Stmt.Let _, Stmt.If _ -> null;
      case Stmt.For loop when !isPlaced(loop) && !isNest(loop) -> null;
      default -> touched(s);
    };
  }

  private static boolean isNest(Stmt.For loop) {
    return loop.axis() != null && !loop.axis().isBlock();
  }

  private static Touched touched(Stmt nest) {
    Touched touched = Touched.nothing();
    Walk.all(
        nest,
        s -> {
          if (s instanceof Stmt.Store store) {
            add(store.buffer(), touched.writes());
          }
        },
        e -> {
          if (e instanceof Expr.Load load) {
            add(load.buffer(), touched.reads());
          } else if (e instanceof Expr.AddressOf address) {
            add(address.buffer(), touched.reads());
            if (address.buffer().scope() == Scope.SHARED) {
              add(address.buffer(), touched.writes());
            }
          }
        });
    return touched;
  }

  private static void add(Buffer buffer, Set<Buffer> set) {
    if (buffer.scope() != Scope.LOCAL) {
      set.add(buffer);
    }
  }
}
