package dev.warpwright.schedule.primitive;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.IterVar;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.schedule.analysis.Access;
import dev.warpwright.schedule.analysis.Accesses;
import dev.warpwright.schedule.analysis.Hull;
import dev.warpwright.schedule.analysis.Independence;
import dev.warpwright.schedule.analysis.Ranges;
import dev.warpwright.schedule.analysis.Tree;
import dev.warpwright.schedule.error.ScheduleError;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The checks of one application of a primitive: what it asks, and how it refuses. */
final class Check {
  private final String primitive;
  private final PrimFunc func;

  Check(String primitive, PrimFunc func) {
    this.primitive = primitive;
    this.func = func;
  }

  /** The function before the primitive. */
  PrimFunc func() {
    return func;
  }

  ScheduleError error(int requirement, String reason, @Nullable Stmt culprit) {
    return new ScheduleError(primitive, requirement, reason, func, asBefore(culprit));
  }

  /**
   * A culprit in the function before the primitive, where it can be marked: of a loop or a block
   * that the primitive made anew, the one over the same variable or of the same name.
   */
  private @Nullable Stmt asBefore(@Nullable Stmt culprit) {
    if (culprit == null || Tree.contains(func.body(), culprit)) {
      return culprit;
    }
    List<Stmt> path = null;
    if (culprit instanceof Stmt.For loop) {
      path = Tree.pathToLoop(func, loop.var());
    } else if (culprit instanceof Stmt.Block block) {
      path = Tree.pathToBlock(func, block.name());
    }
    return path == null ? null : path.getLast();
  }

  void require(int requirement, boolean holds, String reason, @Nullable Stmt culprit) {
    if (!holds) {
      throw error(requirement, reason, culprit);
    }
  }

  /** The path to a loop that has to exist. */
  List<Stmt> loop(int requirement, Var variable) {
    List<Stmt> path = Tree.pathToLoop(func, variable);
    if (path == null) {
      throw error(requirement, "there is no loop over " + variable + " (any more)", null);
    }
    return path;
  }

  /** The path to a block that has to exist. */
  List<Stmt> block(int requirement, String name) {
    List<Stmt> path = Tree.pathToBlock(func, name);
    if (path == null) {
      throw error(requirement, "there is no block " + name + " (any more)", null);
    }
    return path;
  }

  /** The path to the allocation of a buffer, which has to be an intermediate. */
  List<Stmt> alloc(int requirement, Buffer buffer) {
    List<Stmt> path = Tree.pathToAlloc(func, buffer);
    if (path == null) {
      throw error(
          requirement, buffer.name() + " is a parameter of the function, no intermediate", null);
    }
    return path;
  }

  Buffer buffer(int requirement, String name) {
    Buffer buffer = Tree.buffer(func, name);
    if (buffer == null) {
      throw error(requirement, "there is no buffer " + name + " (any more)", null);
    }
    return buffer;
  }

  /**
   * That all there is of an intermediate is written, or where it is allocated under loops, all that
   * is accessed. Of tiles, after {@link Compact} of all buffers, there may be elements that only
   * guarded instances would touch; a copy would read them.
   */
  void allWritten(int requirement, Buffer buffer) {
    List<Stmt> path = Tree.pathToAlloc(func, buffer);
    if (path == null || !(path.getLast() instanceof Stmt.Alloc alloc)) {
      return;
    }
    List<Access> writes =
        Accesses.of(alloc.body(), buffer).stream().filter(Access::isWrite).toList();
    List<Access> all = Accesses.of(alloc.body(), buffer);
    Ranges ranges = Tree.ranges(func, path);
    boolean inLoops = !Tree.loops(path).isEmpty();
    for (Access write : writes) {
      boolean guarded = write.leaf() instanceof Stmt.Block block && Guard.isGuarded(block);
      boolean named =
          !inLoops && write.leaf() instanceof Stmt.Block block && namesAll(block, buffer);
      Region box = Hull.of(writes, ranges);
      boolean covered =
          !guarded
              && Hull.isFull(write, box, ranges)
              && box.equals(inLoops ? Hull.of(all, ranges) : Region.whole(buffer));
      require(
          requirement,
          named || covered,
          buffer.name() + " may have elements that nothing writes: make the copy earlier",
          write.leaf());
    }
  }

  /** Whether the block writes the elements that its variables name, and they name all. */
  static boolean namesAll(Stmt.Block block, Buffer buffer) {
    for (int d = 0; d < buffer.rank(); d++) {
      IterVar named = Blockize.named(block, buffer, d);
      if (named == null || !named.extent().equals(buffer.shape().get(d))) {
        return false;
      }
    }
    return true;
  }

