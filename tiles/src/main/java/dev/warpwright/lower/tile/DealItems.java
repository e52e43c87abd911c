package dev.warpwright.lower.tile;

import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Pipe;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.visit.Leaves;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.Walk;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

/**
 * The part of {@link AssignRoles} that deals work items out to the instances of the role that
 * computes, so that each has a stream of its own: instance g takes items g, g + consumers, and so
 * on.
 */
final class DealItems {
  private final int consumers;

  DealItems(int consumers) {
    this.consumers = consumers;
  }

  /** Items whose stages are each one instance's; the others skip them. */
  Stmt inTurn(Stmt math, Var g) {
    return dealt(math, items -> inTurn(items, g));
  }

  /** Items whose stages are the same for all: every instance reads every stage. */
  Stmt inRounds(Stmt math, Var g) {
    return dealt(math, items -> inRounds(items, g));
  }

  /** Whether what items read of pipes that the producer fills does not depend on the item. */
  boolean sameForEachItem(Stmt math, Stmt load) {
    List<Stmt.For> reads = TileFacts.loops(math, ForKind.PERSISTENT);
    List<Stmt.For> fills = TileFacts.loops(load, ForKind.PERSISTENT);
    if (reads.size() != 1) {
      return false;
    }
    if (fills.size() != 1) {
      return fills.isEmpty();
    }
    Set<Var> ofItem = new HashSet<>();
    ofItem.add(fills.getFirst().var());
    return !TileFacts.mentions(fills.getFirst().body(), ofItem);
  }

  /** The producer's items as rounds of the consumers'. */
  Stmt perRound(Stmt load) {
    return new Rewriter() {
      @Override
      public Stmt stmt(Stmt s) {
        return s instanceof Stmt.For f && f.kind() == ForKind.PERSISTENT
            ? new Stmt.For(
                f.var(), Exprs.i32(0), rounds(f), f.kind(), f.axis(), f.attrs(), f.body())
            : super.stmt(s);
      }
    }.stmt(load);
  }

  private Expr rounds(Stmt.For items) {
    return Exprs.div(Exprs.add(items.extent(), consumers - 1), consumers);
  }

  /** How many items an instance has. */
  private Expr share(Stmt.For items, Var g) {
    return Exprs.div(Exprs.sub(Exprs.add(items.extent(), consumers - 1), g), consumers);
  }

  private Stmt.For own(Stmt.For items, Var g, Stmt body) {
    Var turn = Var.index("turn");
    Expr number = Exprs.add(items.min(), Exprs.add(Exprs.mul(turn, consumers), g));
    return new Stmt.For(
        turn,
        Exprs.i32(0),
        share(items, g),
        ForKind.PERSISTENT,
        null,
        items.attrs(),
        new Stmt.Let(items.var(), number, body));
  }

  /** Deals the items of the persistent loop out to the instances. */
  private Stmt dealt(Stmt math, Function<Stmt.For, Stmt> deal) {
    List<Stmt.For> loops = TileFacts.loops(math, ForKind.PERSISTENT);
    if (loops.size() != 1) {
      throw new PassRefusal(
          loops.size() + " persistent loops; several consumers take items of exactly one");
    }
    Stmt.For items = loops.getFirst();
    Stmt dealt = deal.apply(items);
    return new Rewriter() {
      @Override
      public Stmt stmt(Stmt s) {
        if (s == items) {
          return dealt;
        }
        if (isLeafOfGlobal(s)) {
          throw new PassRefusal("outside of the items something is written by all consumers");
        }
        return super.stmt(s);
      }
    }.stmt(math);
  }

  /** How many stages of each pipe an item reads. */
  private static Map<Pipe, Expr> counts(Stmt.For items) {
    Map<Pipe, Expr> counts = new LinkedHashMap<>();
    Set<Var> inside = new HashSet<>(TileFacts.bound(items.body()));
    inside.add(items.var());
    Walk.statements(
        items.body(),
        s -> {
          if (s instanceof Stmt.Flow.Consume c && !c.peek() && c.pipe().scope() == Scope.SHARED) {
            counts.computeIfAbsent(c.pipe(), pipe -> count(items.body(), pipe, inside));
          }
        });
    counts.forEach(
        (pipe, count) -> {
          if (TileFacts.mentions(count, inside)) {
            throw new PassRefusal("how many stages of " + pipe.name() + " an item takes, differs");
          }
        });
    return counts;
  }

  /** Each stage is one instance's. */
  private Stmt inTurn(Stmt.For items, Var g) {
    List<Stmt> before = new ArrayList<>();
    List<Stmt> item = new ArrayList<>();
    item.add(items.body());
    counts(items)
        .forEach(
            (pipe, count) -> {
              before.add(new Stmt.Flow.Skip(pipe, Exprs.mul(g, count)));
              item.add(new Stmt.Flow.Skip(pipe, Exprs.mul(count, consumers - 1)));
            });
    before.add(own(items, g, Stmts.seq(item)));
    return Stmts.seq(before);
  }

  /** All instances read all stages, as often as the one with the most items. */
  private Stmt inRounds(Stmt.For items, Var g) {
    Map<Pipe, Expr> counts = counts(items);
    if (counts.size() > 1) {
      throw new PassRefusal(
          counts.size() + " rings of tiles that are the same for each item; one is possible");
    }
    List<Stmt> all = new ArrayList<>();
    all.add(own(items, g, items.body()));
    counts.forEach(
        (pipe, count) -> {
          Stmt nothing = new Stmt.Flow.Consume(pipe, false, Stmt.Seq.EMPTY);
          Stmt rest = Stmt.For.of(ForKind.SERIAL, Var.index("rest"), count, nothing);
          all.add(new Stmt.If(Exprs.lt(share(items, g), rounds(items)), rest, null));
        });
    return Stmts.seq(all);
  }

  private static boolean isLeafOfGlobal(Stmt s) {
    return Leaves.of(s).writes().stream().anyMatch(b -> b.scope() == Scope.GLOBAL);
  }

  /** How many stages of a pipe a statement consumes. */
  private static Expr count(Stmt s, Pipe pipe, Set<Var> inside) {
    Expr sum = Exprs.i32(0);
    for (Stmt child : Stmts.children(s)) {
      sum = Exprs.add(sum, count(child, pipe, inside));
    }
    if (Exprs.isConst(sum, 0)) {
      return s instanceof Stmt.Flow.Consume c && c.pipe() == pipe && !c.peek() ? Exprs.i32(1) : sum;
    }
    return switch (s) {
      case Stmt.For f -> Exprs.mul(sum, f.extent());
      case Stmt.If _ ->
          throw new PassRefusal("how many stages of " + pipe.name() + " an item takes, differs");
      default -> sum;
    };
  }
}
