package dev.warpwright.lower.gpu;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.layout.FragmentLayout;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.Substitution;
import dev.warpwright.lower.pass.LoweringException;
import dev.warpwright.target.intrinsic.Intrinsics;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Elementwise tile statements. A map over fragments follows their layout: each thread visits the
 * elements it holds. Without fragments the points are spread evenly, neighbours on neighbouring
 * threads.
 */
public final class MapLowering {
  private final ThreadCode code;
  private final Halves halves;

  /** Fragments of which a register holds two elements. */
  @FunctionalInterface
  public interface Halves {
    /** The element as f32, or null if the fragment's registers hold one element each. */
    @Nullable Expr element(Buffer fragment, Expr element);
  }

  public MapLowering(ThreadCode code) {
    this(code, (fragment, element) -> null);
  }

  public MapLowering(ThreadCode code, Halves halves) {
    this.code = code;
    this.halves = halves;
  }

  public Stmt map(Stmt.TileMap map) {
    Set<Buffer> fragments = FragmentWindow.others(map);
    if (fragments.isEmpty() && !RowVectors.of(map).isEmpty()) {
      return new RowVectors(code, this).map(map, Exprs.bool(true));
    }
    List<Stmt> parts = new ArrayList<>();
    // One pass over the points for each store: a later store may read what an earlier one wrote at
    // its point.
    for (Stmt.Store store : map.stores()) {
      parts.add(fragments.isEmpty() ? spread(map, store) : overFragments(map, store, layout(map)));
    }
    return Stmts.seq(parts);
  }

  /** How the points of a map over fragments are spread over threads. */
  public FragmentLayout layout(Stmt.TileMap map) {
    FragmentLayout fragment = code.layout(FragmentWindow.others(map).iterator().next());
    HalvedMap halved = HalvedMap.of(map, fragment);
    return halved == null ? fragment : halved.layout();
  }

  /** A copy is a map of one store, guarded where a side may reach outside its buffer. */
  public Stmt copy(Stmt.TileCopy copy) {
    Region to = copy.to();
    Region from = copy.from();
    int rank = to.tile().size();
    if (from.tile().size() != rank || rank == 0 || rank > 2) {
      throw new LoweringException(
          "copy from "
              + from.buffer().name()
              + " to "
              + to.buffer().name()
              + " has tiles of rank "
              + from.tile().size()
              + " and "
              + rank);
    }
    List<Var> vars = new ArrayList<>();
    List<Expr> extents = new ArrayList<>();
    for (int d = 0; d < rank; d++) {
      vars.add(Var.index(d == rank - 1 ? "j" : "i"));
      extents.add(Exprs.i32(Guards.extent(to.tile().get(d))));
    }
    List<Expr> point = List.copyOf(vars);
    List<Expr> toIndices = Guards.indices(to, point);
    List<Expr> fromIndices = Guards.indices(from, point);
    Expr value = new Expr.Load(from.buffer(), fromIndices);
    value = Exprs.select(Guards.inside(from, fromIndices), value, Exprs.zero(value.type()));
    Stmt.Store store =
        new Stmt.Store(to.buffer(), toIndices, Exprs.cast(to.buffer().dtype(), value));
    Stmt.TileMap map = new Stmt.TileMap(vars, extents, List.of(store), Attrs.NONE);
    Expr inside = Guards.inside(to, toIndices);
    Set<Buffer> fragments = FragmentInference.fragments(copy);
    if (fragments.isEmpty() && !RowVectors.of(copy).isEmpty()) {
      return new RowVectors(code, this).map(map, inside);
    }
    return fragments.isEmpty()
        ? spread(map, store, inside)
        : overFragments(map, store, code.layout(fragments.iterator().next()), inside);
  }

  /** A map of one store over fragments, whose stores happen where the guard holds. */
  public Stmt guarded(Stmt.TileMap map, Expr guard) {
    return overFragments(map, map.stores().getFirst(), layout(map), guard);
  }

  /** A value of the map at a point, whose elements of fragments are in this register. */
  public Expr valueAt(Stmt.TileMap map, Expr value, Expr row, Expr column, Expr register) {
    return at(map, row, column).expr(access(map, register).expr(value));
  }

  private Rewriter access(Stmt.TileMap map, Expr register) {
    Set<Buffer> fragments = FragmentWindow.others(map);
    FragmentLayout layout = fragments.isEmpty() ? null : code.layout(fragments.iterator().next());
    HalvedMap halved = layout == null ? null : HalvedMap.of(map, layout);
    long columns = layout == null ? 0 : constant(map.extents().getLast());
    return new FragmentAccess(map.vars(), columns, layout, halved, register);
  }

