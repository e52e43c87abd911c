package dev.warpwright.lower.tile;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Layout;
import dev.warpwright.ir.Layout.Mode;
import dev.warpwright.ir.Layout.Swizzle;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.visit.Leaves;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.Substitution;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.lower.gpu.FragmentOrder;
import dev.warpwright.lower.pass.PassListener;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Lets rows move between global memory and the registers of warpgroup products by 16 bytes a
 * thread. A thread of a product's 16-bit operand holds pairs of columns 8 apart; 8 columns next to
 * each other are as good, if the operand's K, or the accumulators' N, is permuted. What is permuted
 * are constants: whoever calls the kernel packs them once.
 *
 * <pre>{@code
 * tile.copy a <- x[…]                              tile.copy a_rows <- x[…]
 *                                             →    tile.map (r, k) { a[r, k] = a_rows[r, p(k)] }
 * tile.copy Ws <- W[…]; tile.mma acc += a * Ws^T   tile.copy Ws <- W'[…]; tile.mma acc += a * Ws^T
 *
 * tile.map (r, n) { h[r, n] = f(acc[r, n], b[n]) } tile.map (r, n) { h[r, p(n)] = f(acc[r, n], b[p(n)]) }
 * tile.copy y[…] <- h                              tile.copy y[…] <- h
 * }</pre>
 *
 * <p>{@code W'[n, k] = W[n, p(k)]}, for the result {@code W'[n, k] = W[p(n), k]}. p exchanges bits
 * of the column inside groups of 32. Where something is added to each row between two products, the
 * columns there are permuted, too: a thread then adds 8 elements next to each other.
 *
 * <p>Weights of products of warps come in the order of their registers ({@link FragmentOrder}): the
 * parameter has the same coordinates, and another layout.
 *
 * <p>A thread of an operand in tf32 holds columns 4 apart where accumulators are neighbours. So K
 * is permuted of every product whose operand comes from another one's accumulators; what is packed
 * is rounded to tf32, too, which the instruction would cut off.
 *
 * <p>Weights of products of warps come in the order of their registers ({@link FragmentOrder}): the
 * parameter has the same coordinates, and another layout.
 *
 * <p>A copy with {@code prefetch = 1} into an operand gets a fragment of its own in any case, which
 * the next rows can be copied to while these are multiplied; so does an operand of rows of an odd
 * number of columns, which come one by one.
 *
 * <p>Requires nothing: where rows are no multiple of 16 columns, an operand is read by other than
 * products, or what would have to be packed is no constant or has other readers, the columns stay.
 *
 * <p>Guarantees: with its packed constants the program computes what it did. Stands in front of
 * {@link PlanPipes}: weights are still copied from parameters.
 */
public final class PackConstants {
  private final Set<Buffer> constants;
  private final Set<Buffer> written;
  private final Map<Buffer, List<Stmt>> uses = new HashMap<>();
  private final Map<Stmt, Stmt> replaced = new IdentityHashMap<>();
  private final Map<Stmt, Buffer> allocated = new IdentityHashMap<>();

  /** Constants whose columns, or rows, are permuted, and how. */
  private final Map<Buffer, ColumnOrder> permutedColumns = new LinkedHashMap<>();

  private final Map<Buffer, ColumnOrder> permutedRows = new LinkedHashMap<>();

  /** Weights in the order of the registers of warps' products. */
  private final Set<Buffer> ordered = new LinkedHashSet<>();

  /** Operands in registers of products in tf32. */
  private final Set<Buffer> rounded = new HashSet<>();

  /** What products add to. */
  private final Set<Buffer> sums = new HashSet<>();

  private PackConstants(PrimFunc func, Set<Buffer> constants) {
    this.constants = constants;
    this.written = TileFacts.written(func);
    Set<Stmt> ofMaps = Collections.newSetFromMap(new IdentityHashMap<>());
    Walk.statements(
        func.body(),
        s -> {
          if (s instanceof Stmt.TileMap map) {
            ofMaps.addAll(map.stores());
          } else if (s instanceof Stmt.TileMma mma) {
            sums.add(mma.c().buffer());
            if (isOfTf32(mma)) {
              rounded.add(mma.a().buffer());
            }
          }
        });
    Walk.statements(
        func.body(),
        s -> {
          if (ofMaps.contains(s)) {
            return;
          }
          Leaves leaves = Leaves.of(s);
          Set<Buffer> touched = new HashSet<>(leaves.reads());
          touched.addAll(leaves.writes());
          touched.forEach(b -> uses.computeIfAbsent(b, x -> new ArrayList<>()).add(s));
        });
  }

