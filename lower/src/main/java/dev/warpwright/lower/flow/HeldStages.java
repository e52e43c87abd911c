package dev.warpwright.lower.flow;

import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Pipe;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.lower.gpu.TileSums;
import dev.warpwright.lower.gpu.WarpgroupInstruction;
import dev.warpwright.lower.tile.HalveGathers;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Where a role's products may be under way beyond the step that reads their stage, so that the
 * stage is given back a step late.
 *
 * @param pipes that have stages in shared memory
 * @param trailing pipes of which a stage's product is under way while the next stage's begins, at
 *     sites that are not all of a loop: there a stage is given back at the next site, wherever that
 *     is. The last stage of all is nobody's any more, and stays
 * @param first of such a pipe where each item begins, if there is a site that every item comes by
 *     once, before all others
 * @param numbers of such a pipe's sites, if they are known, over all items: where whole turns of
 *     the ring are nothing, each item's first site would be the first of all, and keep what the
 *     item before it held
 */
record HeldStages(
    Set<Pipe> pipes,
    Set<Pipe> trailing,
    Map<Pipe, Stmt.Flow.Consume> first,
    Map<Pipe, StageNumbers> numbers) {
  /**
   * Those of a role.
   *
   * @param counted of loops, how many stages there were before them
   */
  static HeldStages of(Stmt role, Map<Pipe, LoweredPipe> pipes, Map<Stmt, Expr> counted) {
    HeldStages loopsOnly = new HeldStages(pipes.keySet(), Set.of(), Map.of(), Map.of());
    Set<Pipe> inLoops = new HashSet<>();
    Map<Pipe, Stmt.Flow.Consume> first = new IdentityHashMap<>();
    new FirstSites(first).visit(role, true);
    Set<Pipe> trailing = new HashSet<>();
    new Rewriter() {
      @Override
      public Stmt stmt(Stmt s) {
        Stmt.Flow.Consume all = s instanceof Stmt.For f ? loopsOnly.overlapping(f) : null;
        if (all != null) {
          inLoops.add(all.pipe());
          return s;
        }
        if (s instanceof Stmt.Flow.Consume consume
            && isHeld(consume)
            && StageNumbers.flat(consume.body()).size() == 1
            && isUnderWay(consume.body())) {
          trailing.add(consume.pipe());
        }
        return super.stmt(s);
      }
    }.stmt(role);
    trailing.removeAll(inLoops);
    trailing.retainAll(pipes.keySet());
    Map<Pipe, StageNumbers> numbers = new IdentityHashMap<>();
    for (Pipe pipe : trailing) {
      StageNumbers all = StageNumbers.ofAll(role, pipe, counted);
      if (all.known()) {
        numbers.put(pipe, all);
      }
    }
    trailing.removeIf(pipe -> !numbers.containsKey(pipe) && !first.containsKey(pipe));
    return new HeldStages(pipes.keySet(), trailing, first, numbers);
  }

  /** The first site of each pipe, if an item cannot pass it by. */
  private record FirstSites(Map<Pipe, Stmt.Flow.Consume> first, Set<Pipe> seen) {
    FirstSites(Map<Pipe, Stmt.Flow.Consume> first) {
      this(first, new HashSet<>());
    }

    void visit(Stmt s, boolean always) {
      boolean inside =
          switch (s) {
            case Stmt.For f ->
                always && (f.kind() == ForKind.PERSISTENT || Exprs.isConst(f.extent(), 1));
            case Stmt.If _, Stmt.While _ -> false;
            default -> always;
          };
      if (s instanceof Stmt.Flow.Consume consume
          && !consume.peek()
          && seen.add(consume.pipe())
          && always) {
        first.put(consume.pipe(), consume);
      }
      Stmts.children(s).forEach(child -> visit(child, inside));
    }
  }

  /**
   * Whether a stage was read before a site, where that can be said.
   *
   * @param laterItem whether the item is not the first
   */
  Expr isLater(Stmt.Flow.Consume site, Expr laterItem) {
    StageNumbers all = numbers.get(site.pipe());
    if (all != null) {
      return Exprs.lt(Exprs.i32(0), all.at(site));
    }
    return first.get(site.pipe()) == site ? laterItem : Exprs.bool(true);
  }

  boolean isTrailing(Pipe pipe) {
    return trailing.contains(pipe);
  }

  private static boolean isHeld(Stmt.Flow.Consume consume) {
    return !consume.peek() && consume.pipe().options().hold() == 1;
  }

  /**
   * The consume that is all of a loop, if its products may be under way in the next step: they are
   * the only ones that read the stage.
   */
  Stmt.Flow.@Nullable Consume overlapping(Stmt.For f) {
    List<Stmt> stmts = StageNumbers.flat(f.body());
    return stmts.size() == 1
            && stmts.getFirst() instanceof Stmt.Flow.Consume consume
            && isHeld(consume)
            && !trailing.contains(consume.pipe())
            && !Exprs.isConst(f.extent(), 1)
            && (isUnderWay(consume.body()) || isGathered(consume.body()))
            && pipes.contains(consume.pipe())
        ? consume
        : null;
  }

  /**
   * Whether two products gather their first operands from a stage, and the second may end later.
   */
  static boolean isGathered(Stmt body) {
    List<Stmt> inside = StageNumbers.flat(body);
    return HalveGathers.areHalves(inside) && isUnderWay(inside.getLast());
  }

  /** Whether nothing is done with a stage but products that may end later, and sums of rows. */
  static boolean isUnderWay(Stmt body) {
    List<Stmt> inside = StageNumbers.flat(body);
    // Stages that only go by are given back at once.
    return !inside.isEmpty()
        && inside.stream()
            .allMatch(
                s ->
                    TileSums.are(s)
                        || s instanceof Stmt.TileMma mma
                            && WarpgroupInstruction.isNamedBy(mma)
                            && mma.attrs().getLong("inflight", 0) == 1);
  }

  /** How long products and copies are under way is said by waits from here on. */
  static Stmt withoutDelay(Stmt s) {
    return new Rewriter() {
      @Override
      public Stmt stmt(Stmt inner) {
        return switch (inner) {
          case Stmt.TileMma m ->
              new Stmt.TileMma(
                  m.c(),
                  m.a(),
                  m.b(),
                  m.transposeA(),
                  m.transposeB(),
                  m.attrs().without("inflight"));
          case Stmt.TileCopy c ->
              new Stmt.TileCopy(c.to(), c.from(), c.attrs().without("inflight"));
          default -> super.stmt(inner);
        };
      }
    }.stmt(s);
  }
}
