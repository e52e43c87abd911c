package dev.warpwright.lower.gpu;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.visit.Walk;
import java.util.LinkedHashSet;
import java.util.Set;

/** The buffers that a leaf statement reads and writes. */
record Accesses(Set<Buffer> reads, Set<Buffer> writes) {
  static Accesses of(Stmt leaf) {
    Set<Buffer> reads = new LinkedHashSet<>();
    Set<Buffer> writes = new LinkedHashSet<>();
    Walk.all(
        leaf,
        s -> {
          if (s instanceof Stmt.Store store) {
            writes.add(store.buffer());
          } else if (s instanceof Stmt.TileCopy copy) {
            writes.add(copy.to().buffer());
            reads.add(copy.from().buffer());
          } else if (s instanceof Stmt.TileFill fill) {
            writes.add(fill.to().buffer());
          } else if (s instanceof Stmt.TileMma mma) {
            reads.add(mma.a().buffer());
            reads.add(mma.b().buffer());
            reads.add(mma.c().buffer());
            writes.add(mma.c().buffer());
          } else if (s instanceof Stmt.TileReduce reduce) {
            reads.add(reduce.to());
            writes.add(reduce.to());
          }
        },
        e -> {
          if (e instanceof Expr.Load load) {
            reads.add(load.buffer());
          } else if (e instanceof Expr.AddressOf address) {
            reads.add(address.buffer());
            writes.add(address.buffer());
          }
        });
    return new Accesses(reads, writes);
  }
}