  /**
   * A program and the constants that it wants in another form.
   *
   * @param packed a constant of the original program to its form
   */
  public record Packed(PrimFunc func, Map<Buffer, Form> packed) {}

  /**
   * Another form of a constant.
   *
   * @param buffer the program's parameter
   * @param where coordinates of the original to the element offset in {@code buffer}
   * @param tf32 whether its elements are rounded to tf32
   */
  public record Form(Buffer buffer, Layout where, boolean tf32) {}

  /** As {@link #apply(PrimFunc, Set, PassListener)}, without telling anybody. */
  public static Packed apply(PrimFunc func, Set<Buffer> constants) {
    return new PackConstants(func, constants).packed(func);
  }

  /** Whether a product takes f32 from registers, and rounds or cuts them off to tf32. */
  private static boolean isOfTf32(Stmt.TileMma mma) {
    String instr = mma.attrs().getString("instr");
    return mma.a().buffer().scope() == Scope.FRAGMENT
        && mma.a().buffer().dtype() == DType.F32
        && instr != null
        && instr.contains("tf32");
  }

  private Packed packed(PrimFunc func) {
    Walk.statements(
        func.body(),
        s -> {
          if (s instanceof Stmt.TileCopy copy) {
            operand(copy);
            result(copy);
          } else if (s instanceof Stmt.TileMap map) {
            hidden(map);
            fromSums(map);
          } else if (s instanceof Stmt.TileMma mma && FragmentOrder.isFor(mma)) {
            order(mma);
          }
        });
    Set<Buffer> ofTf32 = weightsOfTf32(func);
    if (replaced.isEmpty() && ordered.isEmpty() && ofTf32.isEmpty()) {
      return new Packed(func, Map.of());
    }
    Map<Buffer, Form> forms = new LinkedHashMap<>();
    for (Param param : func.params()) {
      if (param instanceof Buffer b
          && (permutedColumns.containsKey(b)
              || permutedRows.containsKey(b)
              || ordered.contains(b)
              || ofTf32.contains(b))) {
        forms.put(b, form(b, ofTf32.contains(b)));
      }
    }
    List<Param> params = new ArrayList<>();
    for (Param param : func.params()) {
      Form form = param instanceof Buffer b ? forms.get(b) : null;
      params.add(form == null ? param : form.buffer());
    }
    Stmt body = new Exchange(forms).stmt(func.body());
    return new Packed(new PrimFunc(func.name(), params, body, func.attrs()), forms);
  }

  /** Constants that only products in tf32 read. */
  private Set<Buffer> weightsOfTf32(PrimFunc func) {
    Set<Buffer> weights = new LinkedHashSet<>();
    List<Stmt> products = new ArrayList<>();
    Walk.statements(
        func.body(),
        s -> {
          if (s instanceof Stmt.TileMma mma
              && isOfTf32(mma)
              && weight(mma) instanceof Buffer weight) {
            weights.add(weight);
            products.add(mma);
          }
        });
    weights.removeIf(weight -> !isReadBy(weight, products));
    return weights;
  }

  private Form form(Buffer constant, boolean tf32) {
    Buffer dense =
        new Buffer(
            constant.name(),
            constant.dtype(),
            constant.shape(),
            constant.scope(),
            null,
            constant.alignment());
    Buffer packed = ordered.contains(constant) ? FragmentOrder.of(dense) : dense;
    List<List<Mode>> dimensions = new ArrayList<>();
    for (int d = 0; d < constant.rank(); d++) {
      dimensions.add(modes(packed, d, (d == 0 ? permutedRows : permutedColumns).get(constant)));
    }
    return new Form(packed, new Layout(dimensions, Swizzle.NONE), tf32);
  }

  /** Where the coordinates of a dimension go, in elements of the packed buffer. */
  private static List<Mode> modes(Buffer packed, int dimension, @Nullable ColumnOrder order) {
    long extent = packed.extent(dimension);
    if (order == null) {
      return packed.layout() == null
          ? List.of(new Mode(extent, offset(packed, dimension, 1)))
          : packed.layout().dimensions().get(dimension);
    }
    List<Mode> modes = new ArrayList<>();
    for (int weight : order.weights()) {
      modes.add(new Mode(2, offset(packed, dimension, weight)));
    }
    modes.add(new Mode(extent / order.group(), offset(packed, dimension, order.group())));
    return modes;
  }

