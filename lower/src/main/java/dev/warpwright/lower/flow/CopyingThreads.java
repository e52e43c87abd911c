package dev.warpwright.lower.flow;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Role;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.visit.Substitution;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.lower.copy.StageCopy;
import dev.warpwright.lower.copy.TransposedCopy;
import dev.warpwright.lower.gpu.OperandRing;
import dev.warpwright.lower.pass.LoweringException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The part of {@code LowerTiles} for a role all threads of which copy: what no tensor map
 * describes, because its rows are no multiples of 16 bytes or are columns in shared memory.
 *
 * <pre>{@code
 * tile.copy As[s, …] <- A[…] [by = "cp.async"]      let copy_row = thread / 8 …
 * cp.async.commit()                              →  unroll r in 8 { cp.async.16(&As[s, …], &A[…], …) }
 * for t in 128 [each = 1] { mbarrier.arrive(…) }    cp.async.commit(); mbarrier.arrive(…)
 * }</pre>
 */
final class CopyingThreads {
  private final Map<Buffer, OperandRing> rings;
  private final Var thread;
  private final int threads;

  /** Registers that each of them has. */
  private final int own;

  private final List<Buffer> registers = new ArrayList<>();

  CopyingThreads(Map<Buffer, OperandRing> rings, Var thread, int threads, int own) {
    this.rings = rings;
    this.thread = thread;
    this.threads = threads;
    this.own = own;
  }

  /** Whether all threads of a role copy, and none multiplies. */
  static boolean are(Role role) {
    boolean[] found = {false, true};
    Walk.statements(
        role.body(),
        s -> {
          found[0] |= s instanceof Stmt.TileCopy c && ChooseMovement.isByThreads(c.attrs());
          found[1] &= !(s instanceof Stmt.TileMma || s instanceof Stmt.TileMap);
        });
    return found[0] && found[1];
  }

  /** Whether tiles pass through the registers of a role's threads, which transpose them. */
  static boolean transpose(Role role) {
    boolean[] found = {false};
    Walk.statements(role.body(), s -> found[0] |= isTransposed(s));
    return found[0];
  }

  private static boolean isTransposed(Stmt s) {
    return s instanceof Stmt.TileCopy copy
        && TransposedCopy.TRANSPOSED.equals(copy.attrs().getString(ChooseMovement.BY));
  }

  /** The code of a thread. */
  Stmt lowered(Stmt body) {
    Stmt code = stmt(body);
    return Stmts.alloc(registers, code);
  }

  private Stmt stmt(Stmt s) {
    return switch (s) {
      case Stmt.Seq(List<Stmt> stmts) -> sequence(stmts);
      case Stmt.Let l -> new Stmt.Let(l.var(), l.value(), stmt(l.body()));
      case Stmt.If i ->
          new Stmt.If(
              i.condition(), stmt(i.then()), i.otherwise() == null ? null : stmt(i.otherwise()));
      case Stmt.For f -> loop(f);
      case Stmt.TileCopy copy -> copy(copy);
      case Stmt.Evaluate _, Stmt.Comment _ -> s;
      default ->
          throw new LoweringException(
              s.getClass().getSimpleName() + " stands in a role whose threads copy");
    };
  }

  /** One thread does this, and the others that. */
  private Stmt sequence(List<Stmt> stmts) {
    List<Stmt> result = new ArrayList<>();
    for (int i = 0; i < stmts.size(); i++) {
      if (i + 1 < stmts.size() && isTransposed(stmts.get(i)) && isTransposed(stmts.get(i + 1))) {
        result.add(both((Stmt.TileCopy) stmts.get(i), (Stmt.TileCopy) stmts.get(i + 1)));
        i++;
        continue;
      }
      Stmt.If one = stmts.get(i) instanceof Stmt.For f && isElected(f) ? elected(f) : null;
      Stmt.For others =
          one != null && i + 1 < stmts.size() && stmts.get(i + 1) instanceof Stmt.For f ? f : null;
      if (one != null && others != null && isOfOthers(others)) {
        result.add(new Stmt.If(one.condition(), one.then(), once(others)));
        i++;
      } else {
        result.add(stmt(stmts.get(i)));
      }
    }
    return Stmts.seq(result);
  }

  private static boolean isElected(Stmt.For f) {
    return f.attrs().has(LowerPipes.ELECT);
  }

  private boolean isOfOthers(Stmt.For f) {
    return f.attrs().has(LowerPipes.EACH) && Exprs.isConst(f.extent(), threads - 1L);
  }

  private Stmt.If elected(Stmt.For f) {
    return new Stmt.If(Exprs.eq(thread, Exprs.i32(0)), once(f), null);
  }

  private Stmt once(Stmt.For f) {
    return Substitution.ofVars(Map.of(f.var(), f.min())).stmt(f.body());
  }

  private Stmt loop(Stmt.For f) {
    Attrs attrs = f.attrs();
    if (isElected(f)) {
      return elected(f);
    }
    if (attrs.has(LowerPipes.EACH)) {
      if (!Exprs.isConst(f.extent(), threads)) {
        throw new LoweringException("some of the threads that copy do what the others do not");
      }
      return once(f);
    }
    ForKind kind = f.kind() == ForKind.PERSISTENT ? ForKind.SERIAL : f.kind();
    return new Stmt.For(f.var(), f.min(), f.extent(), kind, null, attrs, stmt(f.body()));
  }

  /** Two tiles, with what is loaded of both under way at once if there are registers for it. */
  private Stmt both(Stmt.TileCopy first, Stmt.TileCopy second) {
    TransposedCopy a = transposed(first);
    TransposedCopy b = transposed(second);
    if (!a.fitsBeside(b, own)) {
      return Stmts.seq(copy(first), copy(second));
    }
    Buffer loadedA = loaded(a.whole());
    Buffer loadedB = loaded(b.whole());
    return Stmts.seq(
        a.whole().load(loadedA, thread),
        b.whole().load(loadedB, thread),
        a.whole().store(loadedA, thread, stage(first)),
        b.whole().store(loadedB, thread, stage(second)));
  }

  private TransposedCopy transposed(Stmt.TileCopy copy) {
    return TransposedCopy.of(copy.from(), ring(copy), threads, own);
  }

  private Buffer loaded(TransposedCopy copy) {
    Buffer loaded = copy.registers();
    registers.add(loaded);
    return loaded;
  }

  private static Expr stage(Stmt.TileCopy copy) {
    return copy.to().ranges().getFirst().min();
  }

  private OperandRing ring(Stmt.TileCopy copy) {
    OperandRing ring = rings.get(copy.to().buffer());
    if (ring == null) {
      throw new LoweringException(copy.to().buffer().name() + " is no ring of tiles");
    }
    return ring;
  }

  private Stmt copy(Stmt.TileCopy copy) {
    OperandRing ring = ring(copy);
    Expr stage = stage(copy);
    if (ring.transposed()) {
      TransposedCopy transposed = transposed(copy);
      return transposed.move(loaded(transposed), thread, stage);
    }
    Stmt.TileCopy ofTile = new Stmt.TileCopy(Region.whole(ring.tile()), copy.from(), copy.attrs());
    StageCopy all = StageCopy.of(ofTile, ring, threads, true).inGroups(own);
    Buffer held = all.registers();
    if (held != null) {
      registers.add(held);
    }
    return all.move(copy.from(), thread, stage);
  }
}
