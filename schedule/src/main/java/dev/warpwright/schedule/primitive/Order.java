package dev.warpwright.schedule.primitive;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Stmt;
import dev.warpwright.schedule.analysis.Access;
import dev.warpwright.schedule.analysis.Accesses;
import dev.warpwright.schedule.analysis.Tree;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/** The order in which statements stand in a function. */
final class Order {
  private final PrimFunc func;
  private final Map<Stmt, List<Stmt>> paths = new IdentityHashMap<>();

  private Order(PrimFunc func) {
    this.func = func;
  }

  static Order of(PrimFunc func) {
    return new Order(func);
  }

  boolean isBefore(Stmt a, Stmt b) {
    List<Stmt> first = path(a);
    List<Stmt> second = path(b);
    int common = Tree.common(first, second);
    if (common == 0 || common == second.size()) {
      // One of them is not there, or the second one is the first one or around it.
      return false;
    }
    if (common == first.size()) {
      return true;
    }
    List<Stmt> siblings = Tree.children(first.get(common - 1));
    return Tree.indexOn(siblings, first.get(common)) < Tree.indexOn(siblings, second.get(common));
  }

  private List<Stmt> path(Stmt s) {
    return paths.computeIfAbsent(
        s, x -> Objects.requireNonNullElse(Tree.pathTo(func.body(), x), List.of()));
  }

  /** That no statement after {@code from} writes one of the buffers. */
  void requireUnchangedAfter(Check check, int requirement, Stmt from, Set<Buffer> buffers) {
    for (Buffer buffer : buffers) {
      for (Access access : Accesses.of(func.body(), buffer)) {
        if (access.isWrite() && isBefore(from, access.leaf())) {
          throw check.error(
              requirement,
              buffer.name() + ", which the block reads, is written later",
              access.leaf());
        }
      }
    }
  }

  /**
   * That what a block reads is there at other places, too: nothing that writes it is inside a loop
   * around the block that is not around the place.
   *
   * @param from the path to the block
   * @param to the path to the place
   */
  void requireSources(
      Check check, int requirement, List<Stmt> from, List<Stmt> to, Set<Buffer> buffers) {
    List<Stmt.For> left = loopsOnlyAround(from, to);
    int common = Tree.common(from, to);
    // The sides of a condition happen in different iterations.
    check.require(
        requirement,
        common == 0 || common == to.size() || !(from.get(common - 1) instanceof Stmt.If),
        "the block is on the other side of a condition",
        from.getLast());
    for (Stmt.For loop : left) {
      for (Buffer buffer : Accesses.written(loop)) {
        check.require(
            requirement,
            !buffers.contains(buffer),
            buffer.name() + ", which the block reads, is computed inside its loop " + loop.var(),
            loop);
      }
    }
    for (Buffer buffer : buffers) {
      List<Stmt> alloc = Tree.pathToAlloc(func, buffer);
      check.require(
          requirement,
          alloc == null || Tree.indexOn(to, alloc.getLast()) >= 0,
          buffer.name() + ", which the block reads, is not allocated around the new place",
          alloc == null ? null : alloc.getLast());
    }
  }

  /** The loops on a path that are not on another one, outermost first. */
  static List<Stmt.For> loopsOnlyAround(List<Stmt> path, List<Stmt> other) {
    return Tree.loops(path).stream().filter(l -> Tree.indexOn(other, l) < 0).toList();
  }

  /**
   * That a block may run earlier, at a place inside other loops: nothing that comes in between, or
   * is in those loops, touches what the block writes, or writes what it reads.
   *
   * @param from the path to the block
   * @param to the path to the place, a statement before the block
   * @param handedOn what the block reads and this place computes
   */
  void requireNothingInBetween(
      Check check, int requirement, List<Stmt> from, List<Stmt> to, Set<Buffer> handedOn) {
    Stmt block = from.getLast();
    Stmt place = to.getLast();
    Set<Buffer> writes = Accesses.written(block);
    Set<Buffer> reads = Accesses.read(block);
    reads.removeAll(handedOn);
    reads.removeAll(writes);
    requireSources(check, requirement, from, to, reads);
    List<Stmt.For> entered = loopsOnlyAround(to, from);
    Stmt outermost = entered.isEmpty() ? place : entered.getFirst();
    for (Access access : Accesses.of(func.body())) {
      Stmt leaf = access.leaf();
      Buffer accessed = access.buffer();
      if (!writes.contains(accessed)
          && !(access.isWrite() && (reads.contains(accessed) || handedOn.contains(accessed)))) {
        continue;
      }
      String name = accessed.name();
      boolean after = isBefore(place, leaf) && isBefore(leaf, block);
      boolean between = leaf != block && (after || Tree.contains(outermost, leaf));
      boolean later = after && !Tree.contains(place, leaf);
      check.require(
          requirement,
          !(later && access.isWrite() && handedOn.contains(access.buffer())),
          name + " is not finished where the block shall go",
          leaf);
      check.require(
          requirement,
          !(between && access.isWrite() && reads.contains(access.buffer())),
          name + ", which the block reads, is written in between",
          leaf);
      check.require(
          requirement,
          !(between && writes.contains(access.buffer())),
          name + ", which the block writes, is used in between",
          leaf);
    }
    Set<Buffer> used = new HashSet<>(writes);
    used.addAll(handedOn);
    for (Buffer buffer : used) {
      List<Stmt> alloc = Tree.pathToAlloc(func, buffer);
      check.require(
          requirement,
          alloc == null || Tree.indexOn(to, alloc.getLast()) >= 0,
          buffer.name() + ", which the block uses, is not allocated around the new place",
          alloc == null ? null : alloc.getLast());
    }
  }
}