  /** Where the element at this coordinate, and 0 in the other dimensions, is. */
  private static long offset(Buffer packed, int dimension, long coordinate) {
    long[] shape = new long[packed.rank()];
    long[] at = new long[packed.rank()];
    for (int d = 0; d < shape.length; d++) {
      shape[d] = packed.extent(d);
    }
    at[dimension] = coordinate;
    Layout layout = packed.layout();
    return (layout == null ? Layout.rowMajor(shape) : layout).offset(at);
  }

  /** A weight that only products of warps read comes in the order of their registers. */
  private void order(Stmt.TileMma mma) {
    Buffer weight = weight(mma);
    if (weight != null && weight.layout() == null && FragmentOrder.fits(weight)) {
      boolean only = true;
      for (Stmt use : uses.getOrDefault(weight, List.of())) {
        only &=
            use instanceof Stmt.TileMma reads && FragmentOrder.isFor(reads)
                || use instanceof Stmt.TileCopy copy
                    && uses.getOrDefault(copy.to().buffer(), List.of()).stream()
                        .allMatch(
                            reader ->
                                reader == copy
                                    || reader instanceof Stmt.TileMma other
                                        && FragmentOrder.isFor(other));
      }
      if (only) {
        ordered.add(weight);
      }
    }
  }

  /** p of the class's description: of 4 columns, or 8, a thread has 16 bytes of rows, or 8. */
  private ColumnOrder order(long columns) {
    return columns % 32 == 0 && rounded.isEmpty() ? ColumnOrder.OF_32 : ColumnOrder.OF_16;
  }

  private int group(long columns) {
    return order(columns).group();
  }

  private static ColumnOrder ofGroup(int group) {
    return group == 32 ? ColumnOrder.OF_32 : ColumnOrder.OF_16;
  }

  private int of(Buffer weight, int group) {
    return group == 0 ? group(weight.extent(1)) : group;
  }

  /** Whether products take elements of its type from registers. */
  private boolean isOperand(Buffer fragment) {
    boolean wide = fragment.dtype() == DType.F32 && !rounded.isEmpty() && !sums.contains(fragment);
    return fragment.scope() == Scope.FRAGMENT
        && (fragment.dtype().bytes() == 2 || wide)
        && fragment.rank() == 2;
  }

  /** Whether whole vectors of a matrix' rows are columns of the tile. */
  private boolean byVectors(Region memory, Buffer fragment) {
    Buffer buffer = memory.buffer();
    int lanes = group(fragment.extent(1)) / 4;
    return fragment.extent(1) % 16 == 0
        && memory.tile().size() == 2
        && memory.ranges().getLast() == memory.tile().getLast()
        && isMultiple(memory.ranges().getLast().min(), group(fragment.extent(1)))
        && buffer.layout() == null
        && buffer.extent(buffer.rank() - 1) % lanes == 0
        && buffer.alignment() >= 16;
  }

  private void operand(Stmt.TileCopy copy) {
    Buffer a = copy.to().buffer();
    Buffer x = copy.from().buffer();
    if (!isOperand(a)
        || x.scope() != Scope.GLOBAL
        || written.contains(x)
        || x.dtype() != a.dtype()
        || !TileFacts.isWhole(copy.to())) {
      return;
    }
    List<Stmt> readers = uses.getOrDefault(a, List.of()).stream().filter(s -> s != copy).toList();
    if (readers.stream().noneMatch(s -> s instanceof Stmt.TileMma mma && mma.a().buffer() == a)) {
      return;
    }
    Set<Buffer> weights = new LinkedHashSet<>();
    int group = group(a.extent(1));
    boolean permute = byVectors(copy.from(), a);
    for (Stmt reader : readers) {
      Buffer weight =
          reader instanceof Stmt.TileMma mma && mma.a().buffer() == a && mma.c().buffer() != a
              ? weight(mma, group)
              : null;
      permute &= weight != null && inGroups(((Stmt.TileMma) reader).a(), group);
      if (weight != null) {
        weights.add(weight);
      }
    }
    for (Buffer weight : weights) {
      permute &= isReadBy(weight, readers);
    }
    boolean pairs = x.extent(x.rank() - 1) % 2 == 0;
    boolean wide = rounded.contains(a);
    if (!permute && pairs && !wide && !copy.attrs().has("prefetch")) {
      return;
    }
    ColumnOrder order = wide ? ColumnOrder.TF32_ROWS : order(a.extent(1));
    if (permute) {
      weights.forEach(weight -> permutedColumns.put(weight, order));
    }
    Buffer rows = Buffer.of(a.name() + "_rows", a.dtype(), Scope.FRAGMENT, a.shape());
    Var r = Var.index("r");
    Var k = Var.index("k");
    Expr from = new Expr.Load(rows, List.of(r, permute ? order.column(k) : k));
    Stmt.Store store = new Stmt.Store(a, List.of(r, k), from);
    Stmt map = new Stmt.TileMap(List.of(r, k), a.shape(), List.of(store), Attrs.NONE);
    Stmt fill = new Stmt.TileCopy(Region.whole(rows), copy.from(), copy.attrs());
    replaced.put(copy, Stmts.seq(fill, map));
    allocated.put(copy, rows);
  }

