package dev.warpwright.verify.mutation;

import static dev.warpwright.sim.api.Finding.Kind.BARRIER;
import static dev.warpwright.sim.api.Finding.Kind.DEADLOCK;
import static dev.warpwright.sim.api.Finding.Kind.INTRINSIC;
import static dev.warpwright.sim.api.Finding.Kind.MISALIGNED;
import static dev.warpwright.sim.api.Finding.Kind.OUT_OF_BOUNDS;
import static dev.warpwright.sim.api.Finding.Kind.PROXY;
import static dev.warpwright.sim.api.Finding.Kind.RACE;
import static dev.warpwright.sim.api.Finding.Kind.UNINITIALISED;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Layout;
import dev.warpwright.ir.Layout.Mode;
import dev.warpwright.ir.Layout.Swizzle;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.sim.api.Finding;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Mistakes with indices, predicates, trip counts, buffers and layouts. */
final class IndexMutations {
  private static final Set<Finding.Kind> ANY =
      EnumSet.of(OUT_OF_BOUNDS, RACE, UNINITIALISED, MISALIGNED, PROXY, BARRIER, INTRINSIC);

  /** A number that is loaded may be an entry of the order of work: who waits for what. */
  private static final Set<Finding.Kind> ANY_OF_A_LOAD = with(ANY, DEADLOCK);

  private IndexMutations() {}

  private static Set<Finding.Kind> with(Set<Finding.Kind> kinds, Finding.Kind one) {
    EnumSet<Finding.Kind> all = EnumSet.copyOf(kinds);
    all.add(one);
    return all;
  }

  static final List<Mutation> ALL =
      List.of(
          new Mutation(
              "store one element further",
              ANY,
              true,
              kernel -> s -> store(s, i -> i instanceof Expr.Ramp ? null : Exprs.add(i, 1))),
          new Mutation(
              "vector stored one element further",
              EnumSet.of(MISALIGNED, OUT_OF_BOUNDS),
              false,
              kernel -> s -> store(s, IndexMutations::shifted)),
          new Mutation(
              "vector loaded one element further",
              EnumSet.of(MISALIGNED, OUT_OF_BOUNDS, UNINITIALISED),
              true,
              kernel -> s -> loads(s, IndexMutations::shifted)),
          new Mutation(
              "load one element further",
              ANY_OF_A_LOAD,
              true,
              kernel -> s -> loads(s, i -> i instanceof Expr.Ramp ? null : Exprs.add(i, 1))),
          new Mutation(
              "wrong tile of a copy from global memory",
              ANY,
              true,
              kernel -> s -> Planting.inExpressions(s, IndexMutations::nextRow)),
          new Mutation(
              "wrong lane map", ANY, true, kernel -> s -> inValues(s, IndexMutations::lanes)),
          new Mutation(
              "shuffle with another lane",
              EnumSet.of(INTRINSIC),
              true,
              kernel -> s -> inValues(s, IndexMutations::shuffle)),
          new Mutation(
              "predicate left out",
              EnumSet.of(OUT_OF_BOUNDS, RACE, INTRINSIC, BARRIER, DEADLOCK, UNINITIALISED),
              true,
              kernel -> IndexMutations::always),
          new Mutation(
              "predicate off by one",
              EnumSet.of(OUT_OF_BOUNDS, RACE, INTRINSIC, BARRIER, DEADLOCK, UNINITIALISED),
              true,
              kernel -> s -> Planting.inExpressions(s, IndexMutations::orEqual)),
          new Mutation(
              "initial value left out",
              EnumSet.of(UNINITIALISED),
              false,
              kernel -> IndexMutations::uninitialised),
          new Mutation(
              "one step of a loop left out",
              EnumSet.of(UNINITIALISED, DEADLOCK, BARRIER, RACE),
              true,
              kernel -> s -> trips(s, -1)),
          new Mutation(
              "one step of a loop too many",
              EnumSet.of(OUT_OF_BOUNDS, UNINITIALISED, DEADLOCK, BARRIER, RACE, INTRINSIC),
              true,
              kernel -> s -> trips(s, 1)),
          new Mutation(
              "two shared buffers in one place",
              EnumSet.of(RACE, UNINITIALISED, PROXY, BARRIER),
              true,
              kernel -> s -> aliased(s)),
          new Mutation("wrong swizzle", ANY, true, kernel -> IndexMutations::swizzled),
          new Mutation(
              "one access by another swizzle",
              ANY,
              true,
              kernel -> IndexMutations::swizzledAccess));

  /** The scalar or vector index moved by one. */
  private static @Nullable Expr shifted(Expr index) {
    return index instanceof Expr.Ramp ramp && ramp.stride() == 1
        ? new Expr.Ramp(Exprs.add(ramp.base(), 1), 1, ramp.lanes())
        : null;
  }

  private static boolean isMemory(Buffer buffer) {
    return buffer.scope() != Scope.LOCAL && buffer.rank() > 0;
  }

