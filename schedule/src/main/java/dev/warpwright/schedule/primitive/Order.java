package dev.warpwright.schedule.primitive;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Walk;
import dev.warpwright.schedule.analysis.Access;
import dev.warpwright.schedule.analysis.Accesses;
import dev.warpwright.schedule.analysis.Tree;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The order in which statements stand in a function. */
final class Order {
  private final PrimFunc func;
  private final Map<Stmt, Integer> positions = new IdentityHashMap<>();

  private Order(PrimFunc func) {
    this.func = func;
    Walk.statements(func.body(), s -> positions.putIfAbsent(s, positions.size()));
  }

  static Order of(PrimFunc func) {
    return new Order(func);
  }

  boolean isBefore(Stmt a, Stmt b) {
    Integer first = positions.get(a);
    Integer second = positions.get(b);
    return first != null && second != null && first < second;
  }

  /** That no statement after {@code from} writes one of the buffers. */
  void requireUnchangedAfter(Check check, int requirement, Stmt from, Set<Buffer> buffers) {
    for (Access access : Accesses.of(func.body())) {
      check.require(
          requirement,
          !(access.isWrite() && buffers.contains(access.buffer()) && isBefore(from, access.leaf())),
          access.buffer().name() + ", which the block reads, is written later",
          access.leaf());
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
    List<Stmt.For> left =
        Tree.loops(from).stream().filter(loop -> to.stream().noneMatch(s -> s == loop)).toList();
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
          alloc == null || to.stream().anyMatch(s -> s == alloc.getLast()),
          buffer.name() + ", which the block reads, is not allocated around the new place",
          alloc == null ? null : alloc.getLast());
    }
  }
}