  /** Whether the product takes whole groups of the operand's columns. */
  private static boolean inGroups(Region region, int group) {
    var columns = region.ranges().getLast();
    return columns.extent() instanceof Expr.IntImm(var type, long n)
        && n % group == 0
        && isMultiple(columns.min(), group);
  }

  private static boolean isMultiple(Expr e, int group) {
    return switch (e) {
      case Expr.IntImm imm -> imm.value() % group == 0;
      case Expr.Binary(BinaryOp op, Expr a, Expr b) ->
          op == BinaryOp.MUL && (isMultiple(a, group) || isMultiple(b, group));
      default -> false;
    };
  }

  /** The constant whose tiles are the product's second operand, [N, K]; null if there is none. */
  private @Nullable Buffer weight(Stmt.TileMma mma) {
    return weight(mma, 0);
  }

  /**
   * The same, if the tiles have whole groups of so many columns.
   *
   * @param group 0 for what the constant's own number of columns asks for
   */
  private @Nullable Buffer weight(Stmt.TileMma mma, int group) {
    Buffer tile = mma.b().buffer();
    if (!mma.transposeB() || mma.transposeA()) {
      return null;
    }
    if (tile.scope() == Scope.GLOBAL && FragmentOrder.isFor(mma)) {
      return constants.contains(tile) && tile.rank() == 2 && inGroups(mma.b(), of(tile, group))
          ? tile
          : null;
    }
    if (tile.scope() != Scope.SHARED) {
      return null;
    }
    Buffer weight = null;
    for (Stmt use : uses.getOrDefault(tile, List.of())) {
      if (use instanceof Stmt.TileCopy copy && copy.to().buffer() == tile) {
        Buffer from = copy.from().buffer();
        boolean same = weight == null || weight == from;
        if (!same
            || !constants.contains(from)
            || from.rank() != 2
            || !inGroups(copy.from(), of(from, group))) {
          return null;
        }
        weight = from;
      } else if (use != mma) {
        return null;
      }
    }
    return weight;
  }

  /** Whether a constant's tiles go to these products alone. */
  private boolean isReadBy(Buffer constant, List<Stmt> products) {
    for (Stmt use : uses.getOrDefault(constant, List.of())) {
      if (!(use instanceof Stmt.TileCopy copy)) {
        if (use instanceof Stmt.TileMma && products.contains(use)) {
          continue;
        }
        return false;
      }
      for (Stmt reader : uses.getOrDefault(copy.to().buffer(), List.of())) {
        if (reader != use && !products.contains(reader) && !(reader instanceof Stmt.TileCopy)) {
          return false;
        }
      }
    }
    return true;
  }

  private void result(Stmt.TileCopy copy) {
    Buffer h = copy.from().buffer();
    if (!isOperand(h)
        || copy.to().buffer().scope() != Scope.GLOBAL
        || copy.to().buffer().dtype() != h.dtype()
        || !TileFacts.isWhole(copy.from())
        || !byVectors(copy.to(), h)) {
      return;
    }
    List<Stmt> makers = uses.getOrDefault(h, List.of()).stream().filter(s -> s != copy).toList();
    if (makers.size() != 1
        || !(makers.getFirst() instanceof Stmt.TileMap map)
        || map.stores().size() != 1
        || map.vars().size() != 2
        || !map.stores().getFirst().indices().equals(List.copyOf(map.vars()))) {
      return;
    }
    int group = group(h.extent(1));
    if (permuteRows(map, group)) {
      Stmt.Store store = map.stores().getFirst();
      List<Expr> at = List.of(map.vars().get(0), ofGroup(group).column(map.vars().get(1)));
      Expr value = atColumns(map, store.value(), group);
      replaced.put(map, with(map, new Stmt.Store(h, at, value)));
    }
  }