  private static @Nullable List<Expr> last(
      List<Expr> indices, Function<Expr, @Nullable Expr> change) {
    Expr changed = change.apply(indices.getLast());
    if (changed == null) {
      return null;
    }
    List<Expr> all = new ArrayList<>(indices);
    all.set(all.size() - 1, changed);
    return all;
  }

  private static List<Stmt> store(Stmt s, Function<Expr, @Nullable Expr> change) {
    if (s instanceof Stmt.Store store && isMemory(store.buffer())) {
      List<Expr> indices = last(store.indices(), change);
      return indices == null
          ? List.of()
          : List.of(new Stmt.Store(store.buffer(), indices, store.value()));
    }
    return List.of();
  }

  private static List<Stmt> loads(Stmt s, Function<Expr, @Nullable Expr> change) {
    return Planting.inExpressions(
        s,
        e -> {
          if (e instanceof Expr.Load load && isMemory(load.buffer())) {
            List<Expr> indices = last(load.indices(), change);
            return indices == null ? null : new Expr.Load(load.buffer(), indices);
          }
          return null;
        });
  }

  /** A tile or element of a matrix in global memory, one row below. */
  private static @Nullable Expr nextRow(Expr e) {
    if (e instanceof Expr.AddressOf address
        && address.buffer().scope() == Scope.GLOBAL
        && address.indices().size() == 2) {
      List<Expr> indices = new ArrayList<>(address.indices());
      indices.set(0, Exprs.add(indices.getFirst(), 1));
      return new Expr.AddressOf(address.buffer(), indices);
    }
    return null;
  }

  private static List<Stmt> inValues(Stmt s, Function<Expr, @Nullable Expr> change) {
    return switch (s) {
      case Stmt.Let let -> Planting.inExpressions(let, change);
      case Stmt.Store store -> Planting.inExpressions(store, change);
      case Stmt.Evaluate evaluate -> Planting.inExpressions(evaluate, change);
      default -> List.of();
    };
  }

  /** {@code x % 4} or {@code x / 4} of a lane taken by 8. */
  private static @Nullable Expr lanes(Expr e) {
    return e instanceof Expr.Binary(BinaryOp op, Expr a, Expr.IntImm(var type, long value))
            && (op == BinaryOp.MOD || op == BinaryOp.DIV)
            && value == 4
        ? new Expr.Binary(op, a, new Expr.IntImm(type, 8))
        : null;
  }

  private static @Nullable Expr shuffle(Expr e) {
    if (e instanceof Expr.Call call
        && call.op().text().startsWith("shfl.")
        && call.args().size() == 2) {
      return new Expr.Call(
          call.op(),
          List.of(call.args().getFirst(), Exprs.bitXor(call.args().get(1), Exprs.i32(1))),
          call.type());
    }
    return null;
  }

  /** A condition that always holds: of a branch without else, or of a load's select. */
  private static List<Stmt> always(Stmt s) {
    if (s instanceof Stmt.If branch && branch.otherwise() == null) {
      return List.of(branch.then());
    }
    return Planting.inExpressions(
        s, e -> e instanceof Expr.Select select && loads(select.then()) ? select.then() : null);
  }

  private static boolean loads(Expr e) {
    boolean[] found = {false};
    Walk.expressions(e, part -> found[0] |= part instanceof Expr.Load);
    return found[0];
  }

  private static @Nullable Expr orEqual(Expr e) {
    return e instanceof Expr.Binary(BinaryOp op, Expr a, Expr b) && op == BinaryOp.LT
        ? new Expr.Binary(BinaryOp.LE, a, b)
        : null;
  }

  /** A constant stored to registers. */
  private static List<Stmt> uninitialised(Stmt s) {
    return s instanceof Stmt.Store store
            && store.buffer().scope() == Scope.LOCAL
            && store.value() instanceof Expr.FloatImm
        ? List.of(Stmt.Seq.EMPTY)
        : List.of();
  }

  private static List<Stmt> trips(Stmt s, long more) {
    if (!(s instanceof Stmt.For loop) || loop.kind() != ForKind.SERIAL) {
      return List.of();
    }
    return List.of(
        new Stmt.For(
            loop.var(),
            loop.min(),
            Exprs.add(loop.extent(), more),
            loop.kind(),
            loop.axis(),
            loop.attrs(),
            loop.body()));
  }

