package dev.warpwright.ir.visit;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Stmt;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * What single statements of a tile program touch by themselves, without what is inside them.
 *
 * @param reads buffers of which it reads
 * @param writes buffers of which it writes; counters count as written by whoever signals them
 */
public record Leaves(Set<Buffer> reads, Set<Buffer> writes) {
  /**
   * {@return what a statement reads and writes by itself, not in the statements inside}
   *
   * @param s any statement
   */
  public static Leaves of(Stmt s) {
    Set<Buffer> reads = new LinkedHashSet<>();
    Set<Buffer> writes = new LinkedHashSet<>();
    switch (s) {
      case Stmt.Store store -> {
        writes.add(store.buffer());
        loads(store, reads);
      }
      case Stmt.TileCopy c -> {
        writes.add(c.to().buffer());
        reads.add(c.from().buffer());
        loads(c, reads);
      }
      case Stmt.TileFill f -> {
        writes.add(f.to().buffer());
        loads(f, reads);
      }
      case Stmt.TileMma m -> {
        writes.add(m.c().buffer());
        reads.addAll(List.of(m.c().buffer(), m.a().buffer(), m.b().buffer()));
        loads(m, reads);
      }
      case Stmt.TileMap m -> {
        m.stores().forEach(store -> writes.add(store.buffer()));
        loads(m, reads);
      }
      case Stmt.TileReduce r -> {
        writes.add(r.to());
        reads.add(r.to());
        loads(r, reads);
      }
      case Stmt.Evaluate e -> {
        loads(e, reads);
        Walk.expressions(
            e,
            x -> {
              if (x instanceof Expr.AddressOf address) {
                reads.add(address.buffer());
                writes.add(address.buffer());
              }
            });
      }
      case Stmt.For f -> {
        loads(f.min(), reads);
        loads(f.extent(), reads);
      }
      case Stmt.While w -> loads(w.condition(), reads);
      case Stmt.If i -> loads(i.condition(), reads);
      case Stmt.Let l -> loads(l.value(), reads);
      case Stmt.Block b -> {
        b.iterVars().forEach(iv -> loads(iv.binding(), reads));
        Expr predicate = b.predicate();
        if (predicate != null) {
          loads(predicate, reads);
        }
      }
      case Stmt.Flow.Skip skip -> loads(skip.count(), reads);
      case Stmt.Flow.Signal signal -> {
        writes.add(signal.counter());
        loads(signal.by(), reads);
      }
      case Stmt.Flow.Await await -> {
        reads.add(await.counter());
        loads(await.atLeast(), reads);
      }
      case Stmt.Flow.Combine c -> {
        reads.add(c.sums());
        writes.add(c.sums());
        List.of(c.slot(), c.part(), c.parts()).forEach(e -> loads(e, reads));
      }
      case Stmt.Seq _, Stmt.Alloc _, Stmt.Comment _ -> {}
      case Stmt.Flow.PipeScope _, Stmt.Flow.Produce _, Stmt.Flow.Consume _ -> {}
      case Stmt.Flow.Roles _, Stmt.Flow.AwaitPrevious _, Stmt.Flow.SignalNext _ -> {}
    }
    return new Leaves(reads, writes);
  }

  private static void loads(Stmt s, Set<Buffer> reads) {
    Walk.expressions(s, e -> load(e, reads));
  }

  private static void loads(Expr e, Set<Buffer> reads) {
    Walk.expressions(e, inner -> load(inner, reads));
  }

  private static void load(Expr e, Set<Buffer> reads) {
    if (e instanceof Expr.Load load) {
      reads.add(load.buffer());
    }
  }
}