  /**
   * Between two products nothing moves, but what is added to each row does: of permuted columns it
   * comes by 16 bytes.
   */
  private void hidden(Stmt.TileMap map) {
    Stmt.Store store = map.stores().getFirst();
    Buffer h = store.buffer();
    if (replaced.containsKey(map)
        || !isOperand(h)
        || rounded.contains(h)
        || h.extent(1) % 16 != 0
        || map.stores().size() != 1
        || map.vars().size() != 2
        || !isWindow(map, store.indices())
        || new Inputs(map).rows.isEmpty()) {
      return;
    }
    List<Stmt> readers = uses.getOrDefault(h, List.of()).stream().filter(s -> s != map).toList();
    int group = Math.min(group(h.extent(1)), group(columnsOf(map)));
    Set<Buffer> weights = new LinkedHashSet<>();
    for (Stmt reader : readers) {
      Buffer weight =
          reader instanceof Stmt.TileMma mma && mma.a().buffer() == h && mma.c().buffer() != h
              ? weight(mma, group)
              : null;
      if (weight == null || !inGroups(((Stmt.TileMma) reader).a(), group)) {
        return;
      }
      weights.add(weight);
    }
    if (weights.stream().allMatch(w -> isReadBy(w, readers)) && permuteRows(map, group)) {
      weights.forEach(weight -> permutedColumns.put(weight, ofGroup(group)));
      Expr value = atColumns(map, store.value(), group);
      replaced.put(map, with(map, new Stmt.Store(h, store.indices(), value)));
    }
  }

  /**
   * An operand in tf32 that is made of accumulators: what a thread has of these stands at other
   * columns, K is permuted alike.
   */
  private void fromSums(Stmt.TileMap map) {
    Stmt.Store store = map.stores().getFirst();
    Buffer h = store.buffer();
    if (!rounded.contains(h)
        || map.stores().size() != 1
        || map.vars().size() != 2
        || !store.indices().equals(List.copyOf(map.vars()))
        || h.extent(1) % 16 != 0) {
      return;
    }
    boolean[] reads = {false, false};
    Walk.expressions(
        store.value(),
        e -> {
          if (e instanceof Expr.Load load && load.buffer().scope() == Scope.FRAGMENT) {
            reads[sums.contains(load.buffer()) ? 0 : 1] = true;
          }
        });
    List<Stmt> readers = uses.getOrDefault(h, List.of()).stream().filter(s -> s != map).toList();
    Set<Buffer> weights = new LinkedHashSet<>();
    for (Stmt reader : readers) {
      Buffer weight =
          reader instanceof Stmt.TileMma mma && mma.a().buffer() == h ? weight(mma) : null;
      if (weight == null || !inGroups(((Stmt.TileMma) reader).a(), 16)) {
        return;
      }
      weights.add(weight);
    }
    if (reads[0] && !reads[1] && weights.stream().allMatch(w -> isReadBy(w, readers))) {
      weights.forEach(weight -> permutedColumns.put(weight, ColumnOrder.TF32_SUMS));
      Var column = map.vars().get(1);
      Expr value =
          Substitution.ofVars(Map.of(column, ColumnOrder.TF32_SUMS.column(column)))
              .expr(store.value());
      replaced.put(map, with(map, new Stmt.Store(h, store.indices(), value)));
    }
  }

  /** Whether a map goes over whole groups of columns. */
  private boolean isWindow(Stmt.TileMap map, List<Expr> indices) {
    Expr first = first(map, indices.getLast());
    int group = group(columnsOf(map));
    return indices.size() == 2
        && indices.getFirst() == map.vars().getFirst()
        && first != null
        && isMultiple(first, group)
        && columnsOf(map) % group == 0;
  }

  private static long columnsOf(Stmt.TileMap map) {
    return map.extents().get(1) instanceof Expr.IntImm(var type, long n) ? n : 1;
  }

  /** What is added to a map's column in an index; null of other indices. */
  private static @Nullable Expr first(Stmt.TileMap map, Expr index) {
    Var column = map.vars().get(1);
    Expr first = null;
    if (index == column) {
      first = Exprs.i32(0);
    } else if (index instanceof Expr.Binary(BinaryOp op, Expr a, Expr b)
        && op == BinaryOp.ADD
        && b == column) {
      first = a;
    }
    boolean[] fixed = {first != null};
    if (first != null) {
      Walk.expressions(first, e -> fixed[0] &= !(e instanceof Var v && map.vars().contains(v)));
    }
    return fixed[0] ? first : null;
  }

