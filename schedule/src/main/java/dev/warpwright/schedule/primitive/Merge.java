package dev.warpwright.schedule.primitive;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.Substitution;
import dev.warpwright.schedule.analysis.Access;
import dev.warpwright.schedule.analysis.Accesses;
import dev.warpwright.schedule.analysis.Tree;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Carries out two loops that have nothing to do with each other as one, where the second one is.
 *
 * <pre>{@code
 * for i in n { y[i] = f(i) }
 * for j in n { z[j] = g(j) }
 * →
 * for j in n { y[j] = f(j); z[j] = g(j) }
 * }</pre>
 *
 * <p>Results of a function that are all read outside of it come to share a loop that way; what they
 * are computed from can follow by {@link ComputeAt}.
 *
 * <p>Requires:
 *
 * <ol>
 *   <li>Both loops exist.
 *   <li>Both are serial, start at 0 and have the same extent.
 *   <li>The first comes before the second, the same loops and conditions are around both, and what
 *       the first one uses is allocated at the second one, too.
 *   <li>Nothing between the loops, nor the second one, touches what the first one writes or writes
 *       what it reads.
 *   <li>Neither is a loop over tiles in an order of their own, see {@link ReorderBlocks}, and the
 *       first has no attributes, which would be lost.
 * </ol>
 */
public final class Merge {
  private static final String NAME = "merge";

  private Merge() {}

  public static PrimFunc apply(PrimFunc func, Var firstVar, Var secondVar) {
    Check check = new Check(NAME, func);
    List<Stmt> firstPath = check.loop(1, firstVar);
    List<Stmt> secondPath = check.loop(1, secondVar);
    Stmt.For first = (Stmt.For) firstPath.getLast();
    Stmt.For second = (Stmt.For) secondPath.getLast();
    for (Stmt.For loop : List.of(first, second)) {
      check.serial(2, loop);
      check.fromZero(2, loop);
    }
    check.require(
        2,
        LoopKind.sameExtent(first, second),
        "loops " + firstVar + " and " + secondVar + " have other extents",
        second);
    requireSameSurroundings(check, firstPath, secondPath);
    requireApart(check, first, second);
    LoopKind.unordered(check, 5, second);
    check.require(
        5, first.attrs().isEmpty(), "the attributes of loop " + firstVar + " would be lost", first);

    Stmt moved = Substitution.ofVars(Map.of(firstVar, secondVar)).stmt(first.body());
    Stmt merged = second.withBody(Stmts.seq(moved, second.body()));
    Stmt body =
        new Rewriter() {
          @Override
          public Stmt stmt(Stmt s) {
            return s == first ? Stmt.Seq.EMPTY : s == second ? merged : super.stmt(s);
          }
        }.stmt(func.body());
    return func.withBody(Tree.tidy(body));
  }

  private static void requireSameSurroundings(
      Check check, List<Stmt> firstPath, List<Stmt> secondPath) {
    Stmt.For first = (Stmt.For) firstPath.getLast();
    Stmt.For second = (Stmt.For) secondPath.getLast();
    check.require(
        3,
        Order.of(check.func()).isBefore(first, second) && !Tree.contains(first, second),
        "loop " + first.var() + " does not come before loop " + second.var(),
        second);
    List<Stmt> around = new ArrayList<>(firstPath.subList(0, firstPath.size() - 1));
    around.removeIf(s -> isOn(secondPath, s));
    List<Stmt> entered = new ArrayList<>(secondPath.subList(0, secondPath.size() - 1));
    entered.removeIf(s -> isOn(firstPath, s));
    around.addAll(entered);
    check.require(
        3,
        around.stream().allMatch(s -> s instanceof Stmt.Seq || s instanceof Stmt.Alloc),
        "other loops or conditions are around loop "
            + first.var()
            + " than around loop "
            + second.var(),
        second);
    Set<Buffer> used = Accesses.read(first);
    used.addAll(Accesses.written(first));
    for (Stmt s : firstPath) {
      check.require(
          3,
          !(s instanceof Stmt.Alloc alloc) || !used.contains(alloc.buffer()) || isOn(secondPath, s),
          "a buffer that loop " + first.var() + " uses is not allocated at the other loop",
          s);
    }
  }

  private static boolean isOn(List<Stmt> path, Stmt s) {
    return path.stream().anyMatch(each -> each == s);
  }

  private static void requireApart(Check check, Stmt.For first, Stmt.For second) {
    Order order = Order.of(check.func());
    Set<Buffer> writes = Accesses.written(first);
    Set<Buffer> reads = Accesses.read(first);
    Set<Stmt> own = leaves(first);
    Set<Stmt> others = leaves(second);
    for (Access access : Accesses.of(check.func().body())) {
      Stmt leaf = access.leaf();
      boolean conflicts =
          writes.contains(access.buffer()) || access.isWrite() && reads.contains(access.buffer());
      // Whether it matters is seen at once, where a leaf stands is not.
      boolean passed =
          conflicts
              && (others.contains(leaf)
                  || !own.contains(leaf)
                      && order.isBefore(first, leaf)
                      && order.isBefore(leaf, second));
      check.require(4, !passed, access.buffer().name() + " is used by both", leaf);
    }
  }

  private static Set<Stmt> leaves(Stmt root) {
    Set<Stmt> leaves = Collections.newSetFromMap(new IdentityHashMap<>());
    Accesses.of(root).forEach(access -> leaves.add(access.leaf()));
    return leaves;
  }
}