  /** A second shared buffer of the same shape and type takes the place of the first. */
  private static List<Stmt> aliased(Stmt s) {
    if (!(s instanceof Stmt.Alloc alloc)
        || alloc.buffer().scope() != Scope.SHARED
        || alloc.buffer().dtype() == DType.MBARRIER) {
      return List.of();
    }
    Buffer first = alloc.buffer();
    List<Stmt> variants = new ArrayList<>();
    Walk.statements(
        alloc.body(),
        inner -> {
          if (inner instanceof Stmt.Alloc(Buffer second, Stmt body)
              && second.scope() == Scope.SHARED
              && second.dtype() == first.dtype()
              && second.rank() == first.rank()
              && second.storageElements() <= first.storageElements()
              && sameInner(first, second)) {
            variants.add(
                new Stmt.Alloc(
                    first,
                    new Rewriter() {
                      @Override
                      protected Buffer buffer(Buffer buffer) {
                        return buffer == second ? first : buffer;
                      }

                      @Override
                      public Stmt stmt(Stmt t) {
                        return t instanceof Stmt.Alloc a && a.buffer() == second
                            ? stmt(a.body())
                            : super.stmt(t);
                      }
                    }.stmt(alloc.body())));
          }
        });
    return variants;
  }

  private static boolean sameInner(Buffer a, Buffer b) {
    for (int d = 1; d < a.rank(); d++) {
      if (a.extent(d) < b.extent(d)) {
        return false;
      }
    }
    return true;
  }

  /** Another swizzle of a shared buffer: for all that access it. */
  private static List<Stmt> swizzled(Stmt s) {
    if (!(s instanceof Stmt.Alloc(Buffer buffer, Stmt body))) {
      return List.of();
    }
    Layout layout = swizzledLayout(buffer);
    if (layout == null) {
      return List.of();
    }
    Swizzle narrower =
        new Swizzle(layout.swizzle().bits() - 1, layout.swizzle().base(), layout.swizzle().shift());
    Buffer other =
        new Buffer(
            buffer.name(),
            buffer.dtype(),
            buffer.shape(),
            buffer.scope(),
            new Layout(layout.dimensions(), narrower),
            buffer.alignment());
    return List.of(
        new Stmt.Alloc(
            other,
            new Rewriter() {
              @Override
              protected Buffer buffer(Buffer b) {
                return b == buffer ? other : b;
              }
            }.stmt(body)));
  }

  /** The layout of a shared buffer that has a swizzle, else null. */
  private static @Nullable Layout swizzledLayout(Buffer buffer) {
    Layout layout = buffer.scope() == Scope.SHARED ? buffer.layout() : null;
    return layout == null || layout.swizzle().isIdentity() ? null : layout;
  }

  /**
   * One access by threads finds its element where a narrower swizzle would have put it, while all
   * others keep to the buffer's. TMA copies and wgmma take the layout as a whole: for them, {@link
   * #swizzled} is the mistake.
   */
  private static List<Stmt> swizzledAccess(Stmt s) {
    if (s instanceof Stmt.Store store) {
      List<Stmt> variants = new ArrayList<>(inValues(s, IndexMutations::swizzledElement));
      List<Expr> indices = swizzledIndices(store.buffer(), store.indices());
      if (indices != null) {
        variants.add(new Stmt.Store(store.buffer(), indices, store.value()));
      }
      return variants;
    }
    boolean byThreads =
        s instanceof Stmt.Let || Planting.call(s, "cp.async.", "ldmatrix", "stmatrix") != null;
    return byThreads ? inValues(s, IndexMutations::swizzledElement) : List.of();
  }

  private static @Nullable Expr swizzledElement(Expr e) {
    return switch (e) {
      case Expr.AddressOf(Buffer buffer, List<Expr> indices) -> {
        List<Expr> moved = swizzledIndices(buffer, indices);
        yield moved == null ? null : new Expr.AddressOf(buffer, moved);
      }
      case Expr.Load(Buffer buffer, List<Expr> indices) -> {
        List<Expr> moved = swizzledIndices(buffer, indices);
        yield moved == null ? null : new Expr.Load(buffer, moved);
      }
      default -> null;
    };
  }

  /** The column whose place by the buffer's swizzle is this one's by the narrower swizzle. */
  private static @Nullable List<Expr> swizzledIndices(Buffer buffer, List<Expr> indices) {
    Layout layout = swizzledLayout(buffer);
    if (layout == null) {
      return null;
    }
    Swizzle swizzle = layout.swizzle();
    int top = swizzle.base() + swizzle.bits() - 1;
    List<Mode> columns = layout.dimensions().getLast();
    if (columns.size() != 1
        || columns.getFirst().stride() != 1
        || columns.getFirst().extent() < 2L << top) {
      return null;
    }
    List<Expr> scalars = new ArrayList<>(indices);
    if (indices.getLast() instanceof Expr.Ramp ramp) {
      scalars.set(indices.size() - 1, ramp.base());
    }
    Expr place = new Layout(layout.dimensions(), Swizzle.NONE).offset(scalars);
    Expr bit = Exprs.shr(Exprs.bitAnd(place, 1L << (top + swizzle.shift())), swizzle.shift());
    return last(
        indices,
        column ->
            column instanceof Expr.Ramp ramp
                ? new Expr.Ramp(Exprs.bitXor(ramp.base(), bit), ramp.stride(), ramp.lanes())
                : Exprs.bitXor(column, bit));
  }
}