  private static Stmt with(Stmt.TileMap map, Stmt.Store store) {
    return new Stmt.TileMap(map.vars(), map.extents(), List.of(store), map.attrs());
  }

  /** A value of a map whose accumulators have their columns permuted. */
  private static Expr atColumns(Stmt.TileMap map, Expr value, int group) {
    return new Rewriter() {
      @Override
      public Expr expr(Expr e) {
        if (e instanceof Expr.Load(Buffer buffer, List<Expr> indices)
            && buffer.scope() == Scope.GLOBAL
            && first(map, indices.getLast()) instanceof Expr first) {
          List<Expr> at = new ArrayList<>(indices);
          at.set(at.size() - 1, Exprs.add(first, ofGroup(group).column(map.vars().get(1))));
          return new Expr.Load(buffer, at);
        }
        return super.expr(e);
      }
    }.expr(value);
  }

  /**
   * Permutes the columns of the accumulators that a map reads, if nobody else minds.
   *
   * @param group among how many
   */
  private boolean permuteRows(Stmt.TileMap map, int group) {
    Inputs inputs = new Inputs(map);
    if (!inputs.fits) {
      return false;
    }
    Buffer acc = inputs.accumulator;
    if (acc == null) {
      return true;
    }
    List<Stmt> products = new ArrayList<>();
    Set<Buffer> weights = new LinkedHashSet<>();
    for (Stmt use : uses.getOrDefault(acc, List.of())) {
      if (use instanceof Stmt.TileMma mma && mma.c().buffer() == acc) {
        Buffer weight = weight(mma);
        if (weight == null || weight.extent(0) % acc.extent(1) != 0 || acc.extent(1) % group != 0) {
          return false;
        }
        products.add(mma);
        weights.add(weight);
      } else if (use != map && !(use instanceof Stmt.TileFill)) {
        return false;
      }
    }
    if (products.isEmpty() || !weights.stream().allMatch(w -> isReadBy(w, products))) {
      return false;
    }
    weights.forEach(weight -> permutedRows.put(weight, ofGroup(group)));
    return true;
  }

  /** What a map reads: perhaps one accumulator at its own point, and rows at its own column. */
  private final class Inputs {
    final Set<Buffer> rows = new LinkedHashSet<>();
    @Nullable Buffer accumulator;
    boolean fits = true;

    Inputs(Stmt.TileMap map) {
      List<Expr> point = List.copyOf(map.vars());
      Var column = map.vars().get(1);
      int[] elsewhere = {0};
      Walk.expressions(
          map.stores().getFirst().value(),
          e -> {
            if (e == column) {
              elsewhere[0]++;
            } else if (e instanceof Expr.Load(Buffer buffer, List<Expr> indices)) {
              if (buffer.scope() == Scope.FRAGMENT) {
                fits &= indices.equals(point) && (accumulator == null || accumulator == buffer);
                fits &= buffer.dtype() == DType.F32;
                accumulator = buffer;
                elsewhere[0]--;
              } else if (first(map, indices.getLast()) instanceof Expr first) {
                fits &= Exprs.isConst(first, 0) || isMultiple(first, group(columnsOf(map)));
                fits &= buffer.scope() == Scope.GLOBAL && !indices.contains(map.vars().get(0));
                rows.add(buffer);
                elsewhere[0]--;
              }
            }
          });
      fits &= elsewhere[0] == 0;
    }
  }

  /** Puts packed constants in place of the originals, and what was replaced. */
  private final class Exchange extends Rewriter {
    private final Map<Buffer, Form> forms;

    Exchange(Map<Buffer, Form> forms) {
      this.forms = forms;
    }

    @Override
    protected Buffer buffer(Buffer buffer) {
      Form form = forms.get(buffer);
      return form == null ? buffer : form.buffer();
    }

    @Override
    public Stmt stmt(Stmt s) {
      if (s instanceof Stmt.Alloc alloc) {
        Stmt body = super.stmt(s);
        for (Map.Entry<Stmt, Buffer> rows : allocated.entrySet()) {
          if (((Stmt.TileCopy) rows.getKey()).to().buffer() == alloc.buffer()) {
            return new Stmt.Alloc(rows.getValue(), body);
          }
        }
        return body;
      }
      Stmt other = replaced.get(s);
      return super.stmt(other == null ? s : other);
    }
  }
}