  /**
   * Turns accesses to fragments at a point into accesses to the thread's registers.
   *
   * @param vars of the point
   * @param layout of the fragments
   * @param register of their elements at the point
   */
  Rewriter inRegisters(List<Var> vars, @Nullable FragmentLayout layout, Expr register) {
    long columns = layout == null ? 0 : layout.cols();
    return new FragmentAccess(vars, columns, layout, null, register);
  }

  /** A map without fragments; where elements come from global memory, several at once. */
  private Stmt spread(Stmt.TileMap map, Stmt.Store store) {
    long points = 1;
    for (Expr extent : map.extents()) {
      points *= constant(extent);
    }
    Var column = map.vars().getLast();
    int lanes = GlobalRuns.of(store.value(), column, points, code.threads()).lanes();
    if (lanes == 1 && RowBatches.are(store, points, code)) {
      return RowBatches.of(map, store, points, code);
    }
    return lanes > 1 && constant(map.extents().getLast()) % lanes == 0
        ? inRuns(map, store, points, lanes)
        : spread(map, store, Exprs.bool(true));
  }

  /** So many neighbouring columns for each thread at a time. */
  private Stmt inRuns(Stmt.TileMap map, Stmt.Store store, long points, int lanes) {
    Var column = map.vars().getLast();
    return code.spread(
        points / lanes,
        piece -> {
          Map<Var, Expr> point = places(map, Exprs.mul(piece, lanes));
          Expr first = Objects.requireNonNull(point.remove(column));
          Stmt.Store own = (Stmt.Store) Substitution.ofVars(point).stmt(store);
          GlobalRuns runs = GlobalRuns.of(own.value(), column, lanes);
          if (!GlobalRuns.isRun(own.buffer(), own.indices(), column, lanes)) {
            return runs.at(
                first,
                (v, element) ->
                    new Stmt.Store(own.buffer(), at(own, column, Exprs.add(first, v)), element));
          }
          return ThreadCode.withTemporary(
              "made",
              own.buffer().dtype(),
              lanes,
              made ->
                  Stmts.seq(
                      runs.at(first, (v, element) -> new Stmt.Store(made, List.of(v), element)),
                      GlobalRuns.stored(made, own.buffer(), at(own, column, first))));
        });
  }

  private static List<Expr> at(Stmt.Store store, Var column, Expr place) {
    Substitution at = Substitution.ofVars(Map.of(column, place));
    return store.indices().stream().map(at::expr).toList();
  }

  private Stmt spread(Stmt.TileMap map, Stmt.Store store, Expr guard) {
    long points = 1;
    for (Expr extent : map.extents()) {
      points *= constant(extent);
    }
    return code.spread(
        points,
        piece -> {
          Substitution at = at(map, piece);
          return Stmts.when(at.expr(guard), at.stmt(store));
        });
  }

  /** At a point of a map, counted row by row. */
  static Substitution at(Stmt.TileMap map, Expr piece) {
    return Substitution.ofVars(places(map, piece));
  }

  private static Map<Var, Expr> places(Stmt.TileMap map, Expr piece) {
    Map<Var, Expr> values = new HashMap<>();
    Expr rest = piece;
    for (int d = map.vars().size() - 1; d >= 0; d--) {
      long extent = constant(map.extents().get(d));
      values.put(map.vars().get(d), d == 0 ? rest : Exprs.mod(rest, extent));
      rest = Exprs.div(rest, extent);
    }
    return values;
  }

  private Stmt overFragments(Stmt.TileMap map, Stmt.Store store, FragmentLayout layout) {
    return overFragments(map, store, layout, Exprs.bool(true));
  }

