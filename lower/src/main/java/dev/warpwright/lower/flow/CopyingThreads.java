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
import dev.warpwright.ir.visit.FreshNames;
import dev.warpwright.ir.visit.Substitution;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.lower.copy.StageCopy;
import dev.warpwright.lower.copy.TransposedCopy;
import dev.warpwright.lower.gpu.OperandRing;
import dev.warpwright.lower.pass.LoweringException;
import dev.warpwright.target.intrinsic.HopperIntrinsics;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

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

  /** What the kernel writes: it may not be there yet. */
  private final Set<Buffer> written;

  private final List<Buffer> registers = new ArrayList<>();

  /** A copy whose tile is loaded steps ahead, and what is loaded when it is stored. */
  private record Ahead(TransposedCopy copy, Buffer registers, Region next) {}

  private final Map<Stmt.TileCopy, Ahead> aheadOf = new IdentityHashMap<>();

  CopyingThreads(
      Map<Buffer, OperandRing> rings, Var thread, int threads, int own, Set<Buffer> written) {
    this.written = written;
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
      case Stmt.Seq(List<Stmt> stmts) -> Stmts.seq(stmts.stream().map(this::stmt).toList());
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

  private static boolean isElected(Stmt.For f) {
    return f.attrs().has(LowerPipes.ELECT);
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
    if (f.kind() == ForKind.SERIAL && copiesItself(f.body()) && ahead(f) instanceof Stmt steps) {
      return steps;
    }
    return f.ofThreads(stmt(f.body()));
  }

  /**
   * Steps whose tiles threads transpose, each loaded while those before it are stored: no register
   * waits for memory while another one could. As many steps ahead as registers hold, here two of an
   * even number; otherwise all but the first of a group are conditional.
   *
   * <pre>{@code
   * next = B[0, …];  next_1 = B[1, …]
   * for g in n / 2 {
   *   wait(empty); for each piece { Bs[s, …] = next[…]; next[…] = B[2 * g + 2, …] }; arrive
   *   wait(empty); for each piece { Bs[s, …] = next_1[…]; next_1[…] = B[2 * g + 3, …] }; arrive
   * }
   * }</pre>
   *
   * @return null if registers do not hold a step, or what is loaded is not there steps ahead
   */
  private @Nullable Stmt ahead(Stmt.For f) {
    List<Stmt.TileCopy> copies = new ArrayList<>();
    Set<Var> inside = new HashSet<>();
    boolean[] waits = {false};
    Walk.statements(
        f.body(),
        s -> {
          switch (s) {
            case Stmt.TileCopy copy when isTransposed(copy) -> copies.add(copy);
            case Stmt.Let l -> inside.add(l.var());
            case Stmt.For inner -> inside.add(inner.var());
            case Stmt.Evaluate e -> waits[0] |= e.call().op() == HopperIntrinsics.AWAIT_PREVIOUS;
            case Stmt.While _ -> waits[0] = true;
            default -> {}
          }
        });
    long loaded = 0;
    for (Stmt.TileCopy copy : copies) {
      loaded += transposed(copy).wholeRegisters();
      boolean known =
          copy.from().ranges().stream().noneMatch(r -> StageNumbers.mentions(r.min(), inside));
      waits[0] |= !known || written.contains(copy.from().buffer());
    }
    if (copies.isEmpty() || waits[0] || !TransposedCopy.fit(loaded, own)) {
      return null;
    }
    int ahead = TransposedCopy.ahead(loaded, own);
    if (f.extent() instanceof Expr.IntImm n) {
      ahead = Math.toIntExact(Math.clamp(n.value(), 1, ahead));
    }
    List<Stmt> begin = new ArrayList<>();
    List<Stmt> steps = new ArrayList<>();
    Var group = Var.index(f.var().name() + "_o");
    Expr last = Exprs.add(Exprs.add(f.min(), f.extent()), Exprs.i32(-1));
    for (int u = 0; u < ahead; u++) {
      // Names of their own: a kernel that is read from its text is the same again.
      String nth = u == 0 ? "" : "_" + u;
      Var next = Var.index("next" + nth);
      for (Stmt.TileCopy copy : copies) {
        TransposedCopy whole = transposed(copy).whole();
        Buffer held = whole.registers();
        Buffer registers = held.withName(held.name() + nth);
        this.registers.add(registers);
        aheadOf.put(copy, new Ahead(whole, registers, at(copy, f.var(), next).from()));
        Expr first = u == 0 ? f.min() : Exprs.min(Exprs.add(f.min(), Exprs.i32(u)), last);
        Region from = at(copy, f.var(), first).from();
        begin.add(
            new TransposedCopy(from, whole.ring(), threads, whole.columns(), whole.together())
                .load(registers, thread));
      }
      Var step = Var.index(f.var().name() + nth);
      Expr following = Exprs.min(Exprs.add(step, ahead), last);
      Stmt body =
          Substitution.ofVars(Map.of(f.var(), step))
              .stmt(new Stmt.Let(next, following, FreshNames.of(stmt(f.body()))));
      boolean all = f.extent() instanceof Expr.IntImm n && n.value() % ahead == 0;
      steps.add(
          new Stmt.Let(
              step,
              Exprs.add(f.min(), Exprs.add(Exprs.mul(group, ahead), Exprs.i32(u))),
              u == 0 || all
                  ? body
                  : new Stmt.If(Exprs.lt(step, Exprs.add(f.min(), f.extent())), body, null)));
    }
    Stmt loads = Stmts.seq(begin);
    return Stmts.seq(
        f.extent() instanceof Expr.IntImm n && n.value() > 0
            ? loads
            : new Stmt.If(Exprs.lt(Exprs.i32(0), f.extent()), loads, null),
        new Stmt.For(
            group,
            Exprs.i32(0),
            Exprs.div(Exprs.add(f.extent(), Exprs.i32(ahead - 1)), ahead),
            f.kind(),
            f.axis(),
            f.attrs(),
            Stmts.seq(steps)));
  }

  private static Stmt.TileCopy at(Stmt.TileCopy copy, Var step, Expr value) {
    return (Stmt.TileCopy) Substitution.ofVars(Map.of(step, value)).stmt(copy);
  }

  /** Whether copies are a loop's own, not those of a loop inside. */
  private static boolean copiesItself(Stmt s) {
    return switch (s) {
      case Stmt.Seq(List<Stmt> stmts) -> stmts.stream().anyMatch(CopyingThreads::copiesItself);
      case Stmt.Let l -> copiesItself(l.body());
      default -> isTransposed(s);
    };
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
    if (aheadOf.get(copy) instanceof Ahead ahead) {
      return ahead.copy().storeAndLoad(ahead.registers(), thread, stage, ahead.next());
    }
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
