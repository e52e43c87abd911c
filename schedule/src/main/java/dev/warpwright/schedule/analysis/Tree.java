package dev.warpwright.schedule.analysis;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Role;
import dev.warpwright.ir.ScalarParam;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.visit.Walk;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** Finds statements, the way to them, and puts others in their place. */
public final class Tree {
  private Tree() {}

  /** The statements directly inside; none for a block. */
  public static List<Stmt> children(Stmt s) {
    return switch (s) {
      case Stmt.Seq seq -> seq.stmts();
      case Stmt.For loop -> List.of(loop.body());
      case Stmt.While loop -> List.of(loop.body());
      case Stmt.If branch ->
          branch.otherwise() == null
              ? List.of(branch.then())
              : List.of(branch.then(), branch.otherwise());
      case Stmt.Let let -> List.of(let.body());
      case Stmt.Alloc alloc -> List.of(alloc.body());
      case Stmt.Store leaf -> List.of();
      case Stmt.Evaluate leaf -> List.of();
      case Stmt.Comment leaf -> List.of();
      case Stmt.Block leaf -> List.of();
      case Stmt.TileCopy leaf -> List.of();
      case Stmt.TileFill leaf -> List.of();
      case Stmt.TileMma leaf -> List.of();
      case Stmt.TileMap leaf -> List.of();
      case Stmt.TileReduce leaf -> List.of();
      case Stmt.Flow.PipeScope pipe -> List.of(pipe.body());
      case Stmt.Flow.Produce produce -> List.of(produce.body());
      case Stmt.Flow.Consume consume -> List.of(consume.body());
      case Stmt.Flow.Roles roles -> roles.roles().stream().map(Role::body).toList();
      case Stmt.Flow leaf -> List.of();
    };
  }

  /** The same, where only statements that may hold what is sought are looked into. */
  private static @Nullable List<Stmt> path(Stmt root, Sought sought, Predicate<Stmt> wanted) {
    Function<Stmt, List<Stmt>> within = s -> sought.mayBeIn(s) ? sought.children(s) : List.of();
    Spine spine = Spine.of(root);
    if (spine == null) {
      return find(root, within, wanted);
    }
    int at = spine.indexOf(sought);
    if (at >= 0 && wanted.test(spine.get(at))) {
      return spine.pathTo(at);
    }
    List<Stmt> inside = find(spine.inner(), within, wanted);
    return inside == null ? null : spine.pathTo(inside);
  }

  private static @Nullable List<Stmt> find(
      Stmt root, Function<Stmt, List<Stmt>> within, Predicate<Stmt> wanted) {
    List<Stmt> path = new ArrayList<>();
    return find(root, within, wanted, path) ? path : null;
  }

  private static boolean find(
      Stmt s, Function<Stmt, List<Stmt>> within, Predicate<Stmt> wanted, List<Stmt> path) {
    int outside = path.size();
    Stmt inner = s;
    path.add(inner);
    while (!wanted.test(inner)) {
      if (!(inner instanceof Stmt.Alloc alloc)) {
        for (Stmt child : within.apply(inner)) {
          if (find(child, within, wanted, path)) {
            return true;
          }
        }
        path.subList(outside, path.size()).clear();
        return false;
      }
      inner = alloc.body();
      path.add(inner);
    }
    return true;
  }

  /**
   * Allocations with what they are around rewritten. Of a deep network thousands are around each
   * other, and every primitive passes all of them: in a loop, not with calls inside each other.
   *
   * @param stop at which allocation not to go on: it is rewritten, too
   */
  static Stmt inside(Stmt.Alloc outermost, Predicate<Stmt> stop, UnaryOperator<Stmt> rewrite) {
    List<Stmt.Alloc> around = new ArrayList<>();
    around.add(outermost);
    Stmt inner = outermost.body();
    while (inner instanceof Stmt.Alloc alloc && !stop.test(alloc)) {
      around.add(alloc);
      inner = alloc.body();
    }
    Stmt made = rewrite.apply(inner);
    if (made == inner) {
      return outermost;
    }
    for (Stmt.Alloc alloc : around.reversed()) {
      made = new Stmt.Alloc(alloc.buffer(), made);
    }
    return made;
  }

  /** The path to this very statement, or null. */
  public static @Nullable List<Stmt> pathTo(Stmt root, Stmt s) {
    return path(root, Sought.of(s), x -> x == s);
  }

  /** Whether {@code s} is {@code root} or inside it. */
  public static boolean contains(Stmt root, Stmt s) {
    return pathTo(root, s) != null;
  }

  /** Where this very statement is on a path; -1 if it is not. */
  public static int indexOn(List<Stmt> path, Stmt s) {
    if (path instanceof Spine.Path on) {
      return on.index(s);
    }
    for (int i = 0; i < path.size(); i++) {
      if (path.get(i) == s) {
        return i;
      }
    }
    return -1;
  }

  /** How many statements two paths have in common at their beginnings. */
  public static int common(List<Stmt> a, List<Stmt> b) {
    int common =
        a instanceof Spine.Path first && b instanceof Spine.Path second ? first.shared(second) : 0;
    int most = Math.min(a.size(), b.size());
    while (common < most && a.get(common) == b.get(common)) {
      common++;
    }
    return common;
  }

