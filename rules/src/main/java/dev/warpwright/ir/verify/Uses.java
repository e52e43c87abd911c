package dev.warpwright.ir.verify;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Intrinsic;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.visit.Walk;
import java.util.List;
import java.util.Set;

/** Which buffers statements load and store. */
final class Uses {
  private Uses() {}

  static void of(Stmt s, Set<Buffer> loaded, Set<Buffer> stored) {
    Walk.all(
        s,
        stmt -> {
          switch (stmt) {
            case Stmt.Store store -> stored.add(store.buffer());
            case Stmt.TileCopy c -> {
              stored.add(c.to().buffer());
              loaded.add(c.from().buffer());
            }
            case Stmt.TileFill f -> stored.add(f.to().buffer());
            case Stmt.TileMma m -> {
              stored.add(m.c().buffer());
              loaded.add(m.c().buffer());
              loaded.add(m.a().buffer());
              loaded.add(m.b().buffer());
            }
            case Stmt.TileReduce r -> {
              stored.add(r.to());
              loaded.add(r.to());
            }
            case Stmt.Seq x -> {}
            case Stmt.For x -> {}
            case Stmt.While x -> {}
            case Stmt.If x -> {}
            case Stmt.Let x -> {}
            case Stmt.Alloc x -> {}
            case Stmt.Evaluate x -> {}
            case Stmt.Comment x -> {}
            case Stmt.Block x -> {}
            case Stmt.TileMap x -> {}
            case Stmt.Flow.Signal signal -> {
              loaded.add(signal.counter());
              stored.add(signal.counter());
            }
            case Stmt.Flow.Await await -> loaded.add(await.counter());
            case Stmt.Flow x -> {}
          }
        },
        e -> {
          if (e instanceof Expr.Load load) {
            loaded.add(load.buffer());
          }
          intrinsic(e, loaded, stored);
        });
  }

  /**
   * What the intrinsics touch that a statement calls itself, not in the statements inside it, and
   * what the copies touch that they start. A statement that only calls is loads, too.
   */
  static void ofIntrinsics(Stmt s, Set<Buffer> loaded, Set<Buffer> stored) {
    switch (s) {
      case Stmt.For loop -> {
        intrinsics(loop.min(), loaded, stored);
        intrinsics(loop.extent(), loaded, stored);
      }
      case Stmt.While loop -> intrinsics(loop.condition(), loaded, stored);
      case Stmt.If branch -> intrinsics(branch.condition(), loaded, stored);
      case Stmt.Let let -> intrinsics(let.value(), loaded, stored);
      case Stmt.Evaluate call -> of(call, loaded, stored);
      case Stmt.Store store -> Walk.expressions(store, e -> intrinsic(e, loaded, stored));
      // Statements of tile programs, which call none, and what holds others.
      case Stmt.Seq _, Stmt.Alloc _, Stmt.Comment _, Stmt.Block _ -> {}
      case Stmt.TileCopy _, Stmt.TileFill _, Stmt.TileMma _, Stmt.TileMap _ -> {}
      case Stmt.TileReduce _, Stmt.Flow _ -> {}
    }
  }

  private static void intrinsics(Expr root, Set<Buffer> loaded, Set<Buffer> stored) {
    Walk.expressions(root, e -> intrinsic(e, loaded, stored));
  }

  private static void intrinsic(Expr e, Set<Buffer> loaded, Set<Buffer> stored) {
    if (!(e instanceof Expr.Call call && call.op() instanceof Intrinsic intrinsic)) {
      return;
    }
    for (int i = 0; i < Math.min(call.args().size(), intrinsic.operands().size()); i++) {
      if (call.args().get(i) instanceof Expr.AddressOf address) {
        for (Intrinsic.Access access :
            List.of(intrinsic.operands().get(i).access(), intrinsic.laterAccess(i))) {
          switch (access) {
            case READ -> loaded.add(address.buffer());
            case WRITE -> stored.add(address.buffer());
            case READ_WRITE -> {
              loaded.add(address.buffer());
              stored.add(address.buffer());
            }
            case NONE -> {}
          }
        }
      }
    }
  }
}