  void serial(int requirement, Stmt.For loop) {
    require(
        requirement,
        loop.kind() == ForKind.SERIAL,
        "loop " + loop.var() + " is not serial but '" + loop.kind().keyword() + "'",
        loop);
  }

  void fromZero(int requirement, Stmt.For loop) {
    require(
        requirement,
        Exprs.isConst(loop.min(), 0),
        "loop " + loop.var() + " does not start at 0",
        loop);
  }

  /** That iterations of a nest do not depend on each other. */
  void independent(int requirement, List<Stmt.For> nest, Stmt body, Ranges ranges) {
    Buffer conflict = Independence.conflict(nest, body, ranges);
    require(
        requirement,
        conflict == null,
        "iterations of loop "
            + nest.getFirst().var()
            + " depend on each other through "
            + (conflict == null ? "" : conflict.name()),
        nest.getFirst());
  }

  /**
   * That in {@code result} no iteration of a parallel, bound, vectorized or persistent loop depends
   * on another, and that no on-chip buffer is shared by iterations that run on different cores.
   */
  PrimFunc parallelLoopsIndependent(int requirement, PrimFunc result) {
    checkLoops(requirement, result, result.body(), new ArrayList<>());
    return result;
  }

  private void checkLoops(int requirement, PrimFunc result, Stmt s, List<Stmt> path) {
    if (Independence.isSequential(s)) {
      return;
    }
    int outside = path.size();
    path.add(s);
    // Allocations of a deep network are around each other: a loop over them, not a call for each.
    if (s instanceof Stmt.Alloc) {
      Stmt inner = s;
      while (inner instanceof Stmt.Alloc alloc) {
        inner = alloc.body();
        path.add(inner);
      }
      path.removeLast();
      checkLoops(requirement, result, inner, path);
      path.subList(outside, path.size()).clear();
      return;
    }
    if (s instanceof Stmt.For loop && isParallel(loop)) {
      Buffer conflict =
          Independence.conflict(
              List.of(loop), loop.body(), Tree.ranges(result, path), waitsFor(loop));
      require(
          requirement,
          conflict == null,
          "iterations of the "
              + loop.kind().keyword()
              + " loop "
              + loop.var()
              + " depend on each other through "
              + (conflict == null ? "" : conflict.name()),
          loop);
      if (acrossCores(loop)) {
        Set<Buffer> used = new HashSet<>(Accesses.written(loop.body()));
        used.addAll(Accesses.read(loop.body()));
        used.retainAll(onChip(path));
        require(
            requirement,
            used.isEmpty(),
            used.isEmpty()
                ? ""
                : "iterations of the "
                    + loop.kind().keyword()
                    + " loop "
                    + loop.var()
                    + " share the "
                    + used.iterator().next().scope()
                    + " buffer "
                    + used.iterator().next().name(),
            loop);
      }
    }
    for (Stmt child : Independence.mayBeParallel(s)) {
      checkLoops(requirement, result, child, path);
    }
    path.removeLast();
  }

  /** The buffers that are allocated on a path, where the cores do not share them. */
  private static Set<Buffer> onChip(List<Stmt> path) {
    Set<Buffer> onChip = new HashSet<>();
    for (Stmt s : path) {
      if (s instanceof Stmt.Alloc alloc && alloc.buffer().scope() != Scope.GLOBAL) {
        onChip.add(alloc.buffer());
      }
    }
    return onChip;
  }

  /** Names of the buffers in which an iteration of a persistent loop waits for earlier ones. */
  private static Set<String> waitsFor(Stmt.For loop) {
    String waits = loop.attrs().getString("waits");
    return waits == null || loop.kind() != ForKind.PERSISTENT ? Set.of() : Set.of(waits.split(","));
  }

  private static boolean isParallel(Stmt.For loop) {
    return switch (loop.kind()) {
      case PARALLEL, THREAD_BOUND, VECTORIZED, PERSISTENT -> true;
      case SERIAL, UNROLLED, PIPELINED -> false;
    };
  }

  private static boolean acrossCores(Stmt.For loop) {
    return switch (loop.kind()) {
      case PARALLEL, PERSISTENT -> true;
      case THREAD_BOUND -> loop.axis() != null && loop.axis().isBlock();
      case SERIAL, UNROLLED, PIPELINED, VECTORIZED -> false;
    };
  }
}
