package dev.warpwright.sim.lane;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.visit.Walk;
import java.util.ArrayList;
import java.util.List;

/** One step of straight code: scopes are of no matter, for names are not used again. */
sealed interface LaneItem {
  /** A variable gets its value. */
  record Assign(Stmt.Let let) implements LaneItem {}

  /** Each lane gets a new buffer. */
  record Fresh(Stmt.Alloc alloc) implements LaneItem {}

  /** Any other statement. */
  record Whole(Stmt statement) implements LaneItem {}

  /** What a statement consists of. */
  static List<LaneItem> of(Stmt s) {
    List<LaneItem> items = new ArrayList<>();
    flatten(s, items);
    return items;
  }

  private static void flatten(Stmt s, List<LaneItem> items) {
    switch (s) {
      case Stmt.Seq seq -> seq.stmts().forEach(part -> flatten(part, items));
      case Stmt.Let let -> {
        items.add(new Assign(let));
        flatten(let.body(), items);
      }
      case Stmt.Alloc alloc -> {
        if (alloc.buffer().scope() == Scope.LOCAL) {
          items.add(new Fresh(alloc));
        }
        flatten(alloc.body(), items);
      }
      case Stmt.Comment _ -> {}
      case Stmt.For _,
          Stmt.While _,
          Stmt.If _,
          Stmt.Store _,
          Stmt.Evaluate _,
          Stmt.Block _,
          Stmt.TileCopy _,
          Stmt.TileFill _,
          Stmt.TileMma _,
          Stmt.TileMap _,
          Stmt.TileReduce _,
          Stmt.Flow _ ->
          items.add(new Whole(s));
    }
  }

  default LaneEffects effects() {
    return switch (this) {
      case Assign(Stmt.Let let) -> LaneEffects.of(let.value());
      case Fresh _ -> LaneEffects.of(Stmt.Seq.EMPTY);
      case Whole(Stmt s) -> LaneEffects.of(s);
    };
  }

  /** About how many bytes of bytecode it takes. */
  default int weight() {
    return switch (this) {
      case Assign(Stmt.Let let) -> 10 + weight(let.value());
      case Fresh _ -> 40;
      case Whole(Stmt s) -> weight(s);
    };
  }

  private static int weight(Expr e) {
    int[] sum = {0};
    Walk.expressions(e, part -> sum[0] += own(part));
    return sum[0];
  }

  private static int weight(Stmt s) {
    int[] sum = {0};
    Walk.all(
        s,
        part ->
            sum[0] +=
                switch (part) {
                  case Stmt.Store store -> 60 + access(store.buffer());
                  case Stmt.Seq _, Stmt.Comment _ -> 0;
                  default -> 40;
                },
        part -> sum[0] += own(part));
    return sum[0];
  }

  private static int own(Expr e) {
    return e instanceof Expr.Load load ? access(load.buffer()) : 9;
  }

  private static int access(Buffer b) {
    int modes =
        b.layout() == null ? 0 : b.layout().dimensions().stream().mapToInt(List::size).sum();
    return 40 + 25 * b.rank() + 20 * modes;
  }
}