  private Stmt overFragments(
      Stmt.TileMap map, Stmt.Store stored, FragmentLayout layout, Expr guard) {
    Stmt.Store store = MMajor.areRuns(layout) ? copied(stored) : stored;
    if (map.vars().size() != 2
        || constant(map.extents().get(0)) != layout.rows()
        || constant(map.extents().get(1)) != layout.cols()) {
      throw new LoweringException(
          "map to "
              + store.buffer().name()
              + " covers "
              + map.extents()
              + ", its fragments "
              + layout.rows()
              + "x"
              + layout.cols());
    }
    if (MMajor.is(store.buffer())
        && MMajor.areRuns(layout)
        && store.indices().equals(List.copyOf(map.vars()))
        && Exprs.isConst(guard, 1)) {
      return overRowRuns(map, store, layout);
    }
    if (RowPairs.areStored(map, store, layout, guard)) {
      return overRowPairs(map, store, layout, guard);
    }
    boolean vector = vectorStore(map, store, layout, guard);
    return code.overFragment(
        layout,
        vector,
        run -> {
          if (run.length() == 1) {
            Substitution at = at(map, run.row(), run.col());
            Stmt body = access(map, run.register()).stmt(store);
            return Stmts.when(at.expr(guard), at.stmt(body));
          }
          Substitution first = at(map, run.row(), run.col());
          Stmt body =
              ThreadCode.withTemporary(
                  "packed",
                  store.buffer().dtype(),
                  run.length(),
                  packed ->
                      Stmts.seq(
                          ThreadCode.each(
                              packed,
                              (v, type) -> {
                                Expr value =
                                    access(map, Exprs.add(run.register(), v)).expr(store.value());
                                return at(map, run.row(), Exprs.add(run.col(), v)).expr(value);
                              }),
                          ThreadCode.move(
                              store.buffer(),
                              store.indices().stream().map(first::expr).toList(),
                              packed,
                              List.of(Exprs.i32(0)),
                              run.length())));
          return Stmts.when(first.expr(guard), body);
        });
  }

  /**
   * Results that are accumulators as they are get registers of their own: the store of a vector
   * wants neighbouring ones.
   */
  private static Stmt.Store copied(Stmt.Store store) {
    return store.buffer().scope() == Scope.FRAGMENT
            && store.value() instanceof Expr.Load(Buffer from, List<Expr> _)
            && from.scope() == Scope.FRAGMENT
            && from.dtype() == DType.F32
        ? new Stmt.Store(
            store.buffer(),
            store.indices(),
            new Expr.Call(Intrinsics.COPY_F32, List.of(store.value()), Type.F32))
        : store;
  }

  /** Columns of four rows at a time, which one access stores. */
  private Stmt overRowRuns(Stmt.TileMap map, Stmt.Store store, FragmentLayout layout) {
    return MMajor.overFragment(
        layout,
        code,
        run ->
            ThreadCode.withTemporary(
                "packed",
                store.buffer().dtype(),
                run.length(),
                packed ->
                    Stmts.seq(
                        ThreadCode.each(
                            packed,
                            (v, type) -> {
                              Expr element = Exprs.mul(v, MMajor.rowStep(layout));
                              Expr value =
                                  access(map, Exprs.add(run.register(), element))
                                      .expr(store.value());
                              value = at(map, Exprs.add(run.row(), v), run.col()).expr(value);
                              Expr positive = Rectified.of(value);
                              return positive == null
                                  ? value
                                  : new Expr.Call(Intrinsics.RELU_F32, List.of(positive), Type.F32);
                            }),
                        MMajor.store(
                            code, store.buffer(), List.of(run.row(), run.col()), packed))));
  }

  /** Columns of two rows at a time, which are side by side where they are stored. */
  private Stmt overRowPairs(Stmt.TileMap map, Stmt.Store store, FragmentLayout layout, Expr guard) {
    return RowPairs.over(
        layout,
        code,
        pair -> {
          Substitution first = at(map, pair.row(), pair.col());
          Stmt body =
              ThreadCode.withTemporary(
                  "packed",
                  store.buffer().dtype(),
                  RowPairs.ROWS,
                  packed ->
                      Stmts.seq(
                          ThreadCode.each(
                              packed,
                              (v, type) -> {
                                Expr value = access(map, pair.register(v)).expr(store.value());
                                return at(map, Exprs.add(pair.row(), v), pair.col()).expr(value);
                              }),
                          ThreadCode.move(
                              store.buffer(),
                              store.indices().stream().map(first::expr).toList(),
                              packed,
                              List.of(Exprs.i32(0)),
                              RowPairs.ROWS)));
          return Stmts.when(first.expr(guard), body);
        });
  }

  private static Substitution at(Stmt.TileMap map, Expr row, Expr col) {
    return Substitution.ofVars(Map.of(map.vars().get(0), row, map.vars().get(1), col));
  }