  /** The path to the block of this name, or null. */
  public static @Nullable List<Stmt> pathToBlock(PrimFunc func, String name) {
    return path(
        func.body(), Sought.name(name), s -> s instanceof Stmt.Block b && b.name().equals(name));
  }

  /** The path to the loop over this variable, or null. */
  public static @Nullable List<Stmt> pathToLoop(PrimFunc func, Var variable) {
    return path(
        func.body(), Sought.loop(variable), s -> s instanceof Stmt.For f && f.var() == variable);
  }

  /** The path to the allocation of this buffer, or null (a parameter). */
  public static @Nullable List<Stmt> pathToAlloc(PrimFunc func, Buffer buffer) {
    return path(
        func.body(), Sought.of(buffer), s -> s instanceof Stmt.Alloc a && a.buffer() == buffer);
  }

  /** The loops on a path, outermost first. */
  public static List<Stmt.For> loops(List<Stmt> path) {
    if (path instanceof Spine.Path on) {
      return on.loops();
    }
    List<Stmt.For> loops = new ArrayList<>();
    for (Stmt s : path) {
      if (s instanceof Stmt.For loop) {
        loops.add(loop);
      }
    }
    return List.copyOf(loops);
  }

  /** All loops inside, in program order. */
  public static List<Stmt.For> allLoops(Stmt root) {
    List<Stmt.For> loops = new ArrayList<>();
    Walk.statements(
        root,
        s -> {
          if (s instanceof Stmt.For loop) {
            loops.add(loop);
          }
        });
    return loops;
  }

  /** The blocks that are in no other block, in program order. */
  public static List<Stmt.Block> blocks(Stmt root) {
    if (root instanceof Stmt.Block block) {
      return List.of(block);
    }
    return children(root).stream().flatMap(child -> blocks(child).stream()).toList();
  }

  /** The stores inside, those of initialisations included. */
  public static List<Stmt.Store> stores(Stmt root) {
    List<Stmt.Store> stores = new ArrayList<>();
    Walk.statements(
        root,
        s -> {
          if (s instanceof Stmt.Store store) {
            stores.add(store);
          }
        });
    return stores;
  }

  /** The buffers that are allocated, in program order. */
  public static List<Buffer> intermediates(PrimFunc func) {
    List<Buffer> buffers = new ArrayList<>();
    Walk.statements(
        func.body(),
        s -> {
          if (s instanceof Stmt.Alloc a) {
            buffers.add(a.buffer());
          }
        });
    return buffers;
  }

  /** The buffer of this name, a parameter or an intermediate, or null. */
  public static @Nullable Buffer buffer(PrimFunc func, String name) {
    for (Buffer buffer : func.buffers()) {
      if (buffer.name().equals(name)) {
        return buffer;
      }
    }
    List<Stmt> path =
        path(
            func.body(),
            Sought.name(name),
            s -> s instanceof Stmt.Alloc a && a.buffer().name().equals(name));
    return path != null && path.getLast() instanceof Stmt.Alloc a ? a.buffer() : null;
  }

  /** {@code wished}, or with a number after it, so that no block and no buffer has it. */
  public static String freshName(PrimFunc func, String wished) {
    String name = wished;
    for (int i = 1; isTaken(func, name); i++) {
      name = wished + "_" + i;
    }
    return name;
  }

  private static boolean isTaken(PrimFunc func, String name) {
    return func.params().stream().anyMatch(param -> param.name().equals(name))
        || names(func.body(), Sought.name(name));
  }

  /** Whether a block, also one inside a block, or an allocated buffer has this name. */
  private static boolean names(Stmt s, Sought name) {
    if (!name.mayBeIn(s)) {
      return false;
    }
    if (s instanceof Stmt.Block block) {
      return block.name().equals(name.name())
          || (block.init() != null && names(block.init(), name))
          || names(block.body(), name);
    }
    Stmt inner = s;
    while (inner instanceof Stmt.Alloc alloc) {
      if (alloc.buffer().name().equals(name.name())) {
        return true;
      }
      inner = alloc.body();
    }
    return inner == s
        ? name.children(s).stream().anyMatch(child -> names(child, name))
        : names(inner, name);
  }

  /** Bounds of the scalar parameters and of the variables of loops on a path. */
  public static Ranges ranges(PrimFunc func, List<Stmt> path) {
    Ranges ranges = Ranges.NONE;
    for (ScalarParam scalar : func.scalars()) {
      ranges = ranges.with(scalar.var(), new Span(scalar.min(), scalar.max()));
    }
    for (Stmt.For loop : loops(path)) {
      Span first = ranges.of(Forms.of(loop.min(), ranges));
      Span count = ranges.of(Forms.of(loop.extent(), ranges));
      Span values = null;
      if (first != null && count != null && count.hi() > 0) {
        values = new Span(first.lo(), first.hi() + count.hi() - 1);
      }
      ranges = ranges.with(loop.var(), values);
    }
    return ranges;
  }