  /**
   * Whether runs of neighbouring columns may be stored in one access: aligned, contiguous and
   * guarded alike.
   */
  private static boolean vectorStore(
      Stmt.TileMap map, Stmt.Store store, FragmentLayout layout, Expr guard) {
    Buffer buffer = store.buffer();
    long run = layout.registerDigits().getFirst().extent();
    if (buffer.scope() == Scope.FRAGMENT
        || buffer.rank() != 2
        || !runsAlong(store.indices().get(1), map.vars().get(1), (int) run)
        || run * buffer.dtype().bytes() > 16
        || run < 2
        || Long.bitCount(run) != 1
        || buffer.dtype() == DType.BOOL) {
      return false;
    }
    long extent = buffer.extent(1);
    long pitch = buffer.layout() == null ? extent : buffer.layout().offset(1, 0);
    boolean guardedAlike = Exprs.isConst(guard, 1) || extent % run == 0;
    return pitch % run == 0 && guardedAlike && buffer.alignment() >= run * buffer.dtype().bytes();
  }

  /** Whether an index is the variable, or a multiple of {@code run} and the variable. */
  private static boolean runsAlong(Expr index, Var var, int run) {
    return index == var
        || (index instanceof Expr.Binary(BinaryOp op, Expr a, Expr b)
            && op == BinaryOp.ADD
            && b == var
            && CopyLowering.multipleOf(a, run));
  }

  private static long constant(Expr extent) {
    if (extent instanceof Expr.IntImm imm) {
      return imm.value();
    }
    throw new LoweringException("a map has the extent " + extent + ", which is not constant");
  }

  /** Turns accesses to fragments at the map's point into accesses to the thread's registers. */
  private final class FragmentAccess extends Rewriter {
    private final List<Var> vars;
    private final long columns;
    private final @Nullable FragmentLayout layout;
    private final @Nullable HalvedMap halved;
    private final Expr register;

    FragmentAccess(
        List<Var> vars,
        long columns,
        @Nullable FragmentLayout layout,
        @Nullable HalvedMap halved,
        Expr register) {
      this.vars = vars;
      this.columns = columns;
      this.layout = layout;
      this.halved = halved;
      this.register = register;
    }

    @Override
    public Expr expr(Expr e) {
      if (e instanceof Expr.Cast(Type type, Expr.Load(Buffer buffer, List<Expr> indices))
          && type.equals(Type.F32)
          && buffer.scope() == Scope.FRAGMENT
          && halves.element(buffer, at(buffer, indices)) instanceof Expr half) {
        return half;
      }
      if (e instanceof Expr.Load(Buffer buffer, List<Expr> indices)
          && buffer.scope() == Scope.FRAGMENT) {
        Expr element = at(buffer, indices);
        Expr half = halves.element(buffer, element);
        return half == null
            ? new Expr.Load(code.registers(buffer), List.of(element))
            : Exprs.cast(buffer.dtype(), half);
      }
      return super.expr(e);
    }

    @Override
    public Stmt stmt(Stmt s) {
      if (s instanceof Stmt.Store(Buffer buffer, List<Expr> indices, Expr value)
          && buffer.scope() == Scope.FRAGMENT) {
        return new Stmt.Store(code.registers(buffer), List.of(at(buffer, indices)), expr(value));
      }
      return super.stmt(s);
    }

    private Expr at(Buffer buffer, List<Expr> indices) {
      if (RowVectors.is(buffer) && indices.getFirst() == vars.getFirst() && layout != null) {
        return row(buffer, layout);
      }
      boolean samePoint =
          indices.size() == 2 && indices.get(0) == vars.get(0) && indices.get(1) == vars.get(1);
      if (halved != null && code.layout(buffer).equals(halved.fragment())) {
        return halved.register(register, indices);
      }
      Expr first = FragmentWindow.first(vars, columns, buffer, indices);
      if (first != null && layout != null) {
        return FragmentWindow.register(buffer, code.layout(buffer), layout, first, register);
      }
      if (!samePoint) {
        throw new LoweringException(
            "fragment "
                + buffer.name()
                + " is used at "
                + indices
                + ", only its own point "
                + vars
                + " is in the thread's registers");
      }
      return register;
    }

    /** Of a row's value, the register. */
    private Expr row(Buffer vector, FragmentLayout held) {
      FragmentLayout rows = code.layout(vector);
      if (held.equals(rows)) {
        return register;
      }
      if (!rows.equals(RowVectors.layout(held))) {
        throw new LoweringException(
            "vector " + vector.name() + " is held by other rows than the fragment it is used with");
      }
      return RowVectors.register(held, register);
    }
  }
}