  /** {@code root} with the very statement {@code old} exchanged. */
  public static Stmt replace(Stmt root, Stmt old, Stmt replacement) {
    List<Stmt> path = pathTo(root, old);
    if (path != null) {
      // Only what is around it is made anew.
      Stmt made = replacement;
      for (int i = path.size() - 2; i >= 0; i--) {
        made = withChild(path.get(i), path.get(i + 1), made);
      }
      return made;
    }
    return new StmtRewriter() {
      @Override
      public Stmt stmt(Stmt s) {
        return s == old ? replacement : super.stmt(s);
      }
    }.stmt(root);
  }

  /** The statement with one of its {@link #children} exchanged. */
  private static Stmt withChild(Stmt s, Stmt old, Stmt child) {
    if (s instanceof Stmt.Alloc alloc) {
      return new Stmt.Alloc(alloc.buffer(), child);
    }
    Stmt parent = s;
    return new StmtRewriter() {
      @Override
      public Stmt stmt(Stmt inner) {
        return inner == parent ? super.stmt(inner) : inner == old ? child : inner;
      }
    }.stmt(s);
  }

  public static PrimFunc replace(PrimFunc func, Stmt old, Stmt replacement) {
    return func.withBody(replace(func.body(), old, replacement));
  }

  /** Without empty loops, allocations and sequences, and sequences of one. */
  public static Stmt tidy(Stmt root) {
    return tidied(root, true);
  }

  /** The same, all of it looked at unless some of it is {@code known} to be tidy. */
  static Stmt tidied(Stmt root, boolean known) {
    return new StmtRewriter() {
      @Override
      public Stmt stmt(Stmt s) {
        if (isTidyLeaf(s) || (known && Contents.ofNest(s).isTidy())) {
          return s;
        }
        if (s instanceof Stmt.Alloc alloc) {
          Stmt tidied = Tree.inside(alloc, x -> false, this::stmt);
          return isEmptyInside(tidied) ? Stmt.Seq.EMPTY : tidied;
        }
        LongSequence sequence = known && s instanceof Stmt.Seq seq ? LongSequence.of(seq) : null;
        if (sequence != null && sequence.isTidy()) {
          return s;
        }
        Stmt tidied =
            sequence == null ? super.stmt(s) : sequence.withTidied((Stmt.Seq) s, this::stmt);
        return switch (tidied) {
          case Stmt.Seq seq -> {
            List<Stmt> rest = seq.stmts().stream().filter(x -> !isEmpty(x)).toList();
            yield rest.size() == seq.stmts().size() && rest.size() != 1 ? seq : Stmts.seq(rest);
          }
          case Stmt.For loop -> isEmpty(loop.body()) ? Stmt.Seq.EMPTY : loop;
          case Stmt other -> other;
        };
      }
    }.stmt(root);
  }

  /** Whether there is nothing inside that could be empty; not if that takes longer to see. */
  private static boolean isTidyLeaf(Stmt s) {
    return s instanceof Stmt.Block block
        ? (block.init() == null || block.init() instanceof Stmt.Store)
            && block.body() instanceof Stmt.Store
        : s instanceof Stmt.Store
            || s instanceof Stmt.TileCopy
            || s instanceof Stmt.TileFill
            || s instanceof Stmt.TileMma
            || s instanceof Stmt.TileMap
            || s instanceof Stmt.TileReduce;
  }

  private static boolean isEmptyInside(Stmt s) {
    Stmt inner = s;
    while (inner instanceof Stmt.Alloc alloc) {
      inner = alloc.body();
    }
    return isEmpty(inner);
  }

  /** Whether it is a sequence of nothing. */
  static boolean isEmpty(Stmt s) {
    return s instanceof Stmt.Seq seq && seq.stmts().isEmpty();
  }

  /**
   * Puts statements before the first statement on the spine of {@code body} (through sequences and
   * allocations) that satisfies the condition, all of it in the scope of new allocations.
   */
  public static Stmt insertBefore(
      Stmt body, Predicate<Stmt> wanted, List<Buffer> allocated, Stmt inserted) {
    return switch (body) {
      case Stmt.Alloc alloc ->
          new Stmt.Alloc(alloc.buffer(), insertBefore(alloc.body(), wanted, allocated, inserted));
      case Stmt.Seq seq -> {
        int at = 0;
        while (at < seq.stmts().size() - 1 && !wanted.test(seq.stmts().get(at))) {
          at++;
        }
        List<Stmt> all = new ArrayList<>(seq.stmts().subList(0, at));
        List<Stmt> rest = seq.stmts().subList(at, seq.stmts().size());
        if (rest.size() == 1 && rest.getFirst() instanceof Stmt.Alloc) {
          all.add(insertBefore(rest.getFirst(), wanted, allocated, inserted));
        } else {
          List<Stmt> scope = new ArrayList<>();
          scope.add(inserted);
          scope.addAll(rest);
          all.add(Stmts.alloc(allocated, Stmts.seq(scope)));
        }
        yield Stmts.seq(all);
      }
      case Stmt other -> Stmts.alloc(allocated, Stmts.seq(inserted, other));
    };
  }
}
